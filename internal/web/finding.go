package web

import (
	"context"
	"net/http"

	"github.com/keyheat/keyheat/detect"
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
}

type namedFigure struct {
	Name string
	detect.Figure
}

func (s *Site) finding(ctx context.Context, r *http.Request) (any, error) {
	fingerprint := r.PathValue("fingerprint")
	stored, err := s.store.Finding(ctx, fingerprint)
	if err != nil {
		return nil, err
	}
	f, err := decode(stored)
	if err != nil {
		return nil, err
	}
	page := &findingPage{
		F: f, Main: figure(f.Kind, f.Peak.Loads), Unit: unit(f.Kind),
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
