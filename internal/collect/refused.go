package collect

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/keyheat/keyheat/sample"
)

const (
	// refusedFor is how long a table is reported after its last sample.
	refusedFor = time.Minute
	// maxRefused bounds the kept names: one is enough to look for the cause.
	maxRefused = 32
)

// recentTables are names of tables and indexes, each with the time when it was added. It is safe
// for concurrent use.
type recentTables struct {
	mu   sync.Mutex
	seen map[string]time.Time
}

// add records names.
func (r *recentTables) add(now time.Time, names map[string]bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forget(now)
	if r.seen == nil {
		r.seen = make(map[string]time.Time)
	}
	for name := range names {
		if _, known := r.seen[name]; known || len(r.seen) < maxRefused {
			r.seen[name] = now
		}
	}
}

func (r *recentTables) forget(now time.Time) {
	maps.DeleteFunc(r.seen, func(_ string, at time.Time) bool { return now.Sub(at) > refusedFor })
}

// names returns the tables of the last minute, in order.
func (r *recentTables) names(now time.Time) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forget(now)
	return append([]string{}, slices.Sorted(maps.Keys(r.seen))...)
}

// reason returns why refused tables keep the collector from being ready; empty when
// there are none.
func (r *recentTables) reason(now time.Time) string {
	names := r.names(now)
	if len(names) == 0 {
		return ""
	}
	many := fmt.Sprint(len(names))
	if len(names) == maxRefused {
		many += " or more"
	}
	return fmt.Sprintf("%s tables and indexes are not counted, such as %q: samples name more than a collector keeps apart at a time; look for a producer that makes up table names", many, names[0])
}

// refuse notes a table or index beyond the sketch's limit.
func (t *counters) refuse(target sample.Target) {
	if t.refused == nil {
		t.refused = make(map[string]bool)
	}
	if len(t.refused) < maxRefused {
		t.refused[strings.Clone(target.Name())] = true // the name may be a text target a record
	}
}
