package shardkey_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/keyheat/keyheat/shardkey"
)

func must(t testing.TB, n int, f shardkey.Form) shardkey.Sharding {
	t.Helper()
	s, err := shardkey.New(n, f)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestParseIsTheInverseOfName holds for every form and any base, also one that
// looks like a shard itself.
func TestParseIsTheInverseOfName(t *testing.T) {
	t.Parallel()
	for _, form := range shardkey.Forms() {
		t.Run(form.String(), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(rt *rapid.T) {
				base := rapid.OneOf(rapid.StringN(1, 40, -1),
					rapid.StringMatching(`[a-z0-9#.-]{1,8}(#SHARD_|#SHARD#|#shard-|#|\.|-)[0-9]{0,3}`)).Draw(rt, "base")
				n := rapid.IntRange(1, shardkey.MaxShards).Draw(rt, "shards")
				i := rapid.IntRange(0, n-1).Draw(rt, "shard")
				name, err := must(t, n, form).Name(base, i)
				if err != nil {
					rt.Fatal(err)
				}
				gotBase, got, ok := form.Parse(name)
				if form.Alone {
					base = ""
				}
				if !ok || got != i || gotBase != base {
					rt.Fatalf("%q is read as %q, %d, %v", name, gotBase, got, ok)
				}
			})
		})
	}
}

// TestParse parses the common forms of key shards.
func TestParse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, base, tail string
		shard            int
		form             shardkey.Form
	}{
		{"BASE#SHARD_7", "BASE", "", 7, shardkey.HashShardUnderscore()},
		{"BASE#SHARD#7", "BASE", "", 7, shardkey.HashShardHash()},
		{"BASE#shard-7", "BASE", "", 7, shardkey.HashShardDash()},
		{"BASE#7", "BASE", "", 7, shardkey.HashNumber()},
		{"BASE.7", "BASE", "", 7, shardkey.DotNumber()},
		{"7#BASE", "BASE", "", 7, shardkey.NumberHash()},
		{"7-BASE", "BASE", "", 7, shardkey.NumberDash()},
		{"7", "", "", 7, shardkey.NumberOnly()},
		{"user#42#SHARD_0", "user#42", "", 0, shardkey.HashShardUnderscore()},
		{"user#42#SHARD_3#2026-11", "user#42", "#2026-11", 3, shardkey.HashShardUnderscore()},
		{"a#SHARD_1#SHARD_2", "a#SHARD_1", "", 2, shardkey.HashShardUnderscore()},
		{"BASE-3", "BASE", "", 3, shardkey.Form{Before: "-"}},
		{"BASE_3", "BASE", "", 3, shardkey.Form{Before: "_"}},
		{"BASE:3", "BASE", "", 3, shardkey.Form{Before: ":"}},
		{"BASE/3", "BASE", "", 3, shardkey.Form{Before: "/"}},
		{"BASE#003", "BASE", "", 3, shardkey.Form{Before: "#", Digits: 3}},
		{"BASE_bucket3", "BASE", "", 3, shardkey.Form{Before: "_bucket"}},
		{"BASE?shard=3", "BASE", "", 3, shardkey.Form{Before: "?shard="}},
		{"SHARD#3#BASE", "BASE", "", 3, shardkey.Form{Before: "SHARD#", After: "#", Prefix: true}},
		{"07_BASE", "BASE", "", 7, shardkey.Form{After: "_", Prefix: true, Digits: 2}},
		{"3:BASE", "BASE", "", 3, shardkey.Form{After: ":", Prefix: true}},
		{"BASE#a", "BASE", "", 10, shardkey.Form{Before: "#", Hex: true}},
		{"BASE-0f", "BASE", "", 15, shardkey.Form{Before: "-", Digits: 2, Hex: true}},
		{"BASE#SHARD_F", "BASE", "", 15, shardkey.Form{Before: "#SHARD_", Hex: true}},
		{"cart#42#3#2026-11-28", "cart#42", "#2026-11-28", 3, shardkey.Form{Before: "#"}},
		{"cart42|003|events", "cart42", "|events", 3, shardkey.Form{Before: "|", Digits: 3}},
		{"2026-11-28#3", "2026-11-28", "", 3, shardkey.HashNumber()},
		{"flood-1763690402-17", "flood-1763690402", "", 17, shardkey.Form{Before: "-"}},
		{"3#2026-11-28", "2026-11-28", "", 3, shardkey.NumberHash()},
	} {
		p, ok := shardkey.Parse(c.name)
		if !ok || p.Base != c.base || p.Tail != c.tail || p.Shard != c.shard || p.Form != c.form {
			t.Errorf("%q is read as %+v, %v", c.name, p, ok)
		}
		if text := p.Form.String(); c.tail == "" && c.base == "BASE" && len(text) != len(c.name) {
			t.Errorf("the form of %q is %q", c.name, text)
		}
	}
	for _, name := range []string{"", "user", "#7", "#SHARD_7", "user#", "user#SHARD_", "user#SHARD_x", "9999999", "user#4x", "-7", "log#2026-11-28", "log.2026.11", "user#deadbeef", "user#aF", "K#1024#x"} {
		if p, ok := shardkey.Parse(name); ok {
			t.Errorf("%q is read as a shard: %+v", name, p)
		}
	}
}

func TestBadArguments(t *testing.T) {
	t.Parallel()
	s := must(t, 4, shardkey.HashNumber())
	fails := map[string]error{}
	_, fails["no shards"] = shardkey.New(0, shardkey.HashNumber())
	_, fails["too many shards"] = shardkey.New(shardkey.MaxShards+1, shardkey.HashNumber())
	_, fails["no form"] = shardkey.New(4, shardkey.Form{})
	_, fails["a digit beside the number"] = shardkey.New(4, shardkey.Form{Before: "#9"})
	_, fails["a mark on the wrong side"] = shardkey.New(4, shardkey.Form{After: "#"})
	_, fails["zeros before the number"] = shardkey.New(4, shardkey.Form{Before: "#", Digits: 3})
	_, fails["a hexadecimal number"] = shardkey.New(4, shardkey.Form{Before: "#", Hex: true})
	_, fails["a word before the base"] = shardkey.New(4, shardkey.Form{Before: "SHARD#", After: "#", Prefix: true})
	_, fails["no base"] = s.Name("", 0)
	_, fails["a negative shard"] = s.Name("b", -1)
	_, fails["a shard too many"] = s.Name("b", 4)
	_, fails["a random one without base"] = s.Random("")
	_, fails["no attribute"] = s.Pick("b", "")
	_, fails["all without base"] = s.All("")
	_, fails["the zero sharding"] = shardkey.Sharding{}.All("b")
	_, fails["another form"] = shardkey.Grow(s, must(t, 8, shardkey.DotNumber()))
	_, fails["fewer"] = shardkey.Grow(s, must(t, 2, shardkey.HashNumber()))
	_, fails["the zero growth"] = shardkey.Grow(shardkey.Sharding{}, s)
	_, fails["a foreign name"] = s.Distribution("b", map[string]int64{"other#1": 1})
	_, fails["a shard beyond"] = s.Distribution("b", map[string]int64{"b#4": 1})
	_, fails["a negative count"] = s.Distribution("b", map[string]int64{"b#1": -1})
	for what, err := range fails {
		if err == nil || !strings.HasPrefix(err.Error(), "shardkey: ") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestUniform holds calculated and random shards against a chi-squared test: at
// 15 degrees of freedom 44.3 is passed by chance once in 10,000 times, and the
// calculated ones are always the same.
func TestUniform(t *testing.T) {
	t.Parallel()
	const n, draws = 16, 64_000
	s := must(t, n, shardkey.HashNumber())
	for what, draw := range map[string]func(i int) (string, error){
		"sequential attributes": func(i int) (string, error) { return s.Pick("user#42", fmt.Sprint("order-", i)) },
		"one letter apart":      func(i int) (string, error) { return s.Pick(strings.Repeat("a", i%40+1), fmt.Sprint(i/40)) },
		"random":                func(int) (string, error) { return s.Random("user#42") },
	} {
		counts := make([]float64, n)
		for i := range draws {
			name, err := draw(i)
			if err != nil {
				t.Fatal(err)
			}
			_, shard, _ := shardkey.HashNumber().Parse(name)
			counts[shard]++
		}
		chi := 0.0
		for _, c := range counts {
			chi += math.Pow(c-draws/n, 2) / (draws / n)
		}
		if chi > 44.3 {
			t.Errorf("%s: chi squared is %.1f over %v", what, chi, counts)
		}
	}
}

// TestCalculatedShardsNeverChange are golden: items are stored under them.
func TestCalculatedShardsNeverChange(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n               int
		base, attribute string
		want            string
	}{
		{8, "user#42", "order-1", "user#42#5"},
		{8, "user#42", "order-2", "user#42#3"},
		{8, "user#43", "order-1", "user#43#4"},
		{75, "status#OPEN", "2026-11-21T03:44:40Z", "status#OPEN#10"},
		{1, "x", "y", "x#0"},
		{100_000, "ключ", "значение", "ключ#58148"},
	} {
		got, err := must(t, c.n, shardkey.HashNumber()).Pick(c.base, c.attribute)
		if err != nil || got != c.want {
			t.Errorf("%d shards, %q, %q: %q, want %q", c.n, c.base, c.attribute, got, c.want)
		}
	}
}

// TestGrowKeepsEverythingReadable looks every item up where it was written,
// before and after growing.
func TestGrowKeepsEverythingReadable(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		from := rapid.IntRange(1, 50).Draw(rt, "from")
		to := rapid.IntRange(from, 100).Draw(rt, "to")
		attribute := rapid.StringN(1, 10, -1).Draw(rt, "attribute")
		old, grown := must(t, from, shardkey.HashShardUnderscore()), must(t, to, shardkey.HashShardUnderscore())
		g, err := shardkey.Grow(old, grown)
		if err != nil {
			rt.Fatal(err)
		}
		was, _ := old.Pick("b", attribute)
		is, _ := g.Write().Pick("b", attribute)
		find, err := g.Find("b", attribute)
		if err != nil || find[0] != is || find[len(find)-1] != was {
			rt.Fatalf("written to %q, then to %q, looked for in %v (%v)", was, is, find, err)
		}
		all, err := g.All("b")
		if err != nil || len(all) != to {
			rt.Fatalf("%d names, want %d (%v)", len(all), to, err)
		}
		olds, _ := old.All("b")
		for i, name := range olds {
			if all[i] != name {
				rt.Fatalf("the old shard %q is not read", name)
			}
		}
	})
}

func TestDistribution(t *testing.T) {
	t.Parallel()
	s := must(t, 4, shardkey.HashShardHash())
	d, err := s.Distribution("b", map[string]int64{"b#SHARD#0": 100, "b#SHARD#1": 100, "b#SHARD#2": 140, "b#SHARD#3": 60})
	if err != nil || d.Mean != 100 || d.Deviation != 0.4 || d.Hottest != 2 || d.Counts[3] != 60 {
		t.Errorf("distribution %+v, %v", d, err)
	}
	if d, err := s.Distribution("b", nil); err != nil || d.Deviation != 0 {
		t.Errorf("of nothing: %+v, %v", d, err)
	}
}
