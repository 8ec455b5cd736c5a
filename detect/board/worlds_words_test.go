package board_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/internal/analyze"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/internal/testsupport/prose"
)

var printProse = flag.Bool("prose", false, "print how long alerts and explanations of the worlds are")

// worldWords are the words about all worlds.
type worldWords struct {
	mu            sync.Mutex
	alerts, pages prose.Length
}

// checkAlerts holds the words about each finding to their budgets and to its figures: whoever
// reads its JSON form reads the same, and a list tells the same harm.
func (l *worldWords) checkAlerts(t *testing.T, w *fieldWorld, j *judged) {
	t.Helper()
	for i := range j.found {
		l.checkAlert(t, w, &j.found[i])
	}
	if j.first != nil {
		l.checkAlert(t, w, j.first)
	}
}

func (l *worldWords) checkAlert(t *testing.T, w *fieldWorld, f *detect.Finding) {
	t.Helper()
	document, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := detect.ReadFinding(document)
	if err != nil {
		t.Fatal(err)
	}
	brief := say.New(f)
	if again := say.New(&stored); !reflect.DeepEqual(brief, again) {
		t.Errorf("%s: its JSON form is told otherwise:\n%+v\n%+v", f.Case, again, brief)
	}
	if row := say.NewRow(f); !strings.HasPrefix(brief.Harm, strings.TrimSuffix(row.Harm, ".")) {
		t.Errorf("%s: a list tells the harm %q, an alert %q", f.Case, row.Harm, brief.Harm)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, fault := range l.alerts.Alert(w.Name, &brief) {
		t.Errorf("%s: %s", f.Case, fault)
	}
}

// checkPage holds the default page of `reporter analyze --explain` about the worst incident to
// its budgets.
func (l *worldWords) checkPage(t *testing.T, w *fieldWorld, j *judged) {
	t.Helper()
	keys := j.subjects()
	if len(keys) == 0 {
		return
	}
	page := w.analyze(t, analyze.Options{Explain: keys[:1]})
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, fault := range l.pages.Page(w.Name, page) {
		t.Error(fault)
	}
}

// report holds all words together to their budgets, and prints their lengths.
func (l *worldWords) report(t *testing.T) {
	t.Helper()
	for _, all := range []*prose.Length{&l.alerts, &l.pages} {
		if fault := all.Fault(); fault != "" {
			t.Error(fault)
		}
	}
	if *printProse {
		fmt.Print(l.alerts.Report("alerts"), l.pages.Report("explanations"))
	}
}

// verdictLine writes the codes and figures of an incident's root.
func verdictLine(t *testing.T, f *detect.Finding) string {
	t.Helper()
	a := casebook.New(f)
	peak, mean := detect.SideOf(f, f.Peak.WCU, f.Peak.RCU), detect.SideOf(f, f.Mean.WCU, f.Mean.RCU)
	parts := []string{
		fmt.Sprintf("%s %s %s of %s %s %q from %s", f.State, f.Severity, a.Code, f.Subject, f.Name(), f.Key, clock(f.FirstSeen)),
		harmFigures(&a.Harm),
		fmt.Sprintf("peak %s, mean %s, %.3g of the limit, %.3g of all, over %d+%d+%d s", figure(peak), figure(mean), f.Utilization, f.Share, f.SecondsOver(), f.PossibleSeconds, f.SaturatedSeconds),
		moveFigures(&a.Move),
		fmt.Sprintf("%s %s", a.Healing.Outlook, a.Healing.Ground),
	}
	for i := range f.Advice {
		parts = append(parts, stepFigures(t, &f.Advice[i]))
	}
	if a.Then != nil {
		parts = append(parts, "then "+string(a.Then.Fix))
	}
	return strings.Join(append(parts, otherFigures(f)...), "; ")
}

// clock writes the time of day.
func clock(at time.Time) string { return at.UTC().Format(time.TimeOnly) }

// figure writes an amount with its bounds.
func figure(f detect.Figure) string {
	if f.Low == f.High {
		return fmt.Sprintf("%.4g", f.Value)
	}
	return fmt.Sprintf("%.4g (%.4g to %.4g)", f.Value, f.Low, f.High)
}

// harmFigures writes what a finding costs.
func harmFigures(h *casebook.Harm) string {
	if h.None() {
		return "no harm"
	}
	text := fmt.Sprintf("%d attempts refused", h.Attempts)
	if h.Refused > 0 {
		text += fmt.Sprintf(", %s of the load from %s to %s", figure(detect.Figure{Value: h.Refused, Low: h.RefusedLow, High: h.RefusedHigh}), clock(h.From), clock(h.To))
	}
	if h.Failed > 0 {
		text += fmt.Sprintf(", %.3g failed", h.Failed)
	}
	return text
}

// moveFigures writes the action for now, whom it concerns, and the rates to keep.
func moveFigures(m *casebook.Move) string {
	text := string(m.Act)
	for _, c := range m.Callers {
		text += fmt.Sprintf(" %q %.2f", c.Text, c.Low)
	}
	if m.To > 0 {
		text += fmt.Sprintf(" from %.4g to %.4g", m.From, m.To)
	}
	if m.Total > 0 {
		text += fmt.Sprintf(" total %.4g", m.Total)
	}
	return text
}

// stepFigures writes a step's code with what it leaves and needs.
func stepFigures(t *testing.T, s *detect.Step) string {
	t.Helper()
	text := stepText(t, s)
	if s.After != nil && s.After.Low < s.After.High {
		text += fmt.Sprintf(" (from %.0f)", s.After.Low)
	}
	if s.Need != nil {
		text += fmt.Sprintf(" needs %.4g to %.4g", s.Need.Low, s.Need.High)
	}
	return text
}

// otherFigures writes what only some findings have.
func otherFigures(f *detect.Finding) (all []string) {
	if s := f.Sharding; s != nil {
		all = append(all, fmt.Sprintf("%d shards, %d needed, the hottest %q by %.2f", s.Shards, s.Needed, s.Hottest, s.Deviation))
	}
	if m := f.Members; m != nil {
		all = append(all, fmt.Sprintf("%s keys such as %q", figure(m.Count), m.Keys))
	}
	if r := f.Rolling; r != nil {
		all = append(all, fmt.Sprintf("%s %q", r.Period, r.Template))
	}
	if r := f.Ramp; r != nil {
		all = append(all, fmt.Sprintf("asks %.4g, before %.4g, serves %.4g", r.Requested, r.Previous, r.Serves))
	}
	if p := f.Partition; p != nil {
		all = append(all, fmt.Sprintf("the partition has %s WCU, %s RCU and %d cuts", figure(p.WCU), figure(p.RCU), len(p.Cuts)))
	}
	if r := f.Replication; r != nil {
		all = append(all, fmt.Sprintf("%q write %.4g", r.Regions, r.WCU))
	}
	for _, k := range f.RefusedKeys[:min(2, len(f.RefusedKeys))] {
		all = append(all, fmt.Sprintf("refused %q %.2f", k.Key, k.Share))
	}
	if f.Healed != nil {
		all = append(all, "healed at "+clock(f.Healed.Since))
	}
	return all
}
