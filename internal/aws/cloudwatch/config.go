package cloudwatch

import (
	"time"

	"github.com/keyheat/keyheat/internal/settings/options"
	"github.com/keyheat/keyheat/sample"
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

// everyOpen is the pause between two readings of a table with an open incident.
// CloudWatch has a new value once a minute.
const everyOpen = time.Minute

// Config chooses the metrics that are read, and how often. A zero field takes its
// default.
type Config struct {
	// Tables are read beside the tables of the samples, by name.
	Tables []string
	// Every is the pause between two readings of a table without an open incident.
	Every time.Duration
	// MonthlyCost is the budget of a month, in US dollars, for all reporters of the store
	// together.
	MonthlyCost float64

	holder string
}

// Default returns the defaults of Config.
func Default() Config {
	return Config{Every: 5 * time.Minute, MonthlyCost: 50}
}

func (c Config) withDefaults() Config {
	return options.OrDefault(c, Default())
}

// Validate returns everything that is wrong with a configuration.
func (c Config) Validate() error {
	c = c.withDefaults()
	var faults options.Faults
	faults.Check(c.Every < everyOpen, "give a minute or more between two readings: CloudWatch has nothing newer")
	for _, t := range c.Tables {
		faults.Check(t == "" || !sample.IsName(t), "%.300q is no table: write its name alone, %s", t, sample.NameRule)
	}
	faults.Check(c.MonthlyCost < 0, "a monthly cost of %g: give US dollars, such as 50", c.MonthlyCost)
	return faults.Err()
}

// CostOf returns the monthly cost of reading one calm table, or index, in US dollars.
func (c Config) CostOf() float64 {
	c = c.withDefaults()
	return float64(month/c.Every) * float64(len(calmMetrics)) * Price
}

// CostOpen returns the additional daily cost of reading one table with an open incident,
// without its indexes, in US dollars.
func CostOpen() float64 {
	return float64(24*time.Hour/everyOpen) * float64(len(watched)) * Price
}
