package judge_test

import (
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/store"
)

// TestAClockAheadBlindsNobody: stored samples of a producer whose clock was ahead, and a
// partition that stands still, end nothing before its time has come: a key that gets hot
// then is found, and a finding is over when it would have been without them.
func TestAClockAheadBlindsNobody(t *testing.T) {
	t.Parallel()
	for name, ahead := range map[string]int{"55 minutes": 55 * 60, "10 minutes": 10 * 60} {
		for engine, url := range enginesFor(t) {
			t.Run(name+" on "+engine, func(t *testing.T) {
				t.Parallel()
				s, c := open(t, url(t)), quick()
				start := time.Now().Truncate(time.Minute)
				c.Stall = 10 * time.Second
				p := &probe{Store: s, stands: start}
				j := run(t, c, p)
				producers := collect(t, s, "a", 0, start)
				wild := []load{{ahead, "wild", 1500}, {ahead + 1, "wild", 1500}, {ahead + 4, "wild", 1500}}
				producers.commit(59, append(wild, hot("quiet", 5, 0, 5)...)...)
				p.ahead.Store(int64(30 * time.Second)) // nothing moves meanwhile
				j.quiet(t)
				if ready := strings.Join(j.Ready(), "; "); !strings.Contains(ready, "ahead of the database's clock") || !strings.Contains(ready, table) {
					t.Errorf("readiness says %q, although stored seconds lie ahead", ready)
				}
				p.ahead.Store(int64(120 * time.Second))
				producers.commit(115, hot("late", 1800, 60, 110)...)
				j.quiet(t)
				found, err := s.Findings(t.Context(), store.FindingQuery{Subject: string(detect.KeyWrites)})
				must(t, err)
				if len(found) != 1 || found[0].Key != "late" || found[0].State != string(detect.Firing) {
					t.Fatalf("found %+v, want the hot key firing", found)
				}
				p.ahead.Store(int64(300 * time.Second))
				producers.commit(295, hot("quiet", 5, 110, 290)...)
				j.quiet(t)
				found, err = s.Findings(t.Context(), store.FindingQuery{Subject: string(detect.KeyWrites)})
				must(t, err)
				if len(found) != 1 || found[0].State != string(detect.Resolved) {
					t.Errorf("three minutes later there is %+v, want it resolved", found)
				}
				p.ahead.Store(int64(time.Duration(ahead+120) * time.Second))
				producers.commit(ahead+115, load{ahead + 10, "quiet", 5})
				j.quiet(t)
				if ready := strings.Join(j.Ready(), "; "); strings.Contains(ready, "ahead of the database's clock") {
					t.Errorf("when their time has come readiness says %q", ready)
				}
			})
		}
	}
}

// TestFullMemoryClosesNoFutureSecond: a judge whose memory is full closes its oldest seconds
// early, but none whose time has not come.
func TestFullMemoryClosesNoFutureSecond(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *store.Store) {
		config, start := quick(), time.Now().Truncate(time.Minute)
		config.MaxKeys = 1
		p := &probe{Store: s, stands: start}
		j := run(t, config, p)
		producers := collect(t, s, "a", 0, start)
		producers.commit(1, append(hot("quiet", 5, -9, 0), hot("wild", 1500, 600, 605)...)...)
		j.quiet(t)
		stored, err := s.LastSamples(t.Context(), 60)
		must(t, err)
		if len(stored) != 1 || stored[0].Second.After(start) {
			t.Errorf("the newest stored seconds are %v, at %s", stored, start)
		}
		p.ahead.Store(int64(time.Minute))
		producers.commit(55, hot("late", 1800, 10, 50)...)
		j.quiet(t)
		found, err := s.Findings(t.Context(), store.FindingQuery{Subject: string(detect.KeyWrites), State: string(detect.Firing)})
		must(t, err)
		if len(found) != 1 || found[0].Key != "late" {
			t.Errorf("found %+v, want the hot key firing", found)
		}
	})
}
