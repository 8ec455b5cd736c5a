package main

import (
	"time"

	"github.com/keyheat/keyheat/internal/settings/config"
)

// Pipeline holds the thresholds from which Keyheat's own faults become incidents:
// pipeline.Thresholds, as an operator writes them.
type Pipeline struct {
	Stopped       time.Duration `yaml:"stopped" help:"for how long no collector may attend; never an incident when 0"`
	Standing      time.Duration `yaml:"standing" help:"for how long event time may stand still while records wait, before that counts as stopped, too; never when 0"`
	Lag           time.Duration `yaml:"lag" help:"how far behind the clock what is counted may be while records wait; never an incident when 0"`
	BadShare      float64       `yaml:"bad_share" help:"which share of the samples may be rejected, 0.05 for 5%; never an incident when 0"`
	RefusedTables int           `yaml:"refused_tables" help:"from how many tables without room on an incident opens; never when 0"`
	Lost          time.Duration `yaml:"lost" help:"for how long a new gap in the samples is an incident; never when 0"`
}

func (p *Pipeline) check(f *config.Faults) {
	if p.BadShare > 1 {
		f.Addf("pipeline.bad_share", "%v is above 1: write 5%% as 0.05", p.BadShare)
	}
}
