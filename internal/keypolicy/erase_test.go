package keypolicy_test

import (
	"strings"
	"testing"

	"github.com/keyheat/keyheat/internal/keypolicy"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/rollup"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

func eraser(keys ...sample.Key) *keypolicy.Eraser {
	return keypolicy.NewEraser(sample.Target{Table: "orders"}, keys)
}

func TestText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		key, text string
		goes      bool
	}{
		{"user#42", "user#42", true},
		{"user#42", "“user#42” is known, user#42#SHARD_0 too", true},
		{"user#42", "https://keyheat/heat?key=user%2342&x", true},
		{"user#42", "user#421 and xuser#42 are others", false},
		{"user#42", "user#421, and user#42", true},
		{"42", "key 42", true},
		{"42", "420 keys", false},
		{"jösé-m", "the key jösé-m.", true},
		{"", "nothing", false},
	} {
		got, err := eraser(sample.KeyString(c.key)).Text([]byte(c.text))
		if err != nil || (got != nil) != c.goes || c.goes && string(got) != keypolicy.Erased {
			t.Errorf("%q without %q is %q, %v", c.text, c.key, got, err)
		}
	}
}

func TestDocument(t *testing.T) {
	t.Parallel()
	keys := eraser(sample.KeyString("~hash"), sample.KeyString("user#42"))
	const document = `{"key":"user#42","n":1000000000000000001,"of":["~hash",{"user#42":true}],"containing":"user#42#SHARD_1","other":"user#4"}`
	got, err := keys.Document([]byte(document))
	if err != nil || strings.Contains(string(got), "user#42") || strings.Contains(string(got), "~hash") ||
		!strings.Contains(string(got), "1000000000000000001") || !strings.Contains(string(got), `"user#4"`) {
		t.Errorf("%s %v", got, err)
	}
	if got, err := keys.Document([]byte(`{"key": "user#7"}`)); err != nil || got != nil {
		t.Errorf("another key: %s %v", got, err)
	}
	for _, key := range []string{"pending", "state", "N", "42", "split", "ground", "requests", "11", "30"} {
		const document = `{"key":"user#1","key_type":"N","state":"pending","ground":"split","n":42,"top":[{"state":"firing"}],"cannot_see":["throttled_requests"],"at":"2026-11-23T07:30:00.5Z"}`
		if got, err := eraser(sample.KeyString(key)).Document([]byte(document)); err != nil || got != nil {
			t.Errorf("without %q: %s %v", key, got, err)
		}
		named := `{"key":"` + key + `","state":"firing","keys":["` + key + `"],"of":{"` + key + `":1}}`
		if got, err := eraser(sample.KeyString(key)).Document([]byte(named)); err != nil || !strings.Contains(string(got), `"key":"(purged)","keys":["(purged)"]`) {
			t.Errorf("without %q: %s %v", key, got, err)
		}
	}
	for text, key := range map[string]string{"nul\x00key": `"nul\ufffdkey"`, "bad\xff\xfekey": `"bad\ufffd\ufffdkey"`, "tab\tkey": `"tab\tkey"`} {
		got, err := eraser(sample.KeyString(text)).Document([]byte(`{"key":` + key + `}`))
		if err != nil || string(got) != `{"key":"(purged)"}` {
			t.Errorf("without %q: %s %v", text, got, err)
		}
	}
	const silenced = `{"owner":"x","silenced":{"reason":"user#42 is known"},"team":"of user#42"}`
	if got, err := keys.Document([]byte(silenced)); err != nil || string(got) != `{"owner":"x","silenced":{"reason":"(purged)"},"team":"(purged)"}` {
		t.Errorf("%s %v", got, err)
	}
	if _, err := keys.Document([]byte("no JSON of user#42")); err == nil {
		t.Error("a damaged document is passed over")
	}
}

// TestSummaries: the key's name is gone, as a partition key and as another key's sort
// key; totals stay, and what is not listed may have had its load.
func TestSummaries(t *testing.T) {
	t.Parallel()
	const canary = "canary-7f3a"
	config := sketch.Config{Seed: 7}
	shard := sketch.NewShard(config)
	for i := range 3000 {
		r := sample.Record{Time: 1_763_692_032_185, Table: "orders", PK: sample.KeyString("user#1"), SK: sample.KeyString(canary), Op: sample.PutItem, WCU: 1000, Rate: 1, N: 1}
		if i%2 == 0 {
			r.PK, r.SK = r.SK, r.PK
		}
		must.Succeed(t, shard.Add(&r))
	}
	for caller, units := range map[string]sample.Milli{"web": 9, canary: 7} {
		must.Succeed(t, shard.AddCaller(&sample.Record{Table: "orders", Op: sample.PutItem, WCU: units, Rate: 1, N: 1, Caller: caller}))
	}
	d := sketch.NewDelta(config)
	shard.Seal(d)
	before := d.Windows[0].Total
	delta, err := d.MarshalBinary()
	must.Succeed(t, err)
	window, err := d.Windows[0].MarshalBinary()
	must.Succeed(t, err)
	keys := eraser(sample.KeyString(canary))
	for _, of := range []sample.Target{{Table: "carts"}, {Region: "eu-west-1", Table: "orders"}} {
		if got, err := keypolicy.NewEraser(of, []sample.Key{sample.KeyString(canary)}).Delta(delta); got != nil || err != nil {
			t.Errorf("of %s: %d bytes, %v", of, len(got), err)
		}
	}
	erased, err := keys.Delta(delta)
	if err != nil || erased == nil {
		t.Fatal("it is in no delta", err)
	}
	var again sketch.Delta
	must.Succeed(t, again.UnmarshalBinary(erased))
	if w := again.Callers[0].Writers; len(w.Entries) != 1 || w.Entries[0].Text != "web" || w.Missing != 7 {
		t.Errorf("it is still a caller: %+v", w)
	}
	erased, err = keys.Window(window)
	if err != nil || erased == nil {
		t.Fatal("it is in no window", err)
	}
	var w sketch.Window
	must.Succeed(t, w.UnmarshalBinary(erased))
	for _, w := range []sketch.Window{again.Windows[0], w} {
		if w.Total.Load != before.Load || w.Total.Requests != before.Requests || w.Unseen.Write < 1_500_000 || len(w.Keys) != 1 {
			t.Errorf("totals %+v, unseen %+v, %d keys", w.Total, w.Unseen, len(w.Keys))
		}
		for _, k := range w.Keys {
			if k.Key.Text == canary || k.Evidence == nil {
				t.Errorf("key %+v", k)
				continue
			}
			for _, item := range k.Evidence.Items.Entries {
				if item.Text == canary {
					t.Error("it is still an item of another key")
				}
			}
			for _, p := range k.Evidence.Places {
				if p.Order == canary {
					t.Error("it is still a place of another key")
				}
			}
		}
	}
	if got, err := keys.Delta(mustDelta(t, &again)); got != nil || err != nil {
		t.Errorf("again: %d bytes, %v", len(got), err)
	}
	if _, err := keys.Window([]byte("damaged")); err == nil {
		t.Error("a damaged window is passed over")
	}
}

func mustDelta(t *testing.T, d *sketch.Delta) []byte {
	t.Helper()
	b, err := d.MarshalBinary()
	must.Succeed(t, err)
	return b
}

// TestRollups: the key is gone, whole or as the beginning that is kept of it, and what is
// not listed may have had its load.
func TestRollups(t *testing.T) {
	t.Parallel()
	const canary = "canary-7f3a-and-much-more-than-32-bytes-of-it"
	w := sketch.Window{Keys: []sketch.KeyLoad{
		{Hash: 1, Key: sample.KeyString(canary), Low: sketch.Load{Write: 900_000}},
		{Hash: 2, Key: sample.KeyString(canary[:32]), Cut: true, Low: sketch.Load{Read: 70_000}},
		{Hash: 3, Key: sample.KeyString("user#1"), Low: sketch.Load{Write: 100_000}},
		{Hash: 4, Key: sample.Key{Type: sample.TypeNumber, Text: "7"}, Low: sketch.Load{Write: 100_000}},
	}}
	body, err := rollup.OfSecond(&w, true).MarshalBinary()
	must.Succeed(t, err)
	erased, err := eraser(sample.KeyString(canary)).Rollup(body)
	if err != nil || erased == nil {
		t.Fatal("it is in no roll-up", err)
	}
	var r rollup.Rollup
	must.Succeed(t, r.UnmarshalBinary(erased))
	if len(r.Keys) != 2 || r.Seconds != 1 || r.Unlisted.Write != 900_000 || r.Unlisted.Read != 70_000 || strings.Contains(r.Keys[0].Key.Text+r.Keys[1].Key.Text, "canary") {
		t.Errorf("left is %+v", r)
	}
	if got, err := eraser(sample.KeyString(canary)).Rollup(erased); got != nil || err != nil {
		t.Errorf("again: %d bytes, %v", len(got), err)
	}
	if got, err := eraser(sample.KeyString("user#12")).Rollup(body); got != nil || err != nil {
		t.Errorf("another key: %d bytes, %v", len(got), err)
	}
	if _, err := eraser().Rollup([]byte("damaged")); err == nil {
		t.Error("a damaged roll-up is passed over")
	}
}

// TestForms: what contains the key goes with it, such as its key shards and dated forms. Parts
// of longer words and of dates stay.
func TestForms(t *testing.T) {
	t.Parallel()
	for key, forms := range map[string]struct{ gone, left []string }{
		"bob": {
			gone: []string{
				"bob", "bob#SHARD_0", "bob#shard-3", "bob#SHARD_*", "bob#7", "7#bob", "bob.7", "bob#<hour>", "bob#2026-11-23", "bob_2026/11/23",
				"bob#2026-11-23T07:30:00Z", "bob#20261123", "2026-11-23#bob#SHARD_1", "order#bob#2026-11-23", "alice#bob", "bobby#bob",
				sample.JoinKeys(sample.KeyString("bob"), sample.KeyString("x")).Text,
			},
			left: []string{"", "bobby", "bobby#2026-11-23", "jacob", "böbob", "bob7"},
		},
		"~bAAAAAAAAAAAAAAAAAAAAA": {gone: []string{"~bAAAAAAAAAAAAAAAAAAAAA#2026-11-23"}, left: []string{"~bAAAAAAAAAAAAAAAAAAAAB"}},
		"42":                      {gone: []string{"42", "-42", "user#42", "42#2026-11-23"}, left: []string{"420", "4.2"}},
		"11":                      {gone: []string{"2026-11-23#11", "11#2026-11-23"}, left: []string{"2026-11-23", "2026-01-02T10:11:12.11Z"}},
		"2026-11-23":              {gone: []string{"2026-11-23", "events#2026-11-23"}, left: []string{"2026-11-23T10:00:00Z"}},
	} {
		e := eraser(sample.KeyString(key))
		for _, text := range forms.gone {
			if got, err := e.Text([]byte(text)); got == nil || err != nil {
				t.Errorf("%q stays without %q: %v", text, key, err)
			}
		}
		for _, text := range forms.left {
			if got, err := e.Text([]byte(text)); got != nil || err != nil {
				t.Errorf("%q goes with %q: %v", text, key, err)
			}
		}
	}
}

// TestCallers: the value is gone as the caller of another key and of the table.
func TestCallers(t *testing.T) {
	t.Parallel()
	const canary = "canary-7f3a"
	shard := sketch.NewShard(sketch.Config{Seed: 7})
	for range 3000 {
		r := sample.Record{Time: 1_763_692_032_185, Table: "orders", PK: sample.KeyString("user#1"), Op: sample.PutItem, WCU: 1000, Rate: 1, N: 1, Caller: canary, Attempts: 3}
		must.Succeed(t, shard.Add(&r))
	}
	d := sketch.NewDelta(sketch.Config{Seed: 7})
	shard.Seal(d)
	before, err := d.Windows[0].MarshalBinary()
	must.Succeed(t, err)
	k := d.Windows[0].Keys[0]
	if len(d.Windows[0].Callers.Entries) != 1 || len(k.Evidence.Callers.Entries) != 1 || k.Retries == nil || len(k.Retries.Callers) != 1 {
		t.Fatalf("it is not everywhere: %+v, %+v", d.Windows[0], k.Retries)
	}
	erased, err := eraser(sample.KeyString(canary)).Window(before)
	if err != nil || erased == nil {
		t.Fatal("it is in no window", err)
	}
	var w sketch.Window
	must.Succeed(t, w.UnmarshalBinary(erased))
	k = w.Keys[0]
	if n := len(w.Callers.Entries) + len(k.Evidence.Callers.Entries) + len(k.Retries.Callers); n != 0 || w.Callers.Missing == 0 || k.Retries.Attempts == 0 {
		t.Errorf("%d callers are left, %+v", n, k.Retries)
	}
}
