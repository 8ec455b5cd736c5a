package keyheatjson_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/keyheatjson"
)

// fragments are the parts of hostile and rare messages.
var fragments = map[string][]string{
	"ts": {`1763692032185`, `1763692032185.0`, `1.763692032185e12`, `"2025-11-21T02:27:12.185Z"`,
		`"2025-11-21T03:27:12+01:00"`, `1763692032`, `1763692032185000`, `-5`, `"now"`, `1.5`, `true`, `null`,
		`01763692032185`, `001763692032185`, `17636920e5`, `17636920.32185e5`, `17636920x`, `176369203218501234`},
	"table": {`"orders"`, `"abc"`, `"ab"`, `"ord\u0065rs"`, `""`, `5`, `null`, `"\ud83d\ude00"`, `"\ud83d"`, `"` + strings.Repeat("t", 256) + `"`},
	"index": {`"by-status"`, `""`, `{}`, `null`},
	"pk": {`"user#42"`, `"a|b\\"`, `"\n"`, `""`, `42`, `42.0`, `4.2e1`, `-0.0`, `1e125`, `1e126`, `1e-130`, `1e-131`,
		`12345678901234567890123456789012345678`, `123456789012345678901234567890123456789`,
		`{"S":"x"}`, `{"N":"+7."}`, `{"N":7}`, `{"B":"AAE="}`, `{"B":"AAE"}`, `{"B":"?"}`, `{"S":""}`, `{"B":""}`,
		`{"":"a","S":"b"}`, `{"S":"a","S":"b"}`, `{"S":"a","\u0053":"c"}`, `{"S":"a","N":"1"}`, `{"BOOL":true}`, `{}`,
		`[]`, `["a"]`, `["a",1,{"B":"AA=="}]`, `["a|","\\b"]`, `["a","b","c","d"]`, `[1,2,3,4,5]`, `["a",["b"]]`, `[null]`,
		`true`, `null`, `"\ud800"`, `"` + strings.Repeat("k", 2049) + `"`},
	"sk":    {`"2026-11-21"`, `5`, `"` + strings.Repeat("s", 1025) + `"`, `""`, `null`},
	"op":    {`"UpdateItem"`, `"GetItem"`, `"Scan"`, `"TransactGetItems"`, `"TransactWriteItems"`, `"ExecuteStatement"`, `"updateitem"`, `""`, `7`},
	"rcu":   {`1`, `0.5`, `0`, `-1`, `-0`, `1e999`, `0.0001`, `0.0005`, `"1"`, `null`},
	"wcu":   {`2`, `02`, `12.5`, `2.55`, `1.0`, `2.5e0`, `1e6`, `1000001`, `-0.0001`, `1e-400`, `123456789012345678901234567890`, `NaN`, `null`},
	"bytes": {`0`, `1`, `4096`, `4097`, `409600`, `409601`, `1048577`, `-1`, `1.5`, `"9"`},
	"read":  {`"eventual"`, `"strong"`, `"transactional"`, `"Strong"`, `1`},
	"throttle": {`"TableWriteKeyRangeThroughputExceeded"`, `["TableWriteKeyRangeThroughputExceeded"]`, `[ {"reason":"IndexReadAccountLimitExceeded"} ]`, `[]`, `7`,
		`"TransactionConflictException"`, `"InternalServerError"`, `"busy"`},
	"rate":             {`1`, `01`, `0.01`, `0.011`, `0.1e-1`, `0`, `-0.5`, `1.0000001`, `1e-9`, `1e-10`, `"0.5"`},
	"n":                {`1`, `25`, `1e9`, `1000000001`, `0`, `-3`, `1.5`},
	"calls":            {`1`, `0.04`, `4e-2`, `25`, `0`, `1e-400`, `1e-4`, `-1`, `26`, `1e999`, `"1"`, `null`},
	"attempts":         {`1`, `4`, `4.0`, `1e3`, `1001`, `0`, `-1`, `1.5`, `"4"`, `true`, `null`},
	"waited_ms":        {`0`, `-0`, `412`, `412.5`, `4e2`, `86400000`, `86400001`, `-1`, `1e999`, `"1"`, `null`},
	"failed":           {`true`, `false`, `null`, `0`, `"true"`, `[]`},
	"conflict":         {`0`, `1`, `2.0`, `1e3`, `-1`, `0.5`, `"1"`, `true`, `null`},
	"condition_failed": {`0`, `1`, `25`, `-1`, `1.5`, `[]`, `null`},
	"call":             {`"c-1"`, `"\u0063"`, `7`, `"\ud800"`, `null`},
	"caller":           {`"arn:aws:iam::1:role/x"`, `null`, `{}`},
	"account":          {`"123456789012"`, `""`, `7`, `null`, `"` + strings.Repeat("1", 255) + `"`, `"` + strings.Repeat("1", 256) + `"`},
	"region":           {`"eu-west-1"`, `"\u0065u-west-1"`, `{}`, `"` + strings.Repeat("r", 300) + `"`},
	"id":               {`"e-1"`, `"\t"`, `3`},
	"attrs":            {`{"tenant":"t1","status":"open"}`, `{}`, `{"a":"x","a":"y"}`, `{"a":1}`, `{"\ud800":"x"}`, `[]`, `null`},
	"other":            {`{"deep":[1,2,{"x":null}]}`, `[[]]`, `"\ud800"`, "\"\xff\"", `-`, `01`, `1.`, strings.Repeat("[", 40) + strings.Repeat("]", 40)},
}

// object draws an object of known fields, mostly sound, with rare flaws.
func object(t *rapid.T) string {
	members := []string{`"ts":1763692032185`, `"table":"orders"`, `"pk":"user#42"`, `"op":"UpdateItem"`}
	for range rapid.IntRange(0, 4).Draw(t, "changes") {
		name := rapid.SampledFrom(sortedNames).Draw(t, "name")
		v := rapid.SampledFrom(fragments[name]).Draw(t, "value")
		members = append(members, fmt.Sprintf(`"%s":%s`, name, v))
	}
	if rapid.IntRange(0, 5).Draw(t, "drop") == 0 {
		members = members[1:]
	}
	separator := rapid.SampledFrom([]string{",", ", ", ",\n"}).Draw(t, "separator")
	return "{" + strings.Join(members, separator) + "}"
}

// sortedNames has a fixed order, so that rapid's failures are repeatable.
var sortedNames = slices.Sorted(maps.Keys(fragments))

// message draws objects joined in one of the accepted forms, or in none, with
// a cut somewhere at times.
func message(t *rapid.T) string {
	var b strings.Builder
	b.WriteString(rapid.SampledFrom([]string{"", "", "[", "\n", "\ufeff", "{\n"}).Draw(t, "opening"))
	for range rapid.IntRange(0, 5).Draw(t, "objects") {
		o := object(t)
		if rapid.IntRange(0, 6).Draw(t, "cut") == 0 {
			o = o[:rapid.IntRange(0, len(o)).Draw(t, "at")]
		}
		b.WriteString(o)
		b.WriteString(rapid.SampledFrom([]string{"\n", "\n", ",", ",\n", "\r\n", "", " ", " x\n", "]\n", "\n[", "\n5\n", "}\n"}).Draw(t, "joint"))
	}
	b.WriteString(rapid.SampledFrom([]string{"", "", "]", "]\n"}).Draw(t, "closing"))
	return b.String()
}

// same returns the difference between the decoder and the oracle on a message, or "". It tries
// a decoder without shapes, the same decoder again after it has learned from the message, and a
// decoder that has learned from lessons.
func same(message []byte, at int64, lessons ...string) string {
	want := oracleDecode(message, at)
	fresh, taught := keyheatjson.NewDecoder(), keyheatjson.NewDecoder()
	for _, lesson := range lessons {
		taught.Decode([]byte(lesson), 1, &recorder{})
	}
	for i, d := range []*keyheatjson.Decoder{fresh, fresh, taught} {
		if diff := sameAs(want, d, message, at); diff != "" {
			return fmt.Sprintf("decoder %d, message %q after %q: %s", i, message, lessons, diff)
		}
	}
	return ""
}

func TestDecoderAgreesWithOracle(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		at := rapid.SampledFrom([]int64{0, 1763692032999}).Draw(t, "at")
		lessons := []string{message(t), message(t)}
		if diff := same([]byte(message(t)), at, lessons...); diff != "" {
			t.Fatal(diff)
		}
	})
}

// TestDecoderIsReusable holds that no record shows through from the one before.
func TestDecoderIsReusable(t *testing.T) {
	t.Parallel()
	d := keyheatjson.NewDecoder()
	rapid.Check(t, func(t *rapid.T) {
		m := []byte(message(t))
		used, fresh := &recorder{}, &recorder{}
		d.Decode(m, 1, used)
		keyheatjson.NewDecoder().Decode(m, 1, fresh)
		if !reflect.DeepEqual(used, fresh) {
			t.Fatalf("message %q\n used %+v\nfresh %+v", m, *used, *fresh)
		}
	})
}

// record draws any record that passes Check and that a decoder could have
// made: its units are estimated only where the estimate is theirs.
func record(t *rapid.T) sample.Record {
	text, place := rapid.StringN(0, 20, 60), rapid.StringMatching(`[a-zA-Z0-9_.-]{0,20}`)
	r := sample.Record{
		Time:     rapid.Int64Range(1_325_376_000_000, 253_402_300_799_999).Draw(t, "time"),
		Table:    rapid.StringMatching(`[a-zA-Z0-9_.-]{3,20}`).Draw(t, "table"),
		Index:    rapid.StringMatching(`([a-zA-Z0-9_.-]{3,20})?`).Draw(t, "index"),
		PK:       key(t, "pk"),
		Op:       sample.Op(rapid.IntRange(0, len(operations)-1).Draw(t, "op")),
		Bytes:    rapid.Int64Range(0, 400<<10).Draw(t, "bytes"),
		Read:     sample.Consistency(rapid.IntRange(0, 2).Draw(t, "read")),
		RCU:      sample.Milli(rapid.Int64Range(0, 1e5).Draw(t, "rcu")),
		WCU:      sample.Milli(rapid.Int64Range(0, 1e5).Draw(t, "wcu")),
		Throttle: text.Filter(func(s string) bool { return !slices.Contains(oracleDenials, strings.ToLower(strings.TrimSpace(s))) }).Draw(t, "throttle"),
		Rate:     rapid.Float64Range(0.001, 1).Draw(t, "rate"),
		N:        rapid.Int64Range(1, 1000).Draw(t, "n"),
		Call:     text.Draw(t, "call"),
		Caller:   text.Draw(t, "caller"), Account: place.Draw(t, "account"),
		Region: place.Draw(t, "region"), ID: text.Draw(t, "id"),
	}
	if r.Op.IsRead() {
		r.WCU = 0
	}
	if rapid.Bool().Draw(t, "has calls") {
		r.Calls = rapid.Float64Range(sample.MinCalls, float64(r.N)).Draw(t, "calls")
	}
	if rapid.Bool().Draw(t, "tells attempts") {
		r.Attempts = rapid.Int64Range(1, sample.MaxAttempts).Draw(t, "attempts")
		r.Waited = rapid.Float64Range(0, sample.MaxWaited).Draw(t, "waited")
		r.Failed = rapid.Bool().Draw(t, "failed")
	}
	if rapid.Bool().Draw(t, "has sk") {
		r.SK = key(t, "sk")
	}
	if attrs := rapid.MapOfN(text, text, 0, 3).Draw(t, "attrs"); len(attrs) > 0 {
		r.Attrs = attrs
	}
	if r.Op == sample.TransactGetItems {
		r.Read = sample.Transactional
	}
	if rcu, wcu, ok := sample.EstimateUnits(r.Op, r.Bytes, r.Read); ok && rapid.Bool().Draw(t, "estimated") {
		r.RCU, r.WCU, r.Estimated = rcu, wcu, true
	}
	return r
}

func key(t *rapid.T, label string) sample.Key {
	part := rapid.Custom(func(t *rapid.T) sample.Key {
		switch rapid.IntRange(0, 2).Draw(t, "type") {
		case 0:
			return sample.KeyString(rapid.StringN(1, 20, 60).Draw(t, "text"))
		case 1:
			k, err := sample.KeyNumber(fmt.Sprintf("%de%d",
				rapid.Int64().Draw(t, "mantissa"), rapid.IntRange(-130, 107).Draw(t, "exponent")))
			must.Succeed(t, err)
			return k
		}
		return sample.KeyBinary(rapid.SliceOfN(rapid.Byte(), 1, 40).Draw(t, "bytes"))
	})
	return sample.JoinKeys(rapid.SliceOfN(part, 1, sample.MaxKeyParts).Draw(t, label)...)
}

func TestAppendJSONRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := record(t)
		line := r.AppendJSON([]byte("kept"))
		k := decode(strings.TrimPrefix(string(line), "kept"), 0)
		if len(k.bad) != 0 || len(k.records) != 1 || !reflect.DeepEqual(k.records[0], r) {
			t.Fatalf("line %s\n got %+v\nwant %+v", line, *k, r)
		}
	})
}

func TestJoinedKeysComeApart(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		k := key(t, "key")
		if back := sample.JoinKeys(k.Parts()...); back != k {
			t.Fatalf("%+v came back as %+v", k, back)
		}
		size := 0
		for _, part := range k.Parts() {
			size += part.Size()
		}
		if k.Size() != size {
			t.Fatalf("%+v is of %d bytes, its parts of %d", k, k.Size(), size)
		}
	})
}
