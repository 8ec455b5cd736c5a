package keypolicy_test

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/keyheat/keyheat/detect/keypatterns"
	"github.com/keyheat/keyheat/internal/keypolicy"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/position"
	"github.com/keyheat/keyheat/shardkey"
)

var (
	noon   = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	hashes = regexp.MustCompile(`~[A-Za-z0-9_-]{22}`)
)

func line(key string) string { return base64.StdEncoding.EncodeToString([]byte(key)) }

func secrets(t testing.TB, text string) keypolicy.Secrets {
	t.Helper()
	all, err := keypolicy.ParseSecrets(text)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func hider(t testing.TB, p keypolicy.Policy) *keypolicy.Hider {
	t.Helper()
	return keypolicy.NewHider(func(sample.Target) keypolicy.Policy { return p }, secrets(t, line("0123456789abcdef")))
}

func hide(h *keypolicy.Hider, k sample.Key, at time.Time) sample.Key {
	r := sample.Record{Table: "orders", PK: k, Time: at.UnixMilli()}
	h.Hide(&r)
	return r.PK
}

// TestPlaceOfAHiddenKey: 16 bits of a key's position stay if the policy allows it, and none
// else. An index has other partitions, and a key that is not hidden needs no place.
func TestPlaceOfAHiddenKey(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		policy     keypolicy.Policy
		index, key string
		placed     bool
	}{
		{keypolicy.Policy{Mode: keypolicy.HMAC}, "", "jane", false},
		{keypolicy.Policy{Mode: keypolicy.None, Positions: true}, "", "jane", false},
		{keypolicy.Policy{Mode: keypolicy.HMAC, Positions: true}, "by-day", "jane", false},
		{keypolicy.Policy{Mode: keypolicy.HMAC, Positions: true, Words: []string{"user"}}, "", "user", false},
		{keypolicy.Policy{Mode: keypolicy.HMAC, Positions: true}, "", "jane", true},
		{keypolicy.Policy{Mode: keypolicy.Prefix, Keep: 2, Positions: true}, "", "jane", true},
	} {
		r := sample.Record{Table: "orders", Index: c.index, PK: sample.KeyString(c.key), Time: noon.UnixMilli()}
		hider(t, c.policy).Hide(&r)
		want := sample.Place(0)
		if c.placed {
			want = sample.Place(position.String(c.key)>>48) + 1
		}
		if r.Place != want {
			t.Errorf("%+v: %s has place %d, want %d", c.policy, c.key, r.Place, want)
		}
	}
}

// TestWhatStaysReadable writes each hash as H.
func TestWhatStaysReadable(t *testing.T) {
	t.Parallel()
	hmac := keypolicy.Policy{Mode: keypolicy.HMAC, Words: []string{"user", "order"}}
	numbered, number := hmac, shardkey.HashNumber()
	numbered.Shards = &number
	for _, c := range []struct {
		policy    keypolicy.Policy
		key, want string
	}{
		{hmac, "user#42", "user#H"},
		{hmac, "users#42", "H#H"},
		{hmac, "User#42", "H#H"},
		{hmac, "smith", "H"},
		{hmac, "user_42", "user_H"},
		{hmac, "tenant#7#user#42#order#1", "H#H#user#H#order#H"},
		{hmac, "a.b@example.com", "H"},
		{hmac, "0b4e1d7c-6a64-4f0e-9d8a-00000000002a", "H"},
		{hmac, "2026-11-21", "2026-11-21"},
		{hmac, "20261121", "20261121"},
		{hmac, "events#2026-11-21T12:00:03.250Z#eu", "H#2026-11-21T12:00:03.250Z#H"},
		{hmac, "events/2026/11/21/eu", "H/2026/11/21/H"},
		{hmac, "e_2026-11-20-23", "H_2026-11-20-23"},
		{hmac, "2026-W47", "2026-W47"},
		{hmac, "1795262400", "1795262400"},
		{hmac, "run#1795262400123", "H#1795262400123"},
		{hmac, "born#1985-03-02", "H#H"},
		{hmac, "2026-11-24", "H"},
		{hmac, "2025-11-21", "H"},
		{hmac, "x2026-11-21", "H"},
		{hmac, "2026-11-21x", "H"},
		{hmac, "2026-11-21T99:00", "H"},
		{hmac, "1795262400123456", "H"},
		{hmac, "smith#SHARD_7", "H#SHARD_7"},
		{hmac, "smith#SHARD#12#open", "H#SHARD#12#H"},
		{hmac, "smith#shard-0", "H#shard-0"},
		{hmac, "smith#SHARD_1234567", "H#H"},
		{hmac, "smith#7", "H#H"},
		{numbered, "smith#7", "H#7"},
		{numbered, "user#7", "user#7"},
		{numbered, "smith#x", "H#H"},
		{hmac, "", ""},
		{hmac, "##a##b##", "##H##H##"},
		{hmac, strings.Repeat("a#", 40), strings.Repeat("H#", 15) + "H#"},
		{keypolicy.Policy{Mode: keypolicy.Prefix, Keep: 3}, "smith#42", "smiH#H"},
		{keypolicy.Policy{Mode: keypolicy.Prefix, Keep: 3}, "äöü-ß", "äöü-H"},
		{keypolicy.Policy{Mode: keypolicy.Prefix, Keep: 3}, "abc", "abc"},
		{keypolicy.Policy{Mode: keypolicy.Prefix, Keep: 2}, "2026-11-21#smith", "2026-11-21#H"},
		{keypolicy.Policy{Mode: keypolicy.Plain}, "smith", "smith"},
		{keypolicy.Policy{}, "smith", "smith"},
		{keypolicy.Policy{Mode: keypolicy.None}, "smith", ""},
	} {
		got := hashes.ReplaceAllString(hide(hider(t, c.policy), sample.KeyString(c.key), noon).Text, "H")
		if got != c.want {
			t.Errorf("%s %q becomes %q, want %q", c.policy.Mode, c.key, got, c.want)
		}
	}
}

func TestTypesOfKeys(t *testing.T) {
	t.Parallel()
	h := hider(t, keypolicy.Policy{Mode: keypolicy.HMAC})
	text, number, binary := hide(h, sample.KeyString("42"), noon), hide(h, sample.Key{Type: "N", Text: "42"}, noon), hide(h, sample.KeyBinary([]byte("42")), noon)
	if text == number || number == binary || text == binary || number.Type != "S" || binary.Type != "S" {
		t.Errorf("42 becomes %v, %v and %v", text, number, binary)
	}
	if day := (sample.Key{Type: "N", Text: "20261121"}); hide(h, day, noon) != day {
		t.Errorf("a day's number becomes %v", hide(h, day, noon))
	}
	joined := hide(h, sample.JoinKeys(sample.KeyString("a|b"), sample.Key{Type: "N", Text: "42"}), noon)
	if parts := joined.Parts(); len(parts) != 2 || parts[1] != number || parts[0].Type != "S" {
		t.Errorf("two attributes become %v", joined)
	}
}

// TestEverythingOfARecord: whatever names somebody is hidden; what the verdict needs
// stays.
func TestEverythingOfARecord(t *testing.T) {
	t.Parallel()
	const canary = "canary-7f3a"
	full := sample.Record{
		Time: noon.UnixMilli(), Table: "orders", Index: "by-status", PK: sample.KeyString("user#" + canary), SK: sample.KeyString(canary), Op: sample.PutItem,
		WCU: 5, Rate: 1, N: 2, Caller: canary, ID: canary, Attrs: map[string]string{"email": canary}, Account: "123456789012", Region: "eu-west-1",
	}
	for _, p := range []keypolicy.Policy{{Mode: keypolicy.HMAC}, {Mode: keypolicy.Prefix, Keep: 6}, {Mode: keypolicy.None}} {
		r := full
		hider(t, p).Hide(&r)
		if text := fmt.Sprintf("%+v", r); strings.Contains(text, canary) {
			t.Errorf("%s leaves %s", p.Mode, text)
		}
		if r.Target() != full.Target() || r.Op != full.Op || r.WCU != full.WCU || r.N != full.N || r.Time != full.Time {
			t.Errorf("%s changes %+v", p.Mode, r)
		}
		if full.Attrs["email"] != canary {
			t.Error("the decoder's own attributes are changed")
		}
	}
	// Without a secret nothing is kept, rather than all.
	r := full
	keypolicy.NewHider(func(sample.Target) keypolicy.Policy { return keypolicy.Policy{Mode: keypolicy.HMAC} }, nil).Hide(&r)
	if !r.PK.IsZero() || r.Caller != "" {
		t.Errorf("without a secret a record is %+v", r)
	}
}

// TestEverywhere: each form of a value in a record is found, also behind another component.
func TestEverywhere(t *testing.T) {
	t.Parallel()
	const value = "smith"
	for _, p := range []keypolicy.Policy{{Mode: keypolicy.HMAC}, {Mode: keypolicy.Prefix, Keep: 3}} {
		h := hider(t, p)
		r := sample.Record{Table: "orders", PK: sample.KeyString(value), SK: sample.KeyString("open#" + value), Caller: value, Attrs: map[string]string{"name": value}, Time: noon.UnixMilli()}
		h.Hide(&r)
		all, err := h.Everywhere(sample.Target{Table: "orders"}, sample.KeyString(value))
		if err != nil {
			t.Fatal(err)
		}
		_, behind, _ := strings.Cut(r.SK.Text, "#")
		for _, text := range []string{r.PK.Text, behind, r.Caller, r.Attrs["name"]} {
			if !slices.Contains(all, sample.KeyString(text)) {
				t.Errorf("%s: %s is none of %v", p.Mode, text, all)
			}
		}
	}
}

// TestRollingKeysStillRoll: the pattern of a key that is named after a time is found in
// the hidden key, too, in each form that the verdict knows.
func TestRollingKeysStillRoll(t *testing.T) {
	t.Parallel()
	h := hider(t, keypolicy.Policy{Mode: keypolicy.HMAC})
	for _, layout := range []string{
		"2006-01-02T15:04:05", "2006-01-02 15:04:05", "20060102150405", "2006-01-02T15:04", "2006-01-02T15-04", "2006-01-02 15:04",
		"2006-01-02-15-04", "20060102T1504", "200601021504", "2006-01-02T15", "2006-01-02-15", "2006-01-02 15", "2006-01-02#15", "20060102T15",
		"2006010215", "2006-01-02", "2006/01/02", "2006.01.02", "20060102",
	} {
		for _, form := range []string{"%s", "smith#%s", "smith#%s#jones", "smith_%s_jones"} {
			for _, shift := range []time.Duration{-11 * time.Hour, 0, 13 * time.Hour} {
				key := fmt.Sprintf(form, noon.Add(shift).Format(layout))
				hidden := hide(h, sample.KeyString(key), noon).Text
				plain, found := keypatterns.MatchTime(key, noon), keypatterns.MatchTime(hidden, noon)
				if plain == nil || found == nil || found.Period != plain.Period {
					t.Errorf("%s rolls as %+v, %s as %+v", key, plain, hidden, found)
				}
			}
		}
	}
	for _, key := range []string{"smith#2026-W47", "smith#1795262400", "smith#1795262400000"} {
		at := time.Unix(1795262400, 0)
		if key == "smith#2026-W47" {
			at = noon
		}
		if hidden := hide(h, sample.KeyString(key), at).Text; keypatterns.MatchTime(hidden, at) == nil || keypatterns.MatchTime(key, at) == nil {
			t.Errorf("%s does not roll as %s", key, hidden)
		}
	}
}

// TestShardsAreStillShards: shards of one base have one base when hidden.
func TestShardsAreStillShards(t *testing.T) {
	t.Parallel()
	for _, form := range shardkey.Forms() {
		sharding, err := shardkey.New(12, form)
		if err != nil {
			t.Fatal(err)
		}
		names, err := sharding.All("smith#west")
		if err != nil {
			t.Fatal(err)
		}
		h := hider(t, keypolicy.Policy{Mode: keypolicy.HMAC, Shards: &form})
		bases := map[string]bool{}
		for i, name := range names {
			hidden := hide(h, sample.KeyString(name), noon).Text
			base, shard, is := form.Parse(hidden)
			if !is || shard != i || strings.Contains(hidden, "smith") {
				t.Errorf("%s becomes %s: %s %d %v", name, hidden, base, shard, is)
			}
			bases[base] = true
		}
		if len(bases) != 1 {
			t.Errorf("%s: %d bases", form, len(bases))
		}
	}
}

// TestSecretsChangeWithTime: the request's time decides, not the clock.
func TestSecretsChangeWithTime(t *testing.T) {
	t.Parallel()
	turn := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	h := keypolicy.NewHider(func(sample.Target) keypolicy.Policy { return keypolicy.Policy{Mode: keypolicy.HMAC} },
		secrets(t, "# the first\n"+line("0123456789abcdef")+"\n\n2026-12-01T00:00:00Z "+line("fedcba9876543210")+"\n"))
	key := sample.KeyString("smith")
	before, after := hide(h, key, turn.Add(-time.Millisecond)), hide(h, key, turn)
	if before == after || before != hide(hider(t, keypolicy.Policy{Mode: keypolicy.HMAC}), key, noon) || after != hide(h, key, turn.AddDate(1, 0, 0)) {
		t.Errorf("before %v, after %v", before, after)
	}
	found, err := h.Hashes(sample.Target{Table: "orders"}, key)
	if err != nil || len(found) != 2 || found[0] != before || found[1] != after {
		t.Errorf("found %v, %v", found, err)
	}
	// A date is readable near its day, and hidden in requests of other days.
	for _, dated := range []string{"smith#2026-11-21", "smith#2026-10-01T07:30#x", "2025/03/04", "smith#1795262400", "1695262400123#smith", "run#2026-W47", "2021W01", "2026-11-21#2026-11-23"} {
		key := sample.KeyString(dated)
		found, err := h.Hashes(sample.Target{Table: "orders"}, key)
		if err != nil || len(found) < 3 {
			t.Errorf("%s: found %v, %v", dated, found, err)
		}
		for at := time.Date(2020, 12, 20, 0, 0, 0, 0, time.UTC); at.Year() < 2028; at = at.Add(7 * time.Hour) {
			if stands := hide(h, key, at); !slices.Contains(found, stands) {
				t.Fatalf("%s at %s stands as %v, which is none of %v", dated, at, stands, found)
			}
		}
	}
}

func TestBadSecrets(t *testing.T) {
	t.Parallel()
	good := line("0123456789abcdef")
	for text, says := range map[string]string{
		"": "no secret", "# nothing\n": "no secret", "hunter2": "base64", line("short"): "base64",
		good + "\n" + good: "no time", "2026-12-01T00:00:00Z " + good + "\n2026-12-01T00:00:00Z " + good: "not after",
		"yesterday " + good: "cannot be read", "2026-12-01T00:00:00Z " + good + " x": "write the time",
	} {
		_, err := keypolicy.ParseSecrets(text)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", text, err, says)
		}
		if err != nil && (strings.Contains(err.Error(), good) || strings.Contains(err.Error(), "hunter2")) {
			t.Errorf("the error repeats the secret: %v", err)
		}
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]keypolicy.Policy{
		"": {Mode: keypolicy.Plain}, "plain": {Mode: keypolicy.Plain}, "hmac": {Mode: keypolicy.HMAC}, "none": {Mode: keypolicy.None},
		"prefix(4)": {Mode: keypolicy.Prefix, Keep: 4}, "prefix(64)": {Mode: keypolicy.Prefix, Keep: 64},
	} {
		if got, err := keypolicy.Parse(text); err != nil || got.Mode != want.Mode || got.Keep != want.Keep {
			t.Errorf("%q is %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"HMAC", "prefix", "prefix()", "prefix(0)", "prefix(65)", "prefix(-1)", "prefix(4", "sha256", "hmac(4)"} {
		if _, err := keypolicy.Parse(text); err == nil || !strings.Contains(err.Error(), "prefix(N)") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestKeysStayApart: whatever keys are, different ones stay different, equal ones equal,
// and no letters of a hidden part are left.
func TestKeysStayApart(t *testing.T) {
	t.Parallel()
	h, other := hider(t, keypolicy.Policy{Mode: keypolicy.HMAC}), hider(t, keypolicy.Policy{Mode: keypolicy.HMAC})
	key := rapid.Custom(func(t *rapid.T) sample.Key {
		return sample.JoinKeys(rapid.SliceOfN(rapid.Custom(func(t *rapid.T) sample.Key {
			return sample.Key{Type: rapid.SampledFrom([]string{"S", "N", "B"}).Draw(t, "type"), Text: rapid.StringMatching(`([a-zé]{1,9}|[0-9]{1,14}|2026-11-2[0-3]|[#|:/_.\\~-]){0,7}`).Draw(t, "text")}
		}), 1, 3).Draw(t, "parts")...)
	})
	words := regexp.MustCompile(`[\pL]+`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := key.Draw(t, "a"), key.Draw(t, "b")
		x, y := hide(h, a, noon), hide(h, b, noon)
		if (a == b) != (x == y) {
			t.Errorf("%v and %v become %v and %v", a, b, x, y)
		}
		if again := hide(other, a, noon); again != x {
			t.Errorf("%v becomes %v, and %v elsewhere", a, x, again)
		}
		if left := words.FindString(hashes.ReplaceAllString(x.Text, "")); left != "" {
			t.Errorf("%v becomes %v: %q is left", a, x, left)
		}
	})
}

// BenchmarkHide is what hiding costs a record, of keys that come again and of others.
func BenchmarkHide(b *testing.B) {
	for name, keys := range map[string]int{"again": 1000, "new": 1 << 20} {
		b.Run(name, func(b *testing.B) {
			h := hider(b, keypolicy.Policy{Mode: keypolicy.HMAC, Words: []string{"user"}})
			all := make([]sample.Key, keys)
			for i := range all {
				all[i] = sample.KeyString(fmt.Sprint("user#", i))
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				r := sample.Record{Table: "orders", PK: all[i%keys], Time: noon.UnixMilli()}
				h.Hide(&r)
				i++
			}
		})
	}
}
