package contributors_test

import (
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/contributors"
	"github.com/keyheat/keyheat/internal/testsupport/hostile"
)

// TestNoContributorShowsATextRaw draws reports on keys, tables and indexes of which every name
// is an attack, until each verdict was given.
func TestNoContributorShowsATextRaw(t *testing.T) {
	t.Parallel()
	m := hostile.New(7)
	check := func(what, text string) {
		t.Helper()
		if wrong := hostile.FaultOfSentence(text); wrong != "" {
			t.Fatalf("%s lets %s through: %q", what, wrong, text)
		}
	}
	loads := []float64{0, 600, 6000, 100_000, 150_000, 179_000, 198_000, 280_000}
	given := map[contributors.Verdict]int{}
	for n := range 4000 {
		value := loads[n%len(loads)]
		table := minutesOf(nil, nil, metrics{written: 70_000, read: 0})
		if m.Odds(2) {
			table[0].Metrics[read] = 210_000
		}
		if m.Odds(2) {
			table[0].Metrics[full] = 90
		}
		if m.Odds(6) {
			table = nil
		}
		one := func(key, sort string, value float64) contributors.Series {
			s := series("", 0, 0, value)
			if s.Keys = []string{key}; sort != "" {
				s.Keys = append(s.Keys, sort)
			}
			return s
		}
		key := m.Text()
		reports := contributors.Reports{Accessed: []contributors.Series{one(key, "", value)}, Minutes: table, Warning: detect.DefaultWarning, AllThrottled: m.Odds(2)}
		if m.Odds(2) {
			reports.Throttled = []contributors.Series{one(key, "", 90), one(m.Text(), "", 7)}
		}
		for _, k := range reports.Judge() {
			if m.Odds(2) {
				k.SetItems([]contributors.Series{one(key, m.Text(), value/3), one(key, m.Text()+"2", value/2)})
			}
			at := contributors.Place{Table: m.Text(), Headroom: detect.DefaultHeadroom}
			if m.Odds(2) {
				at.Index = m.Text()
			}
			k.Advise(at)
			given[k.Verdict]++
			check(string(k.Verdict), k.Why)
			check("what to do first", k.First)
		}
	}
	for _, v := range []contributors.Verdict{
		contributors.Over, contributors.AtLimit, contributors.PartitionFull, contributors.OverNotThrottled, contributors.Near, contributors.Possible,
		contributors.Throttled, contributors.PossiblyNear, contributors.NotOver, contributors.NotCounted,
	} {
		if given[v] == 0 {
			t.Errorf("no key is %s: %v", v, given)
		}
	}
}
