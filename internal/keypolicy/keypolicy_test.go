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

	"github.com/keyheat/keyheat/internal/keypolicy"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/position"
)

var (
	noon   = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	hashes = regexp.MustCompile(`~[A-Za-z0-9_-]{22}`)
)

func line(key string) string { return base64.StdEncoding.EncodeToString([]byte(key)) }

func secrets(t testing.TB, text string) keypolicy.Secrets {
	t.Helper()
	all, err := keypolicy.ParseSecrets(text)
	must.Succeed(t, err)
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
		{keypolicy.Policy{Mode: keypolicy.HMAC, Positions: true}, "by-day", "jane", false},
		{keypolicy.Policy{Mode: keypolicy.Prefix, Keep: 4, Positions: true}, "", "jane", false},
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
	hmac := keypolicy.Policy{Mode: keypolicy.HMAC}
	for _, c := range []struct {
		policy    keypolicy.Policy
		key, want string
	}{
		{hmac, "user#42", "H"},
		{hmac, "2026-11-21", "H"},
		{hmac, "smith#SHARD_7", "H"},
		{hmac, "", ""},
		{keypolicy.Policy{Mode: keypolicy.Prefix, Keep: 3}, "smith#42", "smiH"},
		{keypolicy.Policy{Mode: keypolicy.Prefix, Keep: 3}, "äöü-ß", "äöüH"},
		{keypolicy.Policy{Mode: keypolicy.Prefix, Keep: 3}, "abc", "abc"},
		{keypolicy.Policy{Mode: keypolicy.Plain}, "smith", "smith"},
		{keypolicy.Policy{}, "smith", "smith"},
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
	for _, p := range []keypolicy.Policy{{Mode: keypolicy.HMAC}, {Mode: keypolicy.Prefix, Keep: 5}} {
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

// TestEverywhere: each form of a value in a record is found.
func TestEverywhere(t *testing.T) {
	t.Parallel()
	const value = "smith"
	for _, p := range []keypolicy.Policy{{Mode: keypolicy.HMAC}, {Mode: keypolicy.Prefix, Keep: 3}} {
		h := hider(t, p)
		r := sample.Record{Table: "orders", PK: sample.KeyString(value), SK: sample.KeyString(value), Caller: value, Attrs: map[string]string{"name": value}, Time: noon.UnixMilli()}
		h.Hide(&r)
		all := h.Everywhere(sample.Target{Table: "orders"}, sample.KeyString(value))
		for _, text := range []string{r.PK.Text, r.SK.Text, r.Caller, r.Attrs["name"]} {
			if !slices.Contains(all, sample.KeyString(text)) {
				t.Errorf("%s: %s is none of %v", p.Mode, text, all)
			}
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
	found := h.Hashes(sample.Target{Table: "orders"}, key)
	if len(found) != 2 || found[0] != before || found[1] != after {
		t.Errorf("found %v", found)
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
		"": {Mode: keypolicy.Plain}, "plain": {Mode: keypolicy.Plain}, "hmac": {Mode: keypolicy.HMAC},
		"prefix(4)": {Mode: keypolicy.Prefix, Keep: 4}, "prefix(64)": {Mode: keypolicy.Prefix, Keep: 64},
	} {
		if got, err := keypolicy.Parse(text); err != nil || got.Mode != want.Mode || got.Keep != want.Keep {
			t.Errorf("%q is %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"HMAC", "prefix", "prefix()", "prefix(0)", "prefix(65)", "prefix(-1)", "prefix(4", "sha256", "hmac(4)", "none"} {
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
			return sample.Key{Type: rapid.SampledFrom([]string{"S", "N", "B"}).Draw(t, "type"), Text: rapid.StringMatching(`([a-zé]{1,9}|[0-9]{1,14}|[#|:/_.\\~-]){0,7}`).Draw(t, "text")}
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
			h := hider(b, keypolicy.Policy{Mode: keypolicy.HMAC})
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
