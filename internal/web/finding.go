package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/detect/recipe"
	"github.com/keyheat/keyheat/internal/chart"
	"github.com/keyheat/keyheat/internal/say"
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
