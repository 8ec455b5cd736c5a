package keypolicy_test

import (
	"strings"
	"testing"

	"github.com/keyheat/keyheat/internal/keypolicy"
	"github.com/keyheat/keyheat/rollup"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/shardkey"
	"github.com/keyheat/keyheat/sketch"
)

func eraser(keys ...sample.Key) *keypolicy.Eraser {
	return keypolicy.NewEraser(keys, keypolicy.EraserOptions{})
}

func TestText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ key, text, want string }{
		{"user#42", "user#42", "(purged)"},
		{"user#42", "“user#42” is known, user#42#SHARD_0 too", "“(purged)” is known, (purged)#SHARD_0 too"},
		{"user#42", "https://keyheat/heat?key=user%2342&x", "https://keyheat/heat?key=(purged)&x"},
		{"user#42", "user#421 and xuser#42 are others", "user#421 and xuser#42 are others"},
		{"user#42", "/findings?key=user#42&x", "/findings?key=(purged)&x"},
		{"42", "42", "(purged)"},
		{"42", "key 42", "key 42"},
		{"jösé-m", "the key jösé-m.", "the key (purged)."},
		{"", "nothing", "nothing"},
	} {
		got, was := eraser(sample.KeyString(c.key)).Text(c.text)
		if got != c.want || was != (c.want != c.text) {
			t.Errorf("%q without %q is %q, want %q", c.text, c.key, got, c.want)
		}
	}
}

func TestDocument(t *testing.T) {
	t.Parallel()
	keys := eraser(sample.KeyString("~hash"), sample.KeyString("user#42"))
	const document = `{"key":"user#42","n":1000000000000000001,"of":["~hash",{"user#42":true}],"other":"user#4"}`
	got, was, err := keys.Document([]byte(document))
	if err != nil || !was || strings.Contains(string(got), "user#42") || strings.Contains(string(got), "~hash") ||
		!strings.Contains(string(got), "1000000000000000001") || !strings.Contains(string(got), `"user#4"`) {
		t.Errorf("%s %v %v", got, was, err)
	}
	if got, was, err := keys.Document([]byte(`{"key": "user#7"}`)); err != nil || was || string(got) != `{"key": "user#7"}` {
		t.Errorf("%s %v %v", got, was, err)
	}
	for _, key := range []string{"pending", "state", "N", "42", "split", "ground"} {
		const document = `{"key":"user#1","key_type":"N","state":"pending","ground":"split","n":42,"top":[{"state":"firing"}],"title":"42 is over"}`
		if got, was, err := eraser(sample.KeyString(key)).Document([]byte(document)); err != nil || was || string(got) != document {
			t.Errorf("without %q: %s %v %v", key, got, was, err)
		}
		named := `{"key":"` + key + `","state":"firing","keys":["` + key + `"],"of":{"` + key + `":1}}`
		if got, _, err := eraser(sample.KeyString(key)).Document([]byte(named)); err != nil || !strings.Contains(string(got), `"key":"(purged)","keys":["(purged)"]`) {
			t.Errorf("without %q: %s %v", key, got, err)
		}
	}
	for text, key := range map[string]string{"nul\x00key": `"nul\ufffdkey"`, "bad\xff\xfekey": `"bad\ufffd\ufffdkey"`, "tab\tkey": `"tab\tkey"`} {
		got, was, err := eraser(sample.KeyString(text)).Document([]byte(`{"key":` + key + `}`))
		if err != nil || !was || string(got) != `{"key":"(purged)"}` {
			t.Errorf("without %q: %s %v", text, got, err)
		}
	}
	const silenced = `{"owner":"x","silenced":{"reason":"user#42 is known"},"team":"of user#42"}`
	if got, _, err := keys.Document([]byte(silenced)); err != nil || string(got) != `{"owner":"x","silenced":{"reason":"(purged) is known"},"team":"of user#42"}` {
		t.Errorf("%s %v", got, err)
	}
	if _, _, err := keys.Document([]byte("no JSON of user#42")); err == nil {
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
		if err := shard.Add(&r); err != nil {
			t.Fatal(err)
		}
	}
	for caller, units := range map[string]sample.Milli{"web": 9, canary: 7} {
		if err := shard.AddCaller(&sample.Record{Table: "orders", Op: sample.PutItem, WCU: units, Rate: 1, N: 1, Caller: caller}); err != nil {
			t.Fatal(err)
		}
	}
	d := sketch.NewDelta(config)
	shard.Seal(d)
	before := d.Windows[0].Total
	delta, err := d.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	window, err := d.Windows[0].MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	keys := eraser(sample.KeyString(canary))
	if _, _, was, err := keys.Delta(sample.Target{Table: "carts"}, delta); was || err != nil {
		t.Errorf("of another table: %v %v", was, err)
	}
	if _, _, was, err := keys.Delta(sample.Target{Region: "eu-west-1", Table: "orders"}, delta); was || err != nil {
		t.Errorf("of another Region: %v %v", was, err)
	}
	erased, version, was, err := keys.Delta(sample.Target{Table: "orders"}, delta)
	if err != nil || !was || version != sketch.Version {
		t.Fatalf("%v %d %v", was, version, err)
	}
	var again sketch.Delta
	if err := again.UnmarshalBinary(erased); err != nil {
		t.Fatal(err)
	}
	if w := again.Callers[0].Writers; len(w.Entries) != 1 || w.Entries[0].Text != "web" || w.Missing != 7 {
		t.Errorf("it is still a caller: %+v", w)
	}
	erased, was, err = keys.Window(window)
	if err != nil || !was {
		t.Fatal(was, err)
	}
	var w sketch.Window
	if err := w.UnmarshalBinary(erased); err != nil {
		t.Fatal(err)
	}
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
	if _, _, was, err := keys.Delta(sample.Target{Table: "orders"}, mustDelta(t, &again)); was || err != nil {
		t.Errorf("again: %v %v", was, err)
	}
	if _, _, err := keys.Window([]byte("damaged")); err == nil {
		t.Error("a damaged window is passed over")
	}
}

func mustDelta(t *testing.T, d *sketch.Delta) []byte {
	t.Helper()
	b, err := d.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
	erased, was, err := eraser(sample.KeyString(canary)).Rollup(body)
	if err != nil || !was {
		t.Fatal(was, err)
	}
	var r rollup.Rollup
	if err := r.UnmarshalBinary(erased); err != nil {
		t.Fatal(err)
	}
	if len(r.Keys) != 2 || r.Seconds != 1 || r.Unlisted.Write != 900_000 || r.Unlisted.Read != 70_000 || strings.Contains(r.Keys[0].Key.Text+r.Keys[1].Key.Text, "canary") {
		t.Errorf("left is %+v", r)
	}
	if _, was, err := eraser(sample.KeyString(canary)).Rollup(erased); was || err != nil {
		t.Errorf("again: %v %v", was, err)
	}
	if _, was, err := eraser(sample.KeyString("7")).Rollup(body); was || err != nil {
		t.Errorf("a text that is not the number: %v %v", was, err)
	}
	if _, _, err := eraser().Rollup([]byte("damaged")); err == nil {
		t.Error("a damaged roll-up is passed over")
	}
}

// TestForms: key shards and dated forms of a key go with it; what contains it as a
// component is remembered, and goes where that is wanted.
func TestForms(t *testing.T) {
	t.Parallel()
	text, number := sample.KeyString, func(s string) sample.Key { return sample.Key{Type: sample.TypeNumber, Text: s} }
	hashed := text("~bAAAAAAAAAAAAAAAAAAAAA")
	for _, c := range []struct {
		stored       sample.Key
		goes, listed bool
	}{
		{text("bob"), true, false},
		{text("bob#SHARD_0"), true, false},
		{text("bob#SHARD#12"), true, false},
		{text("bob#shard-3"), true, false},
		{text("bob#2026-11-23"), true, false},
		{text("bob#2026-11"), true, false},
		{text("bob_2026/11/23"), true, false},
		{text("bob#2026-11-23T07:30:00Z"), true, false},
		{text("bob#2026-11-23-07"), true, false},
		{text("bob#2026-W47"), true, false},
		{text("2026-11-23#bob"), true, false},
		{text("2026-11-23#bob#SHARD_1"), true, false},
		{text("bob#SHARD_1#2026-11-23"), true, false},
		{text("bob#SHARD_*"), true, false},
		{text("bob#<hour>"), true, false},
		{text("bob#*"), true, false},
		{text("bob#7"), true, false}, // the policy's suffix
		{hashed, true, false},
		{text(hashed.Text + "#2026-11-23"), true, false},
		{text("alice#bob"), false, true},
		{text("bob#alice"), false, true},
		{text("bob.7"), false, true},
		{text("bob#20261123"), false, true},
		{text("order#bob#2026-11-23"), false, true},
		{text("bobby"), false, false},
		{text("bobby#2026-11-23"), false, false},
		{number("42"), true, false},
		{text("42"), false, true}, // another key, with the same text
		{text("user#42"), false, true},
		{number("-42"), false, true},
		{number("420"), false, false},
		{text(""), false, false},
		{sample.JoinKeys(text("bob"), text("x")), false, true},
	} {
		keys := []sample.Key{text("bob"), hashed, number("42")}
		e := keypolicy.NewEraser(keys, keypolicy.EraserOptions{Suffixes: []shardkey.Form{shardkey.HashNumber()}})
		if goes := e.Is(c.stored); goes != c.goes {
			t.Errorf("%v goes: %v", c.stored, goes)
		}
		if others, complete := e.Others(); (len(others) == 1) != c.listed || !complete {
			t.Errorf("beside %v: %q", c.stored, others)
		}
		all := keypolicy.NewEraser(keys, keypolicy.EraserOptions{Containing: true})
		if goes := all.Is(c.stored); goes != (c.goes && c.stored.Text != "" || c.listed) {
			t.Errorf("containing: %v goes: %v", c.stored, goes)
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
		if err := shard.Add(&r); err != nil {
			t.Fatal(err)
		}
	}
	d := sketch.NewDelta(sketch.Config{Seed: 7})
	shard.Seal(d)
	before, err := d.Windows[0].MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	k := d.Windows[0].Keys[0]
	if len(d.Windows[0].Callers.Entries) != 1 || len(k.Evidence.Callers.Entries) != 1 || k.Retries == nil || len(k.Retries.Callers) != 1 {
		t.Fatalf("it is not everywhere: %+v, %+v", d.Windows[0], k.Retries)
	}
	erased, was, err := eraser(sample.KeyString(canary)).Window(before)
	if err != nil || !was {
		t.Fatal(was, err)
	}
	var w sketch.Window
	if err := w.UnmarshalBinary(erased); err != nil {
		t.Fatal(err)
	}
	k = w.Keys[0]
	if n := len(w.Callers.Entries) + len(k.Evidence.Callers.Entries) + len(k.Retries.Callers); n != 0 || w.Callers.Missing == 0 || k.Retries.Attempts == 0 {
		t.Errorf("%d callers are left, %+v", n, k.Retries)
	}
}
