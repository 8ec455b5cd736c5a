package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/buger/jsonparser"
	"github.com/bytedance/sonic"
	jsonv2 "github.com/go-json-experiment/json"
	"github.com/mailru/easyjson/jlexer"
	"github.com/minio/simdjson-go"
	"github.com/valyala/fastjson"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/keyheatjson"
	"github.com/keyheat/keyheat/sample/samplepb"
)

// decoded is how many records each decoder reads.
const decoded = 400_000

// line is a record of about 200 bytes, one of a thousand that differ as a producer's do.
func line(i int) string {
	return fmt.Sprintf(`{"ts":%d,"table":"orders-production","index":"by-status",`+
		`"pk":"customer#%08d","sk":"2026-11-21T03:07:12.185Z#order#%d","op":"UpdateItem",`+
		`"wcu":%d,"bytes":%d,"rate":0.01,"region":"eu-central-1"}`, 1763692032185+i, i*7919%100_000, i%40, 1+i%3, 1000+i)
}

func lines() [][]byte {
	all := make([][]byte, 1000)
	for i := range all {
		all[i] = []byte(line(i))
	}
	return all
}

// fields is what the libraries read: as much as is needed to count, and no check.
type fields struct {
	TS     int64   `json:"ts"`
	Table  string  `json:"table"`
	Index  string  `json:"index"`
	PK     string  `json:"pk"`
	SK     string  `json:"sk"`
	Op     string  `json:"op"`
	Region string  `json:"region"`
	WCU    float64 `json:"wcu"`
	Rate   float64 `json:"rate"`
	Bytes  int64   `json:"bytes"`
}

func decoders() group {
	reader := func(f func([]byte, *fields) error) func(*meter) error {
		return func(m *meter) error { return readLines(m, f) }
	}
	return group{
		name: "decode", unit: "record",
		contenders: []contender{
			{name: "keyheat", run: readWithKeyheat},
			{name: "keyheat, protobuf", run: readProtobuf},
			{name: "encoding/json", run: reader(func(b []byte, f *fields) error { return json.Unmarshal(b, f) })},
			{name: "json v2", run: reader(func(b []byte, f *fields) error { return jsonv2.Unmarshal(b, f) })},
			{name: "sonic", run: reader(func(b []byte, f *fields) error { return sonic.ConfigFastest.Unmarshal(b, f) })},
			{name: "easyjson", run: reader(readEasyJSON)},
			{name: "jsonparser", run: reader(readJSONParser)},
			{name: "fastjson", run: readWithFastJSON},
			{name: "simdjson-go", run: readWithSIMDJSON},
		},
		figures: []figure{
			{name: "JSON decode vs encoding/json", ours: "keyheat", theirs: "encoding/json", goal: 15},
			{name: "protobuf vs JSON", ours: "keyheat, protobuf", theirs: "keyheat"},
			{name: "JSON decode vs json v2", ours: "keyheat", theirs: "json v2"},
			{name: "… vs sonic", ours: "keyheat", theirs: "sonic", goal: 2},
			{name: "… vs easyjson", ours: "keyheat", theirs: "easyjson", goal: 2},
			{name: "… vs jsonparser", ours: "keyheat", theirs: "jsonparser", goal: 2},
			{name: "… vs fastjson", ours: "keyheat", theirs: "fastjson", goal: 2},
			{name: "… vs simdjson-go", ours: "keyheat", theirs: "simdjson-go", goal: 2},
		},
	}
}

// check is that a decoder has read what was written.
func check(units float64) error {
	want := 0.0
	for i := range decoded {
		want += float64(1 + i%1000%3)
	}
	if units != want {
		return fmt.Errorf("it read %v write units, want %v", units, want)
	}
	return nil
}

func readLines(m *meter, read func([]byte, *fields) error) error {
	all := lines()
	units := 0.0
	m.start()
	for i := range decoded {
		var f fields
		if err := read(all[i%len(all)], &f); err != nil {
			return err
		}
		units += f.WCU
	}
	m.stop(decoded)
	return check(units)
}

// taken adds up the units of what our decoder reads.
type taken struct {
	units sample.Milli
	bad   int
}

func (t *taken) Record(r *sample.Record)         { t.units += r.WCU }
func (t *taken) Bad(sample.RejectReason, []byte) { t.bad++ }

func readWithKeyheat(m *meter) error {
	all := lines()
	d, t := keyheatjson.NewDecoder(), new(taken)
	m.start()
	for i := range decoded {
		d.Decode(all[i%len(all)], 0, t)
	}
	m.stop(decoded)
	if t.bad > 0 {
		return fmt.Errorf("%d bad records", t.bad)
	}
	return check(float64(t.units) / 1000)
}

// collected keeps what our decoder reads.
type collected []sample.Record

func (c *collected) Record(r *sample.Record)         { *c = append(*c, r.Clone()) }
func (c *collected) Bad(sample.RejectReason, []byte) {}

// readProtobuf reads the same records as batches of a thousand.
func readProtobuf(m *meter) error {
	all := lines()
	var records collected
	d := keyheatjson.NewDecoder()
	for _, l := range all {
		d.Decode(l, 0, &records)
	}
	if len(records) != len(all) {
		return fmt.Errorf("%d records of %d lines", len(records), len(all))
	}
	message := samplepb.NewEncoder().Append(nil, records)
	b, t := samplepb.NewDecoder(), new(taken)
	m.start()
	for range decoded / len(all) {
		b.Decode(message, 0, t)
	}
	m.stop(decoded)
	if t.bad > 0 {
		return fmt.Errorf("%d bad records", t.bad)
	}
	return check(float64(t.units) / 1000)
}

// readEasyJSON is what easyjson generates for fields.
func readEasyJSON(b []byte, f *fields) error {
	l := jlexer.Lexer{Data: b}
	l.Delim('{')
	for !l.IsDelim('}') {
		name := l.UnsafeFieldName(false)
		l.WantColon()
		switch name {
		case "ts":
			f.TS = l.Int64()
		case "table":
			f.Table = l.String()
		case "index":
			f.Index = l.String()
		case "pk":
			f.PK = l.String()
		case "sk":
			f.SK = l.String()
		case "op":
			f.Op = l.String()
		case "region":
			f.Region = l.String()
		case "wcu":
			f.WCU = l.Float64()
		case "rate":
			f.Rate = l.Float64()
		case "bytes":
			f.Bytes = l.Int64()
		default:
			l.SkipRecursive()
		}
		l.WantComma()
	}
	l.Delim('}')
	l.Consumed()
	return l.Error()
}

func readJSONParser(b []byte, f *fields) error {
	return jsonparser.ObjectEach(b, func(key, value []byte, _ jsonparser.ValueType, _ int) (err error) {
		switch string(key) {
		case "ts":
			f.TS, err = jsonparser.ParseInt(value)
		case "table":
			f.Table, err = jsonparser.ParseString(value)
		case "index":
			f.Index, err = jsonparser.ParseString(value)
		case "pk":
			f.PK, err = jsonparser.ParseString(value)
		case "sk":
			f.SK, err = jsonparser.ParseString(value)
		case "op":
			f.Op, err = jsonparser.ParseString(value)
		case "region":
			f.Region, err = jsonparser.ParseString(value)
		case "wcu":
			f.WCU, err = jsonparser.ParseFloat(value)
		case "rate":
			f.Rate, err = jsonparser.ParseFloat(value)
		case "bytes":
			f.Bytes, err = jsonparser.ParseInt(value)
		}
		return err
	})
}

// readWithFastJSON uses the values in place, as the library is meant to be used.
func readWithFastJSON(m *meter) error {
	all := lines()
	var p fastjson.Parser
	units, size := 0.0, 0
	m.start()
	for i := range decoded {
		v, err := p.ParseBytes(all[i%len(all)])
		if err != nil {
			return err
		}
		size += v.GetInt("bytes") + int(v.GetInt64("ts")&1)
		for _, name := range []string{"table", "index", "pk", "sk", "op", "region"} {
			size += len(v.GetStringBytes(name))
		}
		units += v.GetFloat64("wcu") + 0*v.GetFloat64("rate")
	}
	m.stop(decoded)
	if size == 0 {
		return errors.New("it read nothing")
	}
	return check(units)
}

// readWithSIMDJSON gives it a thousand lines at a time, where it is at its best.
func readWithSIMDJSON(m *meter) error {
	if !simdjson.SupportedCPU() {
		return errors.New("simdjson-go needs a processor with AVX2 and CLMUL")
	}
	var text strings.Builder
	for _, l := range lines() {
		text.Write(l)
		text.WriteByte('\n')
	}
	message := []byte(text.String())
	perMessage := bytes.Count(message, []byte("\n"))
	var parsed *simdjson.ParsedJson
	var object simdjson.Object
	var value simdjson.Iter
	units, size := 0.0, 0
	m.start()
	for range decoded / perMessage {
		var err error
		if parsed, err = simdjson.ParseND(message, parsed, simdjson.WithCopyStrings(false)); err != nil {
			return err
		}
		err = parsed.ForEach(func(i simdjson.Iter) error {
			o, err := i.Object(&object)
			if err != nil {
				return err
			}
			for {
				name, kind, err := o.NextElementBytes(&value)
				if err != nil || kind == simdjson.TypeNone {
					return err
				}
				switch string(name) {
				case "wcu":
					f, err := value.Float()
					if err != nil {
						return err
					}
					units += f
				case "rate":
					f, err := value.Float()
					if err != nil {
						return err
					}
					size += int(f)
				case "ts", "bytes":
					n, err := value.Int()
					if err != nil {
						return err
					}
					size += int(n & 1)
				default:
					s, err := value.StringBytes()
					if err != nil {
						return err
					}
					size += len(s)
				}
			}
		})
		if err != nil {
			return err
		}
	}
	m.stop(decoded)
	if size == 0 {
		return errors.New("it read nothing")
	}
	return check(units)
}
