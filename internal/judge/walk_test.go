package judge_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/position"
	"github.com/keyheat/keyheat/store"
)

// copying is a copy in the order of positions, beside other traffic.
type copying struct {
	*collector
	keys []string // in order
}

// inOrder returns keys in the order of their positions.
var inOrder = sync.OnceValue(func() (keys []string) {
	at := map[position.Position]string{}
	for i := range 200_000 {
		key := fmt.Sprint("item#", i)
		at[position.String(key)] = key
	}
	for _, p := range slices.Sorted(maps.Keys(at)) {
		keys = append(keys, at[p])
	}
	return keys
})

// startCopying returns a collector of a table, and with a map the shards of its stream, of which
// each has an eighth of the key space.
func startCopying(t *testing.T, s *store.Store, mapped bool) *copying {
	t.Helper()
	c := &copying{collector: collect(t, s, "a", 0, begin()), keys: inOrder()}
	c.of = sample.Target{Account: "1", Region: "eu-west-1"}
	c.shard.PlaceKeys(func(sample.Target) bool { return mapped })
	if mapped {
		document, err := json.Marshal(eightPartitions())
		must(t, err)
		of := c.of
		of.Table = table
		judgeOnce(t, s, store.Judgement{Maps: []store.TargetDocument{{Target: of, Document: document}}})
	}
	return c
}

// copySecond commits a second with so many copied items.
func (c *copying) copySecond(second, items int) {
	loads := make([]load, items)
	for i := range loads {
		loads[i] = load{second, c.keys[(second*items+i)%len(c.keys)], 1}
	}
	c.commit(second+1, loads...)
}

// TestWalkOutlivesTheJudge: a copy in the order of positions is told with or without a map, within
// the delay that was measured. Where it fills partitions, the finding that tells it goes on after
// a restart as before. Where it fills none there is no finding, and the view of the table has it.
func TestWalkOutlivesTheJudge(t *testing.T) {
	t.Parallel()
	// A judge that had forgotten the walk would need 24 seconds to see it again.
	const restart, ends = 36, 64
	for _, c := range []struct {
		story          string
		items          int // a second
		mapped, refuse bool
	}{
		{"above the limit, with a map", 1300, true, false},
		{"refused, without a map", 1300, false, true},
		{"below the limit, with a map", 600, true, false},
		{"below the limit, without a map", 300, false, false},
	} {
		t.Run(c.story, func(t *testing.T) {
			t.Parallel()
			s := open(t, database(t))
			w := startCopying(t, s, c.mapped)
			w.tells = func(r *sample.Record) {
				if c.refuse && len(r.PK.Text)%3 == 0 {
					r.Throttle = "TableWriteKeyRangeThroughputExceeded"
				}
			}
			j := run(t, quick(), &probe{Store: s})
			for second := range ends {
				w.copySecond(second, c.items)
				j.quiet(t)
				if second == restart {
					j.stop()
					j = run(t, quick(), &probe{Store: s})
					j.quiet(t)
				}
				f := walkFinding(t, s)
				if (f != nil) != (c.items > 1000) {
					t.Fatalf("second %d: found %+v", second, f)
				}
				walk := viewOf(t, s).Walk
				if told := second >= 24; told != (walk != nil) || f != nil && told != (f.Ground == detect.GroundPositions) {
					t.Fatalf("second %d: the walk is %+v, found %+v", second, walk, f)
				}
				// A second may lie on two partitions, and fill none.
				if f != nil && (!f.FirstSeen.Equal(w.start) || f.Seconds < int64(second)-3 || f.LastSeen.Unix() < w.start.Unix()+int64(second)-1) {
					t.Fatalf("second %d: %d seconds since %s", second, f.Seconds, f.FirstSeen)
				}
				if walk != nil && (walk.From.Unix()-w.start.Unix() > 5 || walk.Share > 1.01*float64(c.items)/1000 || walk.Share < 0.9*float64(c.items)/1000) {
					t.Fatalf("second %d: the walk is %+v", second, walk)
				}
			}
			want := []string(nil)
			if c.items > 1000 {
				want = []string{"firing"}
			}
			equal(t, "notifications", events(t, s), want)
		})
	}
}

// walkFinding returns the finding about a full partition; nil for none.
func walkFinding(t *testing.T, s *store.Store) *detect.Finding {
	t.Helper()
	rows, err := s.Findings(t.Context(), store.FindingQuery{Limit: 100})
	must(t, err)
	if len(rows) == 0 {
		return nil
	}
	f, err := detect.ReadFinding(rows[0].Document)
	must(t, err)
	if len(rows) > 1 || f.Subject != detect.SubjectPartition || f.State == detect.Resolved {
		t.Fatalf("found %d, the first is %+v", len(rows), f)
	}
	return &f
}
