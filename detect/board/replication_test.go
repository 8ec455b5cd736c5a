package board_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/board"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/internal/testsupport/scenario"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// regional is what one Region has of the key tenant#big in each second.
type regional struct {
	region              string
	wcu, rcu, throttled float64
	stream              bool
	unlike              bool // of another account
	from                int64
}

const regionalSeconds = 60

// windows returns the Region's seconds.
func (r regional) windows(t *testing.T) []sketch.Window {
	t.Helper()
	shard := sketch.NewShard(sketch.Config{Seed: scenario.Seed})
	delta := sketch.NewDelta(sketch.Config{Seed: scenario.Seed})
	for second := r.from; second < regionalSeconds; second++ {
		add := func(op sample.Op, units float64, cause string) {
			if units == 0 {
				return
			}
			record := sample.Record{
				Time: (scenario.Began + second) * 1000, Account: "1", Region: r.region, Table: "orders", PK: sample.KeyString("tenant#big"), SK: sample.KeyString("a"),
				Op: op, Rate: 1, N: 1, Change: r.stream, Throttle: cause, Caller: "svc",
			}
			if r.unlike {
				record.Account = "2"
			}
			if op.IsRead() {
				record.RCU = scenario.Milli(units)
			} else {
				record.WCU = scenario.Milli(units)
			}
			if err := shard.Add(&record); err != nil {
				t.Fatal(err)
			}
		}
		add(sample.UpdateItem, r.wcu-r.throttled, "")
		add(sample.UpdateItem, r.throttled, "TableWriteKeyRangeThroughputExceeded")
		add(sample.Query, r.rcu, "")
	}
	shard.Seal(delta)
	return delta.Windows
}

// TestWritesOfAGlobalTableCountInEveryRegion holds what each Region's verdict counts,
// and that one cause is one incident.
func TestWritesOfAGlobalTableCountInEveryRegion(t *testing.T) {
	t.Parallel()
	const eu, us = "eu-west-1", "us-east-1"
	for _, c := range []struct {
		says     string
		replicas []string
		load     []regional
		// want are the findings, as kind, Region, severity, peak, and what of it was replicated.
		want      []string
		incidents int
		root      string // the Region that the first incident is told of
	}{
		{"two Regions write", []string{eu, us}, []regional{{region: eu, wcu: 700}, {region: us, wcu: 700}},
			[]string{"key_writes eu-west-1 critical 1400 700", "key_writes us-east-1 critical 1400 700"}, 1, ""},
		{"a table with a name only", nil, []regional{{region: eu, wcu: 700}, {region: us, wcu: 700}}, nil, 0, ""},
		{"accounts are not replicas", []string{eu, us}, []regional{{region: eu, wcu: 700}, {region: us, wcu: 700, unlike: true}}, nil, 0, ""},
		{"only eu is told of us", []string{us}, []regional{{region: eu, wcu: 1200}},
			[]string{"key_writes eu-west-1 critical 1200 0"}, 1, eu},
		{"one writes and one reads", []string{eu, us}, []regional{{region: eu, rcu: 50}, {region: us, wcu: 1200}},
			[]string{"key_writes eu-west-1 critical 1200 1200 by svc in us-east-1", "key_writes us-east-1 critical 1200 0"}, 1, us},
		{"reads are not replicated", []string{eu, us}, []regional{{region: eu, rcu: 4600}, {region: us, rcu: 4600}},
			[]string{"key_reads eu-west-1 critical 0 -", "key_reads us-east-1 critical 0 -"}, 2, ""},
		{"a little in the other Region", []string{eu, us}, []regional{{region: eu, wcu: 950}, {region: us, wcu: 90}},
			[]string{"key_writes eu-west-1 critical 1040 90", "key_writes us-east-1 critical 1040 950 by svc in eu-west-1"}, 1, ""},
		{"streams have replicated writes in them", []string{eu, us}, []regional{{region: eu, wcu: 1200, stream: true}, {region: us, wcu: 1200, stream: true}},
			[]string{"key_writes eu-west-1 critical 1200 0", "key_writes us-east-1 critical 1200 0"}, 1, ""},
		{"one stream has all", []string{eu, us}, []regional{{region: eu, wcu: 1400, stream: true}, {region: us, wcu: 850}},
			[]string{"key_writes eu-west-1 critical 1400 0", "key_writes us-east-1 warning 850 0"}, 1, eu},
		{"what is throttled is not replicated", []string{eu, us}, []regional{{region: eu, wcu: 1500, throttled: 600}, {region: us, wcu: 150}},
			[]string{"key_writes eu-west-1 critical 1650 150", "key_writes us-east-1 critical 1050 900 by svc in eu-west-1"}, 1, ""},
		{"a Region begins later", []string{eu, us}, []regional{{region: eu, wcu: 700}, {region: us, wcu: 700, from: 40}},
			[]string{"key_writes eu-west-1 critical 1400 700", "key_writes us-east-1 critical 1400 700"}, 1, ""},
	} {
		windows := [][]sketch.Window{}
		for _, r := range c.load {
			windows = append(windows, r.windows(t))
		}
		// Whatever the order in which Regions are read, the verdict is the same.
		inTurn := slices.Concat(windows...)
		slices.SortStableFunc(inTurn, func(x, y sketch.Window) int { return int(x.Second - y.Second) })
		slices.Reverse(windows)
		for order, all := range map[string][]sketch.Window{"in turn": inTurn, "one after another": slices.Concat(windows...)} {
			options := board.Options{Facts: func(detect.Target) *detect.TableFacts { return &detect.TableFacts{Replicas: c.replicas} }}
			b := board.New(options)
			b.Settle(scenario.Began-1, true)
			for i := range all {
				b.Observe(&all[i])
			}
			b.Settle(scenario.Began+regionalSeconds-1, true)
			found := b.Findings()
			var got []string
			for i := range found {
				f := &found[i]
				if !f.Subject.OfKey() {
					continue
				}
				replicated := "-"
				if f.Replication != nil {
					replicated = fmt.Sprintf("%.0f", f.Replication.WCU)
					for _, c := range f.Replication.Callers {
						replicated += fmt.Sprintf(" by %s in %s", c.Text, f.Replication.Writer)
					}
				}
				got = append(got, fmt.Sprintf("%s %s %s %.0f %s", f.Subject, f.Region, f.Severity, f.Peak.WCU.Value, replicated))
			}
			slices.Sort(got)
			if !slices.Equal(got, c.want) {
				t.Errorf("%s, %s: found %q, want %q", c.says, order, got, c.want)
				continue
			}
			incidents := casebook.Incidents(found)
			if len(incidents) != c.incidents {
				t.Errorf("%s, %s: %d incidents, want %d", c.says, order, len(incidents), c.incidents)
				continue
			}
			if c.incidents == 0 {
				continue
			}
			var observed []*sketch.Window
			for i := range all {
				observed = append(observed, &all[i])
			}
			if again := handOver(t, b, options, observed).Findings(); !reflect.DeepEqual(again, found) {
				t.Errorf("%s: another judge goes on with\n%s\nwant\n%s", c.says, inJSON(t, again), inJSON(t, found))
			}
			root := casebook.Roots(found)[0][0]
			if c.root != "" && root.Region != c.root || incidents[0].Root != root.Fingerprint {
				t.Errorf("%s, %s: told of %s", c.says, order, root.Region)
			}
		}
	}
}
