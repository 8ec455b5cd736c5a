package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/detect/recipe"
	"github.com/keyheat/keyheat/detect/whatif"
	"github.com/keyheat/keyheat/internal/chart"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/internal/web/address"
	"github.com/keyheat/keyheat/internal/web/heatmap"
	"github.com/keyheat/keyheat/internal/web/overview"
	"github.com/keyheat/keyheat/store"
)

type findingPage struct {
	frame
	F detect.Finding
	// Said is the finding in ten seconds.
	Said  say.Brief
	Steps []step
	Chart *chart.Seconds
	// WhatIf is nil where no seconds are stored, or the finding is not of a key. Asked
	// reports that the address has a question.
	WhatIf  *whatIf
	Asked   bool
	History []store.Transition
	// Others are the other findings of the incident, and More how many are not listed.
	Others []detect.Finding
	More   int
	// Silenced is the silence of the finding's incident, nil for none. MaySilence reports
	// that the incident is not over, and the reader may add one.
	Silenced   *detect.Silenced
	MaySilence bool
}

type step struct {
	detect.Step
	// Bars are the load now and after the step. They are nil if the load after is unknown,
	// or the same as after the step before.
	Bars []chart.Bar
	// Takes is the effort, and Facts are the facts that nothing else on the card has.
	Takes string
	Facts []say.Line
	// Code is for the application; empty for a step without key shards.
	Code []code
}

func newSteps(f *detect.Finding) []step {
	steps, shown := casebook.Steps(f), new(detect.After)
	all := make([]step, len(steps))
	now := chart.NewBar("Now", ofLimit(*f)+" of the limit", shareOfLimit(f))
	code := codeOf(f)
	for i := range steps {
		s := step{Step: steps[i], Takes: say.Takes(&steps[i])}
		if s.After != nil && *s.After != *shown {
			shown = s.After
			s.Bars = []chart.Bar{now, chart.NewBar("Then", say.LeavesOfLimit(&s.Step), s.After.HighUtilization)}
		}
		s.Facts = slices.DeleteFunc(say.StepFacts(f, &s.Step), func(l say.Line) bool { return l.Text == s.Takes })
		if s.Names != nil {
			s.Code, code = code, nil
		}
		all[i] = s
	}
	return all
}

type code struct{ Language, Text string }

// codeOf returns the code of a finding's shards; nothing where no step makes some.
func codeOf(f *detect.Finding) (all []code) {
	names := map[recipe.Language]string{recipe.Go: "Go", recipe.Python: "Python", recipe.Node: "Node"}
	for _, l := range recipe.Languages() {
		if text, known := recipe.Code(f, recipe.Attributes{}, l); known {
			all = append(all, code{names[l], text})
		}
	}
	return all
}

func (s *Site) finding(ctx context.Context, r *http.Request) (any, error) {
	f, err := s.loadFinding(ctx, r)
	if err != nil {
		return nil, err
	}
	page := &findingPage{F: f, Said: say.New(&f), Steps: newSteps(&f), Asked: r.URL.Query().Has("shards")}
	if page.frame, err = s.frame(ctx, r.URL.Query(), subject(f.Subject, f.Case, f.Key), "finding"); err != nil {
		return nil, err
	}
	if page.History, err = s.store.FindingHistory(ctx, f.Fingerprint); err != nil {
		return nil, err
	}
	if err := s.findIncident(ctx, page); err != nil {
		return nil, err
	}
	if page.Others, page.More, err = overview.Others(ctx, s.store, f.Incident, f.Fingerprint, maxOthers); err != nil {
		return nil, err
	}
	if f.Subject.OfPipeline() {
		return page, nil
	}
	return page, s.showLoad(ctx, r.URL.Query(), page)
}

// showLoad loads a key's load over time, and the effect of key shards on it.
func (s *Site) showLoad(ctx context.Context, values url.Values, page *findingPage) (err error) {
	f := &page.F
	chosen, err := readTime(values, heatmap.EpisodeRange(f, page.Now))
	if err != nil {
		return err
	}
	page.chooseTime("/findings/"+f.Fingerprint, nil, chosen, "Episode")
	if page.Chart, err = heatmap.LoadSeconds(ctx, s.store, f, chosen); err != nil || !f.Subject.OfKey() {
		return err
	}
	answer, err := s.ask(ctx, values, f)
	if errors.Is(err, errNoSeconds) {
		return nil
	}
	if err == nil {
		page.WhatIf = newWhatIf(answer, f)
	}
	return err
}

const maxOthers = 100

// The bounds of a question.
const (
	maxShards = 200
	maxGrowth = 20
)

// A question is answered from the end of a finding's time, as long as this, and from what
// came shortly after it.
const questionSpan, questionAfter = 6 * time.Minute, 30 * time.Second

const errNoSeconds missing = "the seconds of this key are not stored, or no longer kept"

// whatIf is a question about a finding's key with its answer, as a page shows it.
type whatIf struct {
	*whatif.Answer
	// Most is the highest number of shards that can be asked for, and MostGrowth the
	// highest factor.
	Most, MostGrowth int
	Bars             []chart.Bar
}

func (s *Site) apiWhatIf(ctx context.Context, r *http.Request) (any, error) {
	f, err := s.loadFinding(ctx, r)
	if err != nil {
		return nil, err
	}
	answer, err := s.ask(ctx, r.URL.Query(), &f)
	return map[string]any{"what_if": answer}, err
}

// ask answers an address's question from the stored seconds of a finding's episode. The
// policy of its table sets the headroom of key shards.
func (s *Site) ask(ctx context.Context, values url.Values, f *detect.Finding) (*whatif.Answer, error) {
	q, err := parseQuestion(values, f)
	if err != nil {
		return nil, err
	}
	from := f.FirstSeen
	if earliest := f.LastSeen.Add(-questionSpan); from.Before(earliest) {
		from = earliest
	}
	rows, err := s.store.Windows(ctx, store.WindowQuery{Target: f.Target, From: from, To: f.LastSeen.Add(questionAfter)})
	if err != nil {
		return nil, err
	}
	var seconds []whatif.Second
	for _, row := range rows {
		w, err := heatmap.ReadWindow(row)
		if err != nil {
			return nil, err
		}
		for i := range w.Keys {
			if k := &w.Keys[i]; k.Key == f.PartitionKey() {
				seconds = append(seconds, whatif.Second{At: w.Second, Low: k.Low, Err: k.Err, Requests: k.Requests})
				break
			}
		}
	}
	answer := whatif.Ask(q, f.Target, seconds, s.options.Policy(f.Target))
	if answer == nil {
		return nil, errNoSeconds
	}
	answer.Agree(f)
	return answer, nil
}

// parseQuestion reads key shards and growth from an address. Missing values are the
// finding's own number of shards, and no growth.
func parseQuestion(values url.Values, f *detect.Finding) (q whatif.Question, err error) {
	q = whatif.Question{Key: f.Key, Factor: 1}
	if q.Shards, err = address.ReadNumber(values, "shards", max(1, f.Shards), maxShards); err != nil {
		return q, err
	}
	if text := values.Get("growth"); text != "" {
		if q.Factor, err = strconv.ParseFloat(text, 64); err != nil || !(q.Factor > 0 && q.Factor <= maxGrowth) {
			return q, badRequest{Err: fmt.Errorf("growth %q: give a number above 0, at most %d", text, maxGrowth)}
		}
	}
	return q, nil
}

// newWhatIf lays an answer about a finding's key out.
func newWhatIf(a *whatif.Answer, f *detect.Finding) *whatIf {
	w := &whatIf{Answer: a, Most: min(maxShards, max(16, 4*f.Shards, a.Shards)), MostGrowth: maxGrowth}
	bar := func(name string, load float64) {
		w.Bars = append(w.Bars, chart.NewBar(name, fmt.Sprintf("%s %s/s, %s", wording.About(load), a.Unit, wording.Percent(load/a.Limit)), load/a.Limit))
	}
	bar("The key as it is, in its highest second", a.Peak)
	bar("One of even shards", a.PerShard)
	if a.Shards > 1 {
		bar("The fullest shard with a random suffix, in 95 of 100 cases", a.FullestP95)
	}
	return w
}

// shareOfLimit is a finding's load as a share of the limit: the least if samples tell no more.
func shareOfLimit(f *detect.Finding) float64 {
	if f.OnlyMean() {
		return detect.SideOf(f, f.Peak.WCU.Low, f.Peak.RCU.Low) / detect.Units(f.Limit())
	}
	return f.Utilization
}
