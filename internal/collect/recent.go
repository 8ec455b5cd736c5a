package collect

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

const (
	// recently is how long a commit's counters bear on the collector's health.
	recently = time.Minute
	// maxNames bounds the kept names of tables: one is enough to look for the cause.
	maxNames = 32
)

// recentCounts are the counters of the last minute's commits that bear on the collector's health.
// It is safe for concurrent use.
type recentCounts struct {
	mu      sync.Mutex
	commits []counts
}

// counts are the counters of a commit, or of several.
type counts struct {
	at           time.Time
	good, missed int64
	// ahead is how far ahead of the store's clock samples were refused, at most.
	ahead time.Duration
	// refused are tables and indexes beyond the sketches' limit, bounded those whose loads are
	// lower bounds.
	refused, bounded map[string]bool
}

func (r *recentCounts) add(c counts) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.commits = append(r.commits, c)
}

// sum returns the counters of the last minute's commits together.
func (r *recentCounts) sum(now time.Time) counts {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.commits = slices.DeleteFunc(r.commits, func(c counts) bool { return now.Sub(c.at) > recently })
	sum := counts{refused: make(map[string]bool), bounded: make(map[string]bool)}
	for _, c := range r.commits {
		sum.good += c.good
		sum.missed += c.missed
		sum.ahead = max(sum.ahead, c.ahead)
		addNames(sum.refused, c.refused)
		addNames(sum.bounded, c.bounded)
	}
	return sum
}

func addNames(to, names map[string]bool) {
	for name := range names {
		if len(to) < maxNames {
			to[name] = true
		}
	}
}

func tableNames(of map[string]bool) []string {
	return append([]string{}, slices.Sorted(maps.Keys(of))...)
}

// badShare returns the share of bad samples; nil without samples.
func (c *counts) badShare() *float64 {
	if c.good+c.missed == 0 {
		return nil
	}
	return new(float64(c.missed) / float64(c.good+c.missed))
}

func (c *counts) reasons() (all []string) {
	if n := c.good + c.missed; n >= leastSamples && float64(c.missed) > mostBad*float64(n) {
		all = append(all, fmt.Sprintf("%d of the last minute's %d samples are bad: look at the bad samples' reasons", c.missed, n))
	}
	if names := tableNames(c.refused); len(names) > 0 {
		many := fmt.Sprint(len(names))
		if len(names) == maxNames {
			many += " or more"
		}
		all = append(all, fmt.Sprintf("%s tables and indexes are not counted, such as %q: samples name more than a collector keeps apart at a time; %s", many, names[0], TablesRemedy))
	}
	if c.ahead > 0 {
		all = append(all, fmt.Sprintf("samples are not counted because their times are up to %s ahead of the database's clock: correct the clock of their producer, or the database's", c.ahead.Round(time.Second)))
	}
	return all
}
