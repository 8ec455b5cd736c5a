package cloudwatch

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// Defaults of Config.
const (
	DefaultEvery       = 5 * time.Minute
	DefaultEveryOpen   = time.Minute
	DefaultMonthlyCost = 50
)

const (
	// poll is how often it is looked for tables that are due.
	poll = 10 * time.Second
	// lease is how long other reporters wait for one that reads and does not
	// renew its lease.
	lease = 2 * time.Minute
	// callTimeout bounds the reading of a Region's tables, retries included.
	callTimeout = time.Minute
	// active is how much event time ago a table had load that is read.
	active = time.Hour
	// overlap is how far a reading goes back behind the last one: CloudWatch
	// publishes minutes late, and completes them.
	overlap = 15 * time.Minute
	// month is the longest month.
	month = 31 * 24 * time.Hour
)

// Config is what is read of CloudWatch, and how often. A zero field takes its default.
type Config struct {
	// Tables are read beside those that the samples show, by name.
	Tables []string
	// Every is the pause between two readings of a table, EveryOpen that while it
	// has an open incident.
	Every, EveryOpen time.Duration
	// MonthlyCost is what may be spent in a month, in US dollars, by all reporters
	// of the store together.
	MonthlyCost float64

	holder string
}

func (c Config) withDefaults() Config {
	c.Every = cmp.Or(c.Every, DefaultEvery)
	c.EveryOpen = cmp.Or(c.EveryOpen, DefaultEveryOpen)
	c.MonthlyCost = cmp.Or(c.MonthlyCost, DefaultMonthlyCost)
	return c
}

// Validate returns everything that is wrong with a configuration.
func (c Config) Validate() error {
	c = c.withDefaults()
	var wrong []error
	if c.Every < time.Minute || c.EveryOpen < time.Minute {
		wrong = append(wrong, errors.New("give a minute or more between two readings: CloudWatch has nothing newer"))
	}
	if c.EveryOpen > c.Every {
		wrong = append(wrong, errors.New("read tables with an open incident at least as often as others"))
	}
	if c.MonthlyCost < 0 {
		wrong = append(wrong, fmt.Errorf("a monthly cost of %g: give US dollars, such as 50", c.MonthlyCost))
	}
	return errors.Join(wrong...)
}

// CostOf returns what reading one calm table, or index, costs in a month, in US
// dollars.
func (c Config) CostOf() float64 {
	c = c.withDefaults()
	return float64(month/c.Every) * float64(len(Calm)) * Price
}

// CostOpen returns what reading one table costs more in a day while it has an open
// incident, in US dollars.
func (c Config) CostOpen() float64 {
	c = c.withDefaults()
	return float64(24*time.Hour/c.EveryOpen) * float64(len(Watched)) * Price
}
