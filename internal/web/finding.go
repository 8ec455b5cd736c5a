package web

import (
	"context"
	"net/http"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/recipe"
	"github.com/keyheat/keyheat/store"
)

type findingPage struct {
	frame
	F       detect.Finding
	Main    detect.Figure
	Unit    string
	Figures []namedFigure
	Chart   *chart
	History []store.Transition
	Code    []code
}

// code is what an application may copy, in one language.
type code struct{ Language, Text string }

// codeOf returns the code of a finding's shards; nothing where no step makes some.
func codeOf(f *detect.Finding) (all []code) {
	names := map[recipe.Language]string{recipe.Go: "Go", recipe.Python: "Python", recipe.Node: "Node"}
	for _, l := range recipe.Languages() {
		if text, known := recipe.For(f, recipe.Attributes{}, l); known {
			all = append(all, code{names[l], text})
		}
	}
	return all
}

type namedFigure struct {
	Name string
	detect.Figure
}

func (s *Site) showFinding(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := bounded(r)
	defer cancel()
	page, err := s.finding(ctx, r.PathValue("fingerprint"))
	if err != nil {
		s.showError(w, r, err)
		return
	}
	s.render(w, r, http.StatusOK, "finding", page)
}

func (s *Site) finding(ctx context.Context, fingerprint string) (*findingPage, error) {
	stored, err := s.store.Finding(ctx, fingerprint)
	if err != nil {
		return nil, err
	}
	f, err := decode(stored)
	if err != nil {
		return nil, err
	}
	page := &findingPage{
		F: f, Code: codeOf(&f), Main: figure(f.Kind, f.Peak.Loads), Unit: unit(f.Kind),
		Figures: []namedFigure{
			{"Peak, writes", f.Peak.WCU}, {"Peak, reads", f.Peak.RCU},
			{"Mean, writes", f.Mean.WCU}, {"Mean, reads", f.Mean.RCU},
		},
	}
	if page.frame, err = s.frame(ctx, keytext(f.Key), "finding"); err != nil {
		return nil, err
	}
	if page.History, err = s.store.FindingHistory(ctx, fingerprint); err != nil {
		return nil, err
	}
	page.Chart, err = s.chart(ctx, &f)
	return page, err
}

// chartSpan is how much of a finding's time its chart shows: the end of it.
const chartSpan = 15 * time.Minute

// chart returns the seconds of an episode with a little before and after.
func (s *Site) chart(ctx context.Context, f *detect.Finding) (*chart, error) {
	const around = 30 * time.Second
	from, to := f.FirstSeen.Add(-around), f.LastSeen.Add(around)
	if earliest := to.Add(-chartSpan); from.Before(earliest) {
		from = earliest
	}
	rows, err := s.store.Windows(ctx, store.WindowQuery{Target: f.Target, From: from, To: to})
	if err != nil {
		return nil, err
	}
	all, err := points(f, rows)
	if err != nil {
		return nil, err
	}
	return newChart(f, all), nil
}
