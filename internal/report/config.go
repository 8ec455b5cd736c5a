package report

import (
	"cmp"
	"errors"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/report/verdict"
	"github.com/keyheat/keyheat/store"
)

// Defaults of Config.
const (
	defaultLease      = 15 * time.Second
	defaultPoll       = time.Second
	defaultStall      = 10 * time.Second
	defaultForget     = time.Hour
	defaultPageWithin = 15 * time.Minute
	defaultMaxKeys    = 2 << 20
	defaultPeakDelay  = time.Minute
	defaultPruneEvery = 5 * time.Minute
	// defaultCloudWatchEvery is short: only what was read anew is loaded.
	defaultCloudWatchEvery = 10 * time.Second
)

// Config is how a Judge judges. A zero field takes its default.
type Config struct {
	// Policy returns the policy of a table or index; detect's default for all
	// when nil.
	Policy func(detect.Target) detect.Policy
	// Facts returns what an operator has configured of a table, nil for nothing;
	// that takes precedence over what is stored. Nil for none.
	Facts func(detect.Target) *detect.TableFacts
	// Routes are where notifications go: one for each route and event. None
	// for no notifications.
	Routes []string
	// Lease is how long the others wait for a judge that does not renew its lease.
	Lease time.Duration
	// Poll is the longest pause between two readings of the store.
	Poll time.Duration
	// Stall is how long a partition's watermark may stand still before its
	// seconds are closed without it.
	Stall time.Duration
	// Forget is how long a partition may be missing from every commit before it
	// is not waited for at all: its topic was deleted, or its group renamed. A
	// collector reports a partition even while its broker is unreachable.
	Forget time.Duration
	// PageWithin is how old, by event time, a finding's newest second may be
	// to be notified. What is older is only recorded in the history.
	PageWithin time.Duration
	// MaxKeys bounds the keys that all open seconds list, about 150 bytes
	// each. Beyond it the oldest seconds are closed early, as incomplete.
	MaxKeys int
	// PeakDelay is how long a key's raised hourly peak may stay unwritten:
	// forecasts are of days, so a minute is no loss.
	PeakDelay time.Duration
	// Read bounds one reading of deltas.
	Read store.ReadLimit
	// CloudWatchEvery is the pause between two loads of what CloudWatch says.
	CloudWatchEvery time.Duration
	// PruneEvery is the pause between prunings; Retention what they leave.
	PruneEvery time.Duration
	Retention  store.Retention
}

func (c Config) withDefaults() Config {
	c.Lease = cmp.Or(c.Lease, defaultLease)
	c.Poll = cmp.Or(c.Poll, defaultPoll)
	c.Stall = cmp.Or(c.Stall, defaultStall)
	c.Forget = cmp.Or(c.Forget, defaultForget)
	c.PageWithin = cmp.Or(c.PageWithin, defaultPageWithin)
	c.MaxKeys = cmp.Or(c.MaxKeys, defaultMaxKeys)
	c.PeakDelay = cmp.Or(c.PeakDelay, defaultPeakDelay)
	c.PruneEvery = cmp.Or(c.PruneEvery, defaultPruneEvery)
	c.CloudWatchEvery = cmp.Or(c.CloudWatchEvery, defaultCloudWatchEvery)
	return c
}

// state returns what judging needs of the configuration.
func (c Config) state() verdict.Options {
	return verdict.Options{
		Policy: c.Policy, Facts: c.Facts, Routes: c.Routes,
		PageWithin: c.PageWithin, PeakDelay: c.PeakDelay, MaxKeys: c.MaxKeys,
	}
}

// Validate returns everything that is wrong with a configuration.
func (c Config) Validate() error {
	c = c.withDefaults()
	var wrong []error
	if min(c.Lease, c.Poll, c.Stall, c.Forget, c.PageWithin, c.PeakDelay, c.PruneEvery, c.CloudWatchEvery) < 0 {
		wrong = append(wrong, errors.New("judge: give no negative duration"))
	}
	if c.Lease < 3*c.Poll {
		wrong = append(wrong, errors.New("judge lease: give at least three times the poll interval, or it runs out between two polls"))
	}
	if c.MaxKeys < 0 {
		wrong = append(wrong, errors.New("judge max keys: give a number above 0"))
	}
	return errors.Join(wrong...)
}
