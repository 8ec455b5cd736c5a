package analyze_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/analyze"
	"github.com/keyheat/keyheat/sample"
)

// shopping is the traffic of a shop's orders over two days, a minute of each, with
// what its key might be in attributes. Orders are numbered as they come, and
// each is written about five times soon after.
func shopping() string {
	random := rand.New(rand.NewPCG(11, 21))
	devices := rand.NewZipf(random, 1.1, 4, 20_000)
	pick := func(values ...string) string { return values[random.IntN(len(values))] }
	var text []byte
	number := 100_000
	for second := range 120 {
		at := noon.Add(time.Duration(second%60)*time.Second + time.Duration(second/60)*24*time.Hour)
		for i := range 600 {
			if i%5 == 0 {
				number++
			}
			status, country, tenant := "OPEN", "US", "tenant#1"
			if random.Float64() > 0.8 {
				status = pick("PAID", "SENT", "DONE", "LOST")
			}
			if random.Float64() > 0.4 {
				country = pick("DE", "FR", "GB", "JP", "IN", "BR", "MX", "ES", "IT", "CA")
			}
			if random.Float64() > 0.4 {
				tenant = fmt.Sprint("tenant#", 2+random.IntN(3000))
			}
			text = (&sample.Record{
				Time: at.UnixMilli(), Table: "orders", PK: sample.KeyString(fmt.Sprint("order#", number-random.IntN(30))),
				SK: sample.KeyString(fmt.Sprint("item#", random.IntN(9))), Op: sample.UpdateItem, WCU: 1000, Rate: 1, N: 1,
				Attrs: map[string]string{
					"user": fmt.Sprint("user#", random.IntN(50_000)), "device": fmt.Sprint("device#", devices.Uint64()),
					"tenant": tenant, "country": country, "status": status, "all": "ALL",
				},
			}).AppendJSON(text)
			text = append(text, '\n')
		}
	}
	return string(text)
}

func candidates(t *testing.T, keys ...string) (all []analyze.Candidate) {
	t.Helper()
	for _, text := range keys {
		c, err := analyze.ParseCandidate(text)
		must(t, err)
		all = append(all, c)
	}
	return all
}

func runWith(t *testing.T, text string, o analyze.Options) (r analyze.Result) {
	t.Helper()
	var out bytes.Buffer
	o.Paths, o.In, o.Out, o.Format = []string{"-"}, strings.NewReader(text), &out, analyze.FormatJSON
	must(t, analyze.Run(t.Context(), o))
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(out.Bytes()))
	must(t, err)
	must(t, schema(t).Validate(document))
	must(t, json.Unmarshal(out.Bytes(), &r))
	return r
}

// The eight candidate keys, from excellent to catastrophic.
func TestCandidatesAreRanked(t *testing.T) {
	t.Parallel()
	want := []struct {
		candidate string
		verdict   detect.DesignVerdict
		template  string
	}{
		{"user", detect.DesignExcellent, "user#<id>"},
		{"device", detect.DesignGood, "device#<id>"},
		{"pk", detect.DesignGood, "order#<id>"},
		{"tenant", detect.DesignWatch, "tenant#<id>"},
		{"@date", detect.DesignPoor, "<date>"},
		{"country", detect.DesignVeryPoor, "<word>"},
		{"status", detect.DesignVeryPoor, "<word>"},
		{"all", detect.DesignCatastrophic, "ALL"},
	}
	var all []string
	for _, c := range want {
		all = append(all, c.candidate)
	}
	slices.Reverse(all)
	r := runWith(t, shopping(), analyze.Options{Candidates: candidates(t, all...)})
	if len(r.Candidates) != len(want) {
		t.Fatalf("%d candidates, want %d", len(r.Candidates), len(want))
	}
	// Among equals the one with the cooler hottest second comes first: numbered
	// orders before devices with power users.
	want[1], want[2] = want[2], want[1]
	for i, c := range r.Candidates {
		if c.Candidate != want[i].candidate || c.View.Design.Verdict != want[i].verdict || string(c.View.Template.Pattern) != want[i].template {
			t.Errorf("place %d: %s is %s (%s) with %s, want %+v", i, c.Candidate, c.View.Design.Verdict, c.View.Design.Rule, c.View.Template.Pattern, want[i])
		}
	}
	status := r.Candidates[6].View
	if math.Abs(*status.Ceiling.WCU-1250) > 25 || math.Abs(status.Hottest.WCU-480) > 60 {
		t.Errorf("status carries %.0f, its hottest second has %.0f", *status.Ceiling.WCU, status.Hottest.WCU)
	}
	present := r.Tables[0].View
	if present == nil || present.Design != r.Candidates[1].View.Design || present.Hottest != r.Candidates[1].View.Hottest {
		t.Errorf("the present key is %+v, as a candidate %+v", present, r.Candidates[1].View)
	}
}

func TestCandidatesThatSpread(t *testing.T) {
	t.Parallel()
	r := runWith(t, shopping(), analyze.Options{Candidates: candidates(t, "tenant#user", "status#@date", "status#hash(pk)%8", "nobody", "tenant#nobody")})
	views := map[string]analyze.CandidateView{}
	for _, c := range r.Candidates {
		views[c.Candidate] = c
	}
	if v := views["tenant#user"].View; v.Design.Verdict != detect.DesignExcellent {
		t.Errorf("tenant#user is %+v", v.Design)
	}
	if v := views["status#@date"].View; v.Template.Pattern != "<word>#<date>" || v.DistinctKeys.Value != 10 {
		t.Errorf("status#@date has %g keys like %s", v.DistinctKeys.Value, v.Template.Pattern)
	}
	if v := views["status#hash(pk)%8"].View; v.DistinctKeys.Value != 40 || v.Hottest.WCU < 60 || v.Hottest.WCU > 160 {
		t.Errorf("8 shards of 5 states have %g keys and a hottest second of %.0f", v.DistinctKeys.Value, v.Hottest.WCU)
	}
	for _, name := range []string{"nobody", "tenant#nobody"} {
		if c := views[name]; c.View != nil || c.Without != r.Samples.Good {
			t.Errorf("%s: %+v, want no view of %d samples", name, c, r.Samples.Good)
		}
	}
}

func TestParseCandidate(t *testing.T) {
	t.Parallel()
	r := &sample.Record{
		Time: noon.UnixMilli(), PK: sample.KeyString("a"), SK: sample.KeyString("b"), Attrs: map[string]string{"tenant": "t", "empty": ""},
	}
	for text, want := range map[string]string{
		"pk": "a", "sk#pk": "b#a", "tenant#@date": "t#2026-11-21", "@hour": "2026-11-21T12", "@month#tenant": "2026-11#t",
		"missing": "", "empty": "", "pk#empty": "",
	} {
		c, err := analyze.ParseCandidate(text)
		must(t, err)
		key, ok := c.Key(r)
		if ok != (want != "") || key.Text != want || c.String() != text {
			t.Errorf("%s is %q, want %q", text, key.Text, want)
		}
	}
	c := candidates(t, "pk#hash(sk)%8")[0]
	if key, ok := c.Key(r); !ok || !strings.HasPrefix(key.Text, "a#") || len(key.Text) != 3 {
		t.Errorf("the sharded key is %q", key.Text)
	}
	for text, says := range map[string]string{
		"": "empty", "a##b": "empty", "@week": "@date", "hash(a)%2": "pk#hash(a)%2", "pk#hash(a)": "hash(sk)%8",
		"pk#hash(a)%0": "0 shards", "pk#hash(a)%2#b": "comes last", "pk#hash(a)%99999999": "shards",
	} {
		if _, err := analyze.ParseCandidate(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want an error that says %q", text, err, says)
		}
	}
}

// What a person reads fits 120 characters and names every candidate.
func TestTheTablesFitATerminal(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	must(t, analyze.Run(t.Context(), analyze.Options{
		Paths: []string{"-"}, In: strings.NewReader(shopping()), Out: &out,
		Candidates: candidates(t, "tenant#user", "status", "a-name-that-is-quite-long#and-another-that-is-even-longer"),
	}))
	for row := range strings.Lines(out.String()) {
		if n := utf8.RuneCountInString(strings.TrimRight(row, "\n")); n > 120 {
			t.Errorf("%d characters: %s", n, row)
		}
	}
	for _, want := range []string{"(present)", "tenant#user", "very poor", "order#<id>", "most load: ", "no sample has every part"} {
		if !strings.Contains(strings.Join(strings.Fields(out.String()), " "), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
	if testing.Verbose() {
		t.Log(out.String())
	}
}

// TestAnIncompleteCandidateIsNotJudged holds that a key is not called good after the hot
// part of the load was left out, because its records have no sort key.
func TestAnIncompleteCandidateIsNotJudged(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		hot    int
		judged bool
	}{{2000, false}, {20, false}, {2, true}} {
		var text strings.Builder
		for second := range 90 {
			at := noon.Add(time.Duration(second) * time.Second).UnixMilli()
			fmt.Fprintf(&text, `{"ts":%d,"table":"orders","pk":"hot","op":"PutItem","wcu":%d}`+"\n", at, c.hot)
			for i := range 270 {
				fmt.Fprintf(&text, `{"ts":%d,"table":"orders","pk":"t%d","sk":"%d","op":"PutItem","wcu":1}`+"\n", at, i, second)
			}
		}
		r := runWith(t, text.String(), analyze.Options{Candidates: candidates(t, "pk#hash(sk)%8")})
		got := r.Candidates[0]
		want := float64(c.hot) / float64(c.hot+270)
		if judged := got.View.Design.Rule != detect.RuleIncomplete; judged != c.judged || math.Abs(got.WithoutShare-want) > 1e-9 || got.Without != 90 {
			t.Errorf("%d of %d units are left out: %+v", c.hot, c.hot+270, got.View.Design)
		}
	}
}
