package collect

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/daemon"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

// reportEvery is how often a collector reports itself to the store: often enough
// for a person who looks at it, and little beside the commits.
const reportEvery = 10 * time.Second

// WatchedSource is a source that tells of its own faults.
type WatchedSource interface {
	// Ready returns why the source does not read, a sentence each.
	Ready() []string
	// Unread returns the partitions, topics and tables that it should read and cannot.
	Unread() []daemon.Fault
	// Subscription returns all partitions that this source and its like should read together;
	// none if they are not known.
	Subscription() []string
}

// userSource is a source of users' producers.
type userSource interface {
	// FullUsers returns the users whose new producers are refused, because they have too many.
	FullUsers() []string
}

// WatchSource adds the source's own faults to this collector's reports. It is called before Run.
func (c *Collector) WatchSource(s WatchedSource) { c.source = s }

// reportStatus stores this collector's status. It ignores failures of the store, because
// commits report them.
func (c *Collector) reportStatus(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, c.config.CommitInterval)
	defer cancel()
	if err := c.hostClock.measure(ctx, c.store.Now); err != nil {
		c.log.Debug("read the store's clock", "error", err)
		return
	}
	if err := c.store.ReportWriter(ctx, c.writer, c.status(time.Now())); err != nil {
		c.log.Debug("report this collector to the store", "error", err)
	}
}

// report reports this collector every reportEvery, until ctx ends. Commits do not wait for it.
func (c *Collector) report(ctx context.Context) {
	tick := time.NewTicker(reportEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			c.findAbandoned(ctx)
			c.reportStatus(ctx)
			c.placeKeys(ctx)
			c.knowTables(ctx)
		}
	}
}

// findAbandoned looks for subscribed partitions that no collector has claimed, or reported for
// abandonedAfter. A failure of the store changes nothing.
func (c *Collector) findAbandoned(ctx context.Context) {
	if c.source == nil {
		return
	}
	others := make(map[string]time.Time)
	for _, name := range c.source.Subscription() {
		others[name] = time.Time{}
	}
	c.eachPartition(func(p *partition) { delete(others, p.id.Name) })
	if len(others) > 0 {
		ctx, cancel := context.WithTimeout(ctx, c.config.CommitInterval)
		defer cancel()
		marks, err := c.store.Watermarks(ctx)
		if err != nil {
			c.log.Debug("read the watermarks", "error", err)
			return
		}
		for _, m := range marks {
			if seen, other := others[m.Name]; other && m.Seen.After(seen) {
				others[m.Name] = m.Seen
			}
		}
	}
	now := c.hostClock.storeTime(time.Now())
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, seen := range others {
		if first := c.abandoned[name]; seen.IsZero() && !first.IsZero() {
			others[name] = first
		} else if seen.IsZero() {
			others[name] = now // nobody has ever claimed it
		}
	}
	c.abandoned = others
}

// placeKeys has the sketches count the position of unlisted load in tables whose partitions may
// be known. A failure leaves the tables as they are: the bounds of partitions are then wider.
func (c *Collector) placeKeys(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, c.config.CommitInterval)
	defer cancel()
	tables, err := c.store.StreamedTables(ctx)
	if err != nil {
		c.log.Debug("read the tables with streams", "error", err)
		return
	}
	var isPlaced func(sample.Target) bool
	if len(tables) > 0 {
		isPlaced = func(t sample.Target) bool { return slices.Contains(tables, t) }
	}
	for _, s := range c.shards {
		s.mu.Lock()
		s.sketch.PlaceKeys(isPlaced)
		s.mu.Unlock()
	}
}

// knowTables has the sketches keep the places of the tables in the settings, and of the store's
// oldest tables: a flood of new ones can displace none of them, also once they are stored. A
// failure leaves the places as they are.
func (c *Collector) knowTables(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, c.config.CommitInterval)
	defer cancel()
	most := cmp.Or(c.config.Sketch.Tables, sketch.DefaultTables) * 3 / 4
	oldest, err := c.store.OldestTargets(ctx, most)
	if err != nil {
		c.log.Debug("read the oldest tables", "error", err)
		return
	}
	known := make(map[sample.Target]bool)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, all := range [][]sample.Target{c.config.Tables, oldest} {
		for _, t := range all {
			if len(known) < most {
				known[t] = true
			}
		}
	}
	for _, s := range c.shards {
		s.mu.Lock()
		s.sketch.Know(known)
		s.mu.Unlock()
	}
}

// status returns this collector's status. Unknown values stay nil.
func (c *Collector) status(now time.Time) store.WriterStatus {
	recent := c.recent.sum(now)
	s := store.WriterStatus{
		Version: c.config.Version, State: string(detect.CollectorRunning), Lag: c.knownLag(now), BadShare: recent.badShare(),
		Reading: c.reading(now), ClockOffset: c.hostClock.offset.Load(), RefusedTables: tableNames(recent.refused),
		LowerBounds: tableNames(recent.bounded),
	}
	reasons := c.Ready()
	if c.source != nil {
		reasons = append(reasons, c.source.Ready()...)
	}
	if len(reasons) > 0 {
		s.State, s.Reason = string(detect.CollectorFailing), strings.Join(reasons, "; ")
	}
	return s
}

// knownLag returns how many messages wait behind all partitions; nil if there is no
// partition, or one is not read.
func (c *Collector) knownLag(now time.Time) *int64 {
	var sum, partitions int64
	unread := len(c.faults()) + len(c.silent(now))
	c.eachPartition(func(p *partition) {
		partitions++
		sum += p.lag
		if !p.read {
			unread++
		}
	})
	if partitions == 0 || unread > 0 {
		return nil
	}
	return &sum
}
