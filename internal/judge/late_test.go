package judge_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/store"
)

// TestLateSamplesEndNoIncident: the samples of a hot key come 90 s after their seconds are
// complete. Its incident lasts as long as they do, over a restart of the judge, and ends once
// none come any more.
func TestLateSamplesEndNoIncident(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *store.Store) {
		c := collect(t, s, "a", 0, begin())
		p := &probe{Store: s}
		j := run(t, quick(), p)
		c.commit(95, load{0, "cold", 5})
		j.quiet(t)
		for second := 0; second < 200; second += 10 {
			c.commit(second+100, hot("hot", 1500, second, second+10)...)
			j.quiet(t)
			if second == 100 {
				j.stop()
				j = run(t, quick(), p)
				j.quiet(t)
			}
			if all := incidents(t, s); len(all) != 1 || all[0].State == detect.Resolved {
				t.Fatalf("at second %d, with samples of the last hot second %d, incidents are %+v", second+100, second+9, all)
			}
		}
		equal(t, "told", chain(t, s), []string{"orders hot firing"})
		views, err := s.TableViews(t.Context())
		must(t, err)
		var stored detect.Table
		must(t, json.Unmarshal(views[0].Document, &stored))
		if late := stored.LateSeconds; late == nil || *late < 80 || *late > 110 {
			t.Errorf("samples are said to come %v s late", late)
		}
		c.commit(460, load{455, "cold", 5})
		p.ahead.Store(int64(5 * time.Minute))
		j.quiet(t)
		equal(t, "told when no late sample has come for long", chain(t, s), []string{"orders hot firing", "orders hot resolved"})
	})
}
