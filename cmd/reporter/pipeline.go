package main

import (
	"time"

	"github.com/keyheat/keyheat/detect/pipeline"
	"github.com/keyheat/keyheat/internal/settings/config"
)

// Pipeline holds the thresholds above which Keyheat's own faults become incidents. The
// thresholds that no operator has to change are in pipeline.Default.
type Pipeline struct {
	Lag      time.Duration `yaml:"lag" help:"how far counting may be behind the clock, and how long it may stand still, while records wait; no incident when 0"`
	BadShare float64       `yaml:"bad_share" help:"the share of samples that may be rejected, 0.05 for 5%; no incident when 0"`
}

func defaultPipeline() Pipeline {
	d := pipeline.Default()
	return Pipeline{Lag: d.Lag, BadShare: d.BadShare}
}

func (p *Pipeline) check(f *config.Faults) {
	if p.BadShare > 1 {
		f.Addf("pipeline.bad_share", "%v is above 1: write 5%% as 0.05", p.BadShare)
	}
}

// thresholds returns the thresholds of the judge.
func (p *Pipeline) thresholds() pipeline.Thresholds {
	t := pipeline.Default()
	t.Lag, t.Standing, t.BadShare = p.Lag, p.Lag, p.BadShare
	return t
}
