package web

import (
	"context"
	"net/http"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/recipe"
	"github.com/keyheat/keyheat/detect/wording"
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
	// Silenced is the silence of the finding's incident, nil for none. MaySilence reports
	// that the incident is not over, and the reader may add one.
	Silenced   *detect.Silenced
	MaySilence bool
	// Groups are the groups in which receivers are told of the incident.
	Groups []string
}

// groupName says who is told of a group of incidents, and what these have in common.
func groupName(g detect.InGroup) string {
	common := wording.GroupLabels(&detect.Group{InGroup: g}, ", ", func(name, value string) string { return name + " " + value })
	if common == "" {
		return wording.Printable(g.Receiver)
	}
	return wording.Printable(g.Receiver) + " (" + common + ")"
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
		F: f, Code: codeOf(&f), Main: figure(f.Kind, f.Peak.Loads), Unit: unit(f.Kind),
		Figures: []namedFigure{
			{"Peak, writes", f.Peak.WCU}, {"Peak, reads", f.Peak.RCU},
			{"Mean, writes", f.Mean.WCU}, {"Mean, reads", f.Mean.RCU},
		},
	}
	if page.frame, err = s.frame(ctx, subject(f.Kind, f.Key), "finding"); err != nil {
		return nil, err
	}
	if page.History, err = s.store.FindingHistory(ctx, fingerprint); err != nil {
		return nil, err
	}
	if err := s.findIncident(ctx, page); err != nil {
		return nil, err
	}
	page.Chart, err = loadChart(ctx, s.store, &f)
	return page, err
}
