package judge_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

var (
	unknown = sample.Target{Table: table}
	ireland = sample.Target{Account: "123456789012", Region: "eu-west-1", Table: table}
	oregon  = sample.Target{Account: "123456789012", Region: "us-west-2", Table: table}
	staging = sample.Target{Account: "210987654321", Region: "eu-west-1", Table: table}
)

// at gives a collector an account and a Region.
func (c *collector) at(of sample.Target) *collector {
	c.of = of
	return c
}

// chain is what was told of the table's incidents, each with the Regions it is of.
func chain(t *testing.T, s *store.Store) (told []string) {
	t.Helper()
	findings, err := s.Findings(t.Context(), store.FindingQuery{})
	must(t, err)
	for _, f := range findings {
		all, err := s.Notifications(t.Context(), f.Fingerprint)
		must(t, err)
		for _, n := range all {
			told = append(told, fmt.Sprintf("%s %s %s", f.Name(), f.Key, n.Event))
		}
	}
	slices.Sort(told)
	return told
}

// incidents are the stored ones of hot keys, with a check of what refers to them.
func incidents(t *testing.T, s *store.Store) (all []detect.Incident) {
	t.Helper()
	rows, err := s.Incidents(t.Context(), store.IncidentQuery{Subject: string(detect.KeyWrites)})
	must(t, err)
	for _, row := range rows {
		var i detect.Incident
		must(t, json.Unmarshal(row.Document, &i))
		slices.Sort(row.Findings)
		slices.Sort(i.Findings)
		equal(t, "columns", []any{row.ID, row.State, row.Target, row.Findings}, []any{i.ID, string(i.State), i.Target, i.Findings})
		all = append(all, i)
	}
	return all
}

// incidentOf is the incident that a stored finding says it is evidence of.
func incidentOf(t *testing.T, s *store.Store, fingerprint string) string {
	t.Helper()
	row, err := s.Finding(t.Context(), fingerprint)
	must(t, err)
	f, err := detect.ReadFinding(row.Document)
	must(t, err)
	return f.Incident
}

// written are the write units that are stored of each target.
func written(t *testing.T, s *store.Store) map[sample.Target]int64 {
	t.Helper()
	totals, err := s.Totals(t.Context())
	must(t, err)
	units := make(map[sample.Target]int64)
	for _, o := range totals {
		units[o.Target] = o.WriteMilli / 1000
	}
	return units
}

// TestRegionsAreTablesOfTheirOwn puts 700 WCU on the same key in two Regions, and
// in another account: no partition has more than 700, and nobody is paged.
func TestRegionsAreTablesOfTheirOwn(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *store.Store) {
		start := begin()
		j := run(t, quick(), &probe{Store: s})
		all := []sample.Target{ireland, oregon, staging}
		for i, of := range all {
			c := collect(t, s, fmt.Sprint("c", i), i, start).at(of)
			c.commit(30, hot("hot", 700, 0, 30)...)
		}
		j.quiet(t)
		equal(t, "told", chain(t, s), nil)
		findings, err := s.Findings(t.Context(), store.FindingQuery{Severity: string(detect.Critical)})
		must(t, err)
		equal(t, "critical findings", len(findings), 0)
		equal(t, "written", written(t, s), map[sample.Target]int64{ireland: 21000, oregon: 21000, staging: 21000})
		views, err := s.TableViews(t.Context())
		must(t, err)
		equal(t, "views", len(views), len(all))
	})
}

// TestAKnownTableContinuesItsIncident has samples begin, or cease, to carry account and
// Region while a key is hot: one incident, one page at its beginning and one at its
// end, with the judge that saw the beginning and with another one.
func TestAKnownTableContinuesItsIncident(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]struct{ before, after sample.Target }{
		"becomes known":      {unknown, ireland},
		"Region at first":    {sample.Target{Region: ireland.Region, Table: table}, ireland},
		"is lost again":      {ireland, unknown},
		"was never the same": {ireland, oregon},
	} {
		for _, restart := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s restart %t", name, restart), func(t *testing.T) {
				t.Parallel()
				each(t, func(t *testing.T, s *store.Store) {
					c := collect(t, s, "a", 0, begin()).at(change.before)
					j := run(t, quick(), &probe{Store: s})
					next := func() {
						if j.quiet(t); restart {
							j.stop()
							j = run(t, quick(), &probe{Store: s})
							j.quiet(t)
						}
					}
					c.commit(10, hot("hot", 1200, 0, 10)...)
					next()
					c.at(change.after)
					for second := 10; second < 130; second += 20 {
						c.commit(second+20, hot("hot", 1200, second, second+20)...)
						next()
					}
					equal(t, "written", written(t, s), map[sample.Target]int64{change.before: 12000, change.after: 144000})
					if !change.before.MayBe(change.after) {
						equal(t, "told", chain(t, s), []string{
							ireland.Name() + " hot firing", ireland.Name() + " hot resolved", oregon.Name() + " hot firing",
						})
						return
					}
					equal(t, "told", chain(t, s), []string{change.before.Name() + " hot firing"})
					open := incidents(t, s)
					if len(open) != 1 || open[0].State != detect.Firing || open[0].Target != ireland || open[0].Revision != 1 || len(open[0].Findings) != 2 {
						t.Fatalf("while it goes on the incidents are %+v", open)
					}
					for _, fingerprint := range open[0].Findings {
						equal(t, "incident of "+fingerprint, incidentOf(t, s, fingerprint), open[0].ID)
					}

					c.commit(230, hot("cold", 5, 130, 230)...)
					next()
					equal(t, "told", chain(t, s), []string{change.before.Name() + " hot firing", change.before.Name() + " hot resolved"})
					over := incidents(t, s)
					if len(over) != 1 || over[0].State != detect.Resolved || over[0].ResolvedAt == nil || over[0].ID != open[0].ID || !over[0].OpenedAt.Equal(open[0].OpenedAt) {
						t.Fatalf("when it is over the incidents are %+v", over)
					}

					c.commit(250, hot("hot", 1300, 230, 250)...) // another episode pages
					next()
					equal(t, "told", len(chain(t, s)), 3)
				})
			})
		}
	}
}

// TestAMixedFleetPagesOnce has two collectors with the hot key at once and for as long.
// The samples of one carry account and Region, and the samples of the other do not.
func TestAMixedFleetPagesOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *store.Store) {
		start := begin()
		j := run(t, quick(), &probe{Store: s})
		bare, recent := collect(t, s, "bare", 0, start), collect(t, s, "new", 1, start).at(ireland)
		for second := 0; second < 20; second += 5 {
			bare.commit(second+5, hot("hot", 1100, second, second+5)...)
			recent.commit(second+5, hot("hot", 1200, second, second+5)...)
			j.quiet(t)
		}
		if told := chain(t, s); len(told) != 1 {
			t.Errorf("told %q, want one page", told)
		}
		equal(t, "written", written(t, s), map[sample.Target]int64{unknown: 22000, ireland: 24000})
		bare.commit(120, hot("cold", 5, 20, 120)...)
		recent.commit(120, append(hot("hot", 1200, 20, 100), hot("cold", 5, 100, 120)...)...)
		j.quiet(t)
		if told := chain(t, s); len(told) != 1 {
			t.Errorf("while one of both is hot: told %q, want one page", told)
		}
		for _, c := range []*collector{bare, recent} {
			c.commit(220, hot("cold", 5, 120, 220)...)
		}
		j.quiet(t)
		if told := chain(t, s); len(told) != 2 {
			t.Errorf("when both are over: told %q, want one page and its end", told)
		}
		all := incidents(t, s)
		if len(all) != 1 || all[0].State != detect.Resolved || all[0].Target != ireland {
			t.Errorf("incidents %+v", all)
		}
	})
}

// TestAKilledJudgeContinuesTheIncident kills the judge at every single call to the
// store while a table becomes known, before or after it is carried out: its
// successor pages nobody again, and forgets no end.
func TestAKilledJudgeContinuesTheIncident(t *testing.T) {
	t.Parallel()
	for at := range kills {
		for _, late := range []bool{false, true} {
			t.Run(fmt.Sprintf("call %d late %t", at, late), func(t *testing.T) {
				t.Parallel()
				s := open(t, database(t))
				p := &probe{Store: s, killAt: at, late: late}
				c, j := collect(t, s, "a", 0, begin()), run(t, quick(), p)
				next := func() {
					if j.quiet(t); p.dead.Load() {
						j.stop()
						p = &probe{Store: s}
						j = run(t, quick(), p)
						j.quiet(t)
					}
				}
				c.commit(5, hot("hot", 1200, 0, 5)...)
				next()
				c.at(ireland)
				c.commit(15, hot("hot", 1200, 5, 15)...)
				next()
				c.commit(95, hot("hot", 1200, 15, 95)...)
				next()
				c.commit(195, hot("cold", 5, 95, 195)...)
				next()
				next()
				equal(t, "told", chain(t, s), []string{"orders hot firing", "orders hot resolved"})
				equal(t, "written", written(t, s), map[sample.Target]int64{unknown: 6000, ireland: 108500})
				if all := incidents(t, s); len(all) != 1 || all[0].State != detect.Resolved || len(all[0].Findings) != 2 {
					t.Errorf("incidents %+v", all)
				}
			})
		}
	}
}
