package say_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/internal/testsupport/hostile"
	"github.com/keyheat/keyheat/sample"
)

// bounded are findings with peaks of every certainty.
func bounded() []story {
	peak := func(name string, low, high float64, change func(*detect.Finding)) story {
		return story{name, detect.KeyWrites, "merchant#4711", func(f *detect.Finding) {
			f.Peak.WCU, f.Quality.Sampling = detect.Figure{Value: low, Low: low, High: high}, detect.SamplingNone
			change(f)
		}}
	}
	return []story{
		peak("every request has a sample", 1323, 1323, func(*detect.Finding) {}),
		peak("other keys share a counter", 1323, 1350, func(*detect.Finding) {}),
		peak("sampled by call", 1323, 1350, func(f *detect.Finding) { f.Quality.Sampling = detect.SamplingByCall }),
		peak("an unknown method", 1323, 1350, func(f *detect.Finding) { f.Quality.Sampling = detect.SamplingUnknowable }),
		peak("computed units", 1323, 1323, func(f *detect.Finding) { f.Quality.Estimated = new(true) }),
		peak("batches", 1323, 1323, func(f *detect.Finding) { f.Quality.CannotSee = []string{detect.BlindSeconds} }),
		peak("other Regions", 1323, 1323, func(f *detect.Finding) { f.Replication = &detect.Replication{WCU: 500} }),
	}
}

// rich is a finding with every figure.
func rich(f *detect.Finding) {
	f.Peak = detect.Peak{Loads: detect.Loads{WCU: detect.Figure{Value: 1680, Low: 1680, High: 1680}, RCU: detect.Figure{Value: 40, Low: 40, High: 40}}, At: f.FirstSeen}
	f.Mean.WCU, f.Seconds, f.Through = detect.Figure{Value: 1500, Low: 1500, High: 1500}, 30, f.LastSeen
	f.Utilization, f.Share, f.Consumed.WCU, f.OverSeconds = 1.68, 0.79, 1000, new(20)
	f.Throttling = &detect.Throttling{From: f.FirstSeen, To: f.LastSeen, Units: 20_400, Share: 0.4}
	f.State = detect.Resolved
	f.Evidence = &detect.Evidence{
		Records: 400, Seconds: 16, ItemBytes: 2048, SortKeys: &detect.SortKeys{Distinct: 97}, ChangedShare: new(0.12),
		Operations: []detect.Operation{{Op: "PutItem", Share: 0.9}, {Op: "UpdateItem", Share: 0.1}},
		Callers:    []detect.Part{{Text: "web", Low: 0.48, High: 0.52}}, Attributes: []detect.Part{{Text: "seen_at", Low: 0.9, High: 0.9}},
		Split:   &detect.Split{Direction: detect.Rising},
		Retries: &detect.Retries{SentCalls: detect.SentCalls{Attempts: 420, Calls: 100, Amplification: 4.2}, Seconds: 60, Callers: []detect.CallerRetries{{Caller: "job", Share: 0.77, Failed: 18, SentCalls: detect.SentCalls{Calls: 71, Attempts: 300, Amplification: 4.2}}}},
		Refused: map[string]int64{sample.KeyRange.String(): 900},
	}
}

// digits are all figures of a line.
var digits = regexp.MustCompile(`[0-9][0-9,.:]*`)

// TestFigures holds the load, the bounds and the requests of findings, and the words about keys
// without a finding, to a golden file.
func TestFigures(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	write := func(all []say.Line) {
		for _, l := range all {
			fmt.Fprintf(&text, "%s: %s\n", l.Name, l.Text)
		}
	}
	every, seen := story{"every figure", detect.KeyWrites, "merchant#4711", rich}, map[string]bool{}
	write(say.Figures(every.finding()))
	write(say.Requests(every.finding()))
	for _, code := range casebook.Codes() { // the forms of lines that no case before has
		f := caseFinding(t, code)
		for _, l := range append(say.Figures(f), say.Requests(f)...) {
			if form := l.Name + digits.ReplaceAllString(l.Text, ""); !seen[form] {
				fmt.Fprintf(&text, "%s, %s: %s\n", code, l.Name, l.Text)
				seen[form] = true
			}
		}
	}
	text.WriteString("=== bounds\n")
	for _, s := range bounded() {
		f := s.finding()
		fmt.Fprintf(&text, "%s: %s\n", s.name, say.Bounds(f, detect.Table{}, 1323))
		fmt.Fprintf(&text, "%s, chart: %s\n", s.name, say.ChartNote(f, 1))
	}
	first := bounded()[0]
	fmt.Fprintf(&text, "many samples have one time: %s\n", say.Bounds(first.finding(), detect.Table{}, 1348))
	fmt.Fprintf(&text, "a sampled table: %s\n", say.Bounds(first.finding(), detect.Table{Provable: detect.Unseen{WCU: 1710}}, 0))
	fmt.Fprintf(&text, "a long chart: %s\n", say.ChartNote(first.finding(), 90))
	sampled := bounded()[2]
	write(say.Proof(sampled.finding(), detect.Table{Provable: detect.Unseen{WCU: 1710, RCU: 4200}, Unseen: detect.Unseen{WCU: 12, RCU: 4}}))
	text.WriteString("=== no finding\n" + say.NotInSamples("merchant#4711") + "\n")
	for _, highest := range []float64{0.3, 0.8, 1.8} {
		text.WriteString(say.NoFinding("k", highest, &detect.Table{}, detect.DefaultPolicy()) + "\n")
	}
	text.WriteString(say.NoFinding("k", 0.5, &detect.Table{Resolution: 60}, detect.DefaultPolicy()) + "\n")
	text.WriteString(say.NoFinding("k#1", 1.8, &detect.Table{}, detect.Policy{Warning: 0.8, Exclude: []string{"k#*"}}) + "\n")
	for _, code := range []detect.Case{casebook.SharedPartition, casebook.ShortOfCapacity, casebook.TooFewShards, casebook.LargeCollection} {
		fmt.Fprintf(&text, "%s: %s\n", code, say.Concern(caseFinding(t, code)))
	}
	write(say.CalmLoad(700_000, 40_000, true))
	write(say.CalmMean(detect.Figure{Value: 12, Low: 12, High: 12}, detect.Figure{}, 600))
	compareGolden(t, "testdata/figures.txt", text.String())
}

// TestHostileFigures gives every text field of findings an attack.
func TestHostileFigures(t *testing.T) {
	t.Parallel()
	m := hostile.New(9)
	for n := range 2000 {
		f := m.Finding(hostile.Abouts()[n%len(hostile.Abouts())])
		f.FirstSeen = time.Unix(1763692032, 0)
		texts := []string{say.Bounds(&f, detect.Table{}, 0), say.ChartNote(&f, 1), say.Concern(&f), say.NotInSamples(sample.Text(m.Text()))}
		for _, l := range append(say.Figures(&f), say.Requests(&f)...) {
			texts = append(texts, l.Text)
		}
		for _, text := range texts {
			if wrong := hostile.FaultOfSentence(text); wrong != "" {
				t.Fatalf("%s lets %s through: %q", f.About(), wrong, text)
			}
		}
	}
}
