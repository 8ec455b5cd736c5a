package analyze_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/analyze"
)

var evalFiles = flag.Int("eval.files", 20, "how many files with times in whole seconds the evaluation makes")

// TestWholeSecondFiles holds files whose times are all whole seconds to an exact oracle:
// the seconds of each key above the limit, with recall and precision 1.
func TestWholeSecondFiles(t *testing.T) {
	t.Parallel()
	over, claimed, right := 0, 0, 0
	for seed := range *evalFiles {
		random := rand.New(rand.NewPCG(27, uint64(seed)))
		seconds, callers, every := 3+random.IntN(180), random.IntN(3), 1+random.IntN(30)
		var text strings.Builder
		truth, highest := map[string]int{}, map[string]float64{}
		for s := range seconds {
			for key := range 4 {
				units := random.IntN(900)
				if key < 2 && s%every == 0 { // bursts, or a load in every second
					units = 500 + random.IntN(1500)
				}
				if key == 3 {
					units *= random.IntN(2) // often none at all
				}
				name := fmt.Sprintf("key%d", key)
				truth[name] += 0
				if units > 1000 {
					truth[name]++
				}
				highest[name] = max(highest[name], float64(units))
				for left := units; left > 0; {
					each := min(left, 1+random.IntN(50))
					caller := ""
					if callers > 0 {
						caller = fmt.Sprintf(`,"caller":"svc-%d"`, random.IntN(callers))
					}
					fmt.Fprintf(&text, `{"ts":%d,"table":"orders","pk":%q,"op":"PutItem","wcu":%d%s}`+"\n", noon.UnixMilli()+1000*int64(s), name, each, caller)
					left -= each
				}
			}
		}
		found := map[string]int{}
		r := result(t, text.String())
		for i := range r.Findings {
			if f := &r.Findings[i]; f.Subject == detect.KeyWrites {
				found[string(f.Key)] = f.SecondsOver()
				if got := f.Peak.WCU.Value; f.SecondsOver() > 0 && got != highest[string(f.Key)] {
					t.Errorf("file %d: the highest second of %s has %v, found %v", seed, f.Key, highest[string(f.Key)], got)
				}
			}
		}
		if len(r.Doubts) > 0 {
			t.Errorf("file %d: %d doubts", seed, len(r.Doubts))
		}
		for key, n := range truth {
			over, claimed, right = over+n, claimed+found[key], right+min(n, found[key])
			if n != found[key] {
				t.Errorf("file %d: %s is over in %d seconds, found in %d", seed, key, n, found[key])
			}
		}
	}
	t.Logf("%d files: recall %.3f, precision %.3f of %d seconds over the limit", *evalFiles, detect.Ratio(float64(right), float64(over)), detect.Ratio(float64(right), float64(claimed)), over)
}

// TestRepeatedIDs counts a line twice in a file once, and reports it.
func TestRepeatedIDs(t *testing.T) {
	t.Parallel()
	line := fmt.Sprintf(`{"ts":%d,"table":"orders","pk":"acme","op":"PutItem","wcu":600,"id":"r-1"}`, noon.UnixMilli())
	r := result(t, line+"\n"+line+"\n"+strings.ReplaceAll(line, "r-1", "r-2"))
	if r.Tables[0].WCU != 1200 || r.Samples.Good != 2 || r.Samples.Bad["duplicate"] != 1 || *r.Samples.Share != 1 {
		t.Errorf("counted %v units of %+v", r.Tables[0].WCU, r.Samples)
	}
}

// TestDoubtedTable tells the doubts on the page of a table, whose keys then do not all
// have little.
func TestDoubtedTable(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for s := range 300 {
		for i := range 20 {
			fmt.Fprintf(&text, `{"ts":%d,"table":"orders","pk":"c%d","op":"PutItem","wcu":1}`+"\n", noon.UnixMilli()+1000*int64(s)+47*int64(i), (20*s+i)*7919%5000)
		}
	}
	text.WriteString(strings.Repeat(fmt.Sprintf(`{"ts":%d,"table":"orders","pk":"acme","op":"PutItem","wcu":1}`+"\n", noon.UnixMilli()+200_517), 2000))
	var out bytes.Buffer
	must(t, analyze.Run(t.Context(), analyze.Options{Paths: []string{"-"}, In: strings.NewReader(text.String()), Out: &out, Explain: []string{"orders"}}))
	page := strings.Join(strings.Fields(out.String()), " ")
	if !strings.Contains(page, "May have been over the limit: acme, up to 2,000 WCU/s.") || strings.Contains(page, "Nothing is wrong") ||
		!strings.Contains(page, "none has 1% of the writes for long: “acme” had 25% of the load in a short time.") {
		t.Errorf("the page is\n%s", out.String())
	}
}

// TestManyRepeatedIDs warns on the first line, and fails a pipeline, where the items of a
// call share an id and lack sort keys.
func TestManyRepeatedIDs(t *testing.T) {
	t.Parallel()
	item := fmt.Sprintf(`{"ts":%d,"table":"orders","pk":"acme","op":"BatchWriteItem","wcu":1,"id":"b-1"}`+"\n", noon.UnixMilli())
	other := strings.ReplaceAll(item, "b-1", "b-%d")
	for repeats, warns := range map[int]bool{25: true, 2: false} {
		text := strings.Repeat(item, repeats)
		for i := range 24 {
			text += fmt.Sprintf(other, 2+i)
		}
		var out bytes.Buffer
		err := analyze.Run(t.Context(), analyze.Options{Paths: []string{"-"}, In: strings.NewReader(text), Out: &out, FailOn: detect.Warning})
		if (err != nil) != warns || strings.HasPrefix(out.String(), "No hot keys in what was counted. 24 of 49 samples repeat") != warns {
			t.Errorf("%d of one id: %v\n%s", repeats, err, out.String())
		}
	}
}

// TestDoubtedTimes holds what may have been over, on the first line and for a pipeline,
// to times that may be a flush's and to samples that prove too little. It holds severity
// to be the same in each millisecond.
func TestDoubtedTimes(t *testing.T) {
	t.Parallel()
	records := func(n, wcu int, millis ...int) string {
		var text strings.Builder
		for _, ms := range millis {
			for range n {
				fmt.Fprintf(&text, `{"ts":%d,"table":"orders","pk":"acme","op":"PutItem","wcu":%d}`+"\n", noon.UnixMilli()+int64(ms), wcu)
			}
		}
		return text.String()
	}
	drawn := func(n int) string { // 240 folded seconds, each drawn as one record in ten
		var text strings.Builder
		for s := range 240 {
			fmt.Fprintf(&text, `{"ts":%d,"table":"orders","pk":"acme","op":"UpdateItem","wcu":1,"n":%d,"rate":0.1,"caller":"api"}`+"\n", noon.UnixMilli()+1000*int64(s)+500, n)
		}
		return text.String()
	}
	for _, c := range []struct {
		name, text, first string
		fails             string
		critical          bool
	}{
		{"one time in a whole second", records(2000, 10, 0), "", "found", true},
		{"two whole seconds of a minute", records(300, 10, 20_000, 21_000, 80_000, 81_000), "", "found", true},
		{"one time with milliseconds", records(2000, 10, 417), "May have been over the limit: acme, up to 20,000 WCU/s.", "may have been over", false},
		{"two flushes", records(300, 10, 417, 60_417), "May have been over the limit: acme, up to 3,000 WCU/s.", "may have been over", false},
		{"below the limit", records(90, 10, 417), "No hot keys.", "", false},
		{"few draws, whose mean's interval is over the limit", drawn(150), "May have been over the limit: acme, up to 1,500 WCU/s.", "may have been over", false},
		{"few draws, whose mean is below the limit", drawn(90), "No hot keys.", "", false},
	} {
		var out bytes.Buffer
		err := analyze.Run(t.Context(), analyze.Options{Paths: []string{"-"}, In: strings.NewReader(c.text), Out: &out, FailOn: detect.Warning})
		first, _, _ := strings.Cut(out.String(), "\n")
		if !strings.HasPrefix(first, c.first) {
			t.Errorf("%s: the first line is %q", c.name, first)
		}
		if err == nil != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) || errors.Is(err, analyze.ErrFound) != c.critical {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	for _, ms := range []int{0, 417, 999} {
		var text strings.Builder
		for s := range 30 {
			at := ms
			if ms == 999 {
				at = (s * 377) % 1000
			}
			fmt.Fprintf(&text, `{"ts":%d,"table":"orders","pk":"acme","op":"PutItem","wcu":1,"n":1500}`+"\n", noon.UnixMilli()+1000*int64(s)+int64(at))
		}
		r := result(t, text.String())
		if len(r.Findings) == 0 || r.Findings[0].Severity != detect.Critical || r.Findings[0].SecondsOver() != 30 || r.Findings[0].Quality.InBatches() {
			t.Errorf("at %d ms: %d findings, %+v", ms, len(r.Findings), r.Incidents)
		}
	}
}

// TestLowerBoundsPassNothing: samples without units and sizes count as the least that they can
// cost, so that no key is known to be below a limit.
func TestLowerBoundsPassNothing(t *testing.T) {
	t.Parallel()
	text := strings.Repeat(`{"ts":1763692032000,"table":"orders","pk":"a","op":"PutItem"}`+"\n", 600)
	for _, c := range []struct {
		text string
		pass bool
	}{{text, false}, {strings.ReplaceAll(text, `"PutItem"`, `"PutItem","wcu":1`), true}} {
		var out bytes.Buffer
		err := analyze.Run(t.Context(), analyze.Options{Paths: []string{"-"}, In: strings.NewReader(c.text), Out: &out, FailOn: detect.Critical})
		if (err == nil) != c.pass || errors.Is(err, analyze.ErrFound) {
			t.Errorf("pass %t: %v", c.pass, err)
		}
		if err != nil && !strings.Contains(err.Error(), "lower bounds") {
			t.Errorf("the error does not say why: %v", err)
		}
	}
}
