// Package daemon holds what the parts of every long-running program report about
// themselves: their health, their metrics and their build. It also knows the addresses of
// this machine, whose traffic needs no protection. Their loops wait and retry with
// its helpers, beside the backoff library. Package admin serves the reports.
package daemon

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// Whole is the part to name when the component as a whole fails. Its reason is
// reported without a part in front.
const Whole = ""

// Health is the list of one component's faults. The zero value has none. It is safe for
// use by many goroutines.
type Health struct {
	mu     sync.Mutex
	faults map[string]fault
}

type fault struct {
	reason string
	since  time.Time // when the part began to fail, whatever the reason
	waits  bool      // counts only once it has lasted
}

// Fault is a part that fails.
type Fault struct {
	Part  string
	Since time.Time
}

// Fail records why a part fails, and reports whether that is news.
func (s *Health) Fail(part, reason string) bool {
	return s.set(part, fault{reason: reason, since: time.Now()})
}

// FailAfter records why a part fails since now. It counts as failing once the
// failure has lasted for the time that [Health.Lasting] is asked for.
func (s *Health) FailAfter(part, reason string, now time.Time) bool {
	return s.set(part, fault{reason: reason, since: now, waits: true})
}

func (s *Health) set(part string, f fault) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.faults == nil {
		s.faults = make(map[string]fault)
	}
	before, failing := s.faults[part]
	if failing {
		f.since, f.waits = before.since, f.waits && before.waits
	}
	s.faults[part] = f
	return before.reason != f.reason
}

// Heal records that a part works, or is gone, and reports whether that is news.
func (s *Health) Heal(part string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, news := s.faults[part]
	delete(s.faults, part)
	return news
}

// Faults returns the parts that fail, but for [Whole], in order.
func (s *Health) Faults() (all []Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for part, f := range s.faults {
		if part != Whole {
			all = append(all, Fault{part, f.since})
		}
	}
	slices.SortFunc(all, func(a, b Fault) int { return strings.Compare(a.Part, b.Part) })
	return all
}

// Reasons lists all faults, ordered by part.
func (s *Health) Reasons() []string { return s.Lasting(time.Time{}, 0, nil) }

// Lasting lists the faults that have lasted for at least the given time, ordered by part.
// If many parts belong to one thing, group names it: its parts that fail for one reason
// are reported once, with their number. A nil group keeps every part on its own.
func (s *Health) Lasting(now time.Time, patience time.Duration, group func(part string) string) []string {
	type line struct{ part, reason string }
	parts := make(map[line]int)
	s.mu.Lock()
	for part, f := range s.faults {
		if f.waits && now.Sub(f.since) < patience {
			continue
		}
		if group != nil {
			part = group(part)
		}
		parts[line{part, f.reason}]++
	}
	s.mu.Unlock()
	order := func(a, b line) int { return slices.Compare([]string{a.part, a.reason}, []string{b.part, b.reason}) }
	var reasons []string
	for _, l := range slices.SortedFunc(maps.Keys(parts), order) {
		reason := l.reason
		if l.part != Whole {
			reason = l.part + ": " + reason
		}
		if n := parts[l]; n > 1 {
			reason = fmt.Sprintf("%s (%d times)", reason, n)
		}
		reasons = append(reasons, reason)
	}
	return reasons
}
