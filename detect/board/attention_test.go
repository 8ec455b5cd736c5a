package board_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/board"
	"github.com/keyheat/keyheat/internal/testsupport/scenario"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// attention is a key at 130% of a partition's limit for some seconds, twice, with quiet between.
// Its partition refuses attempts from a second on. They carry no units.
type attention struct {
	callers  int
	attempts bool
	side     string // writes, reads or index
	refused  int    // from which hot second on; none before noRefusals
	others   bool   // the callers are refused on another key, not on this one
	restart  int    // after how many seconds another judge takes over; 0 for never
}

const (
	hotSeconds, quietSeconds = 40, 62
	noRefusals               = hotSeconds
)

func (a attention) String() string {
	type plain attention
	return fmt.Sprintf("%+v", plain(a))
}

// records returns the requests of a second: the key's load, attempts that were refused, and other
// keys' load by other callers.
func (a attention) records(second int) (all []sample.Record) {
	index := map[string]string{"index": "by-status"}[a.side]
	base := sample.Record{Time: (scenario.Began + int64(second)) * 1000, Table: "orders", Index: index, Op: sample.UpdateItem, Rate: 1}
	if a.side == "reads" {
		base.Op, base.Read = sample.GetItem, sample.Strong
	}
	load := func(r *sample.Record, units int64) {
		r.N, r.WCU = units, 1000
		if a.side == "reads" {
			r.WCU, r.RCU = 0, 3000
		}
	}
	for i := range 10 {
		other := base
		other.PK, other.Caller = sample.KeyString(fmt.Sprintf("cold#%d", i)), fmt.Sprintf("batch-%d", i%7)
		load(&other, 30)
		all = append(all, other)
	}
	hot := second%(hotSeconds+quietSeconds) < hotSeconds
	for i := range 20 {
		r := base
		r.Time += int64(i) * 50
		r.PK, r.SK = sample.KeyString("k"), sample.KeyString(fmt.Sprint(i))
		if a.callers > 0 {
			r.Caller = fmt.Sprintf("web-%d", i%a.callers)
		}
		load(&r, map[bool]int64{true: 65, false: 5}[hot])
		refused := hot && second%(hotSeconds+quietSeconds) >= a.refused
		if a.attempts {
			r.Attempts = 1 + int64(detect.BoolToInt(refused))
		}
		all = append(all, r)
		if refused {
			r.WCU, r.RCU, r.N, r.Attempts = 0, 0, 3, 0
			if a.others {
				r.PK = sample.KeyString("cold#1")
			}
			r.Throttle = map[string]string{"writes": "TableWriteKeyRangeThroughputExceeded", "reads": "TableReadKeyRangeThroughputExceeded", "index": "IndexWriteKeyRangeThroughputExceeded"}[a.side]
			all = append(all, r)
		}
	}
	return all
}

// kinds are the kinds of the key's own finding.
var attentionKinds = map[string]detect.Subject{"writes": detect.KeyWrites, "reads": detect.KeyReads, "index": detect.KeyWrites}

// check judges every second of the story.
func (a attention) check(t *testing.T) {
	t.Helper()
	b, shard := board.New(board.Options{}), sketch.NewShard(sketch.Config{Seed: scenario.Seed})
	b.Settle(scenario.Began-1, true)
	incident := ""
	var observed []*sketch.Window
	for second := range 2*(hotSeconds+quietSeconds) - 1 {
		if a.restart > 0 && second == a.restart {
			b = handOver(t, b, board.Options{}, observed)
		}
		for _, r := range a.records(second) {
			if err := shard.Add(&r); err != nil {
				t.Fatal(err)
			}
		}
		for _, w := range scenario.SealedWindows(shard) {
			b.Observe(&w)
			observed = append(observed, &w)
		}
		b.Settle(scenario.Began+int64(second), true)
		f := single(t, b.Findings(), attentionKinds[a.side])
		if f == nil {
			t.Fatalf("%s: no finding at %d s", a, second)
		}
		if incident == "" {
			incident = f.Incident
		}
		if f.Incident != incident {
			t.Fatalf("%s: at %d s it belongs to another incident", a, second)
		}
		a.checkSecond(t, second, f)
	}
}

func (a attention) checkSecond(t *testing.T, second int, f *detect.Finding) {
	t.Helper()
	round, at := second/(hotSeconds+quietSeconds), second%(hotSeconds+quietSeconds)
	begin := time.Unix(scenario.Began+int64(round*(hotSeconds+quietSeconds)), 0).UTC()
	last := begin.Add(time.Duration(min(at, hotSeconds-1)) * time.Second)
	state := detect.Firing
	switch {
	case at < 1:
		state = detect.Pending
	case at >= hotSeconds-1+detect.ResolveSeconds:
		state = detect.Resolved
	}
	severity := detect.Critical
	if a.others && second >= a.refused { // DynamoDB has split the key already, as far as enough requests show
		severity = detect.Warning
		if at < detect.HarmOf {
			severity = f.Severity
		}
	}
	if f.State != state || f.Severity != severity || !f.FirstSeen.Equal(begin) || !f.LastSeen.Equal(last) {
		t.Fatalf("%s: at %d s of %d it is %s and %s from %s to %s, want %s and %s from %s to %s",
			a, at, round+1, f.State, f.Severity, f.FirstSeen.Format("15:04:05"), f.LastSeen.Format("15:04:05"), state, severity, begin.Format("15:04:05"), last.Format("15:04:05"))
	}
	if at >= detect.HarmOf && at < hotSeconds && f.Lasting != severity {
		t.Fatalf("%s: at %d s of %d its lasting severity is %q", a, at, round+1, f.Lasting)
	}
}

// TestSeverityMayFall: a key that turns out to be served above the limit is a warning, and is
// observed to its end like any other.
func TestSeverityMayFall(t *testing.T) {
	t.Parallel()
	for _, side := range []string{"writes", "reads", "index"} {
		for callers := 1; callers <= 3; callers++ {
			attention{callers: callers, side: side, refused: 12, others: true}.check(t)
		}
	}
}

// TestAttention: what is known about callers and attempts takes nothing from a key above the
// limit. Each second of it is observed to its end, it ends, and it can fire again.
func TestAttention(t *testing.T) {
	t.Parallel()
	for _, side := range []string{"writes", "reads", "index"} {
		t.Run(side, func(t *testing.T) {
			t.Parallel()
			all := []int{0, 1, 2, 5}
			if !testing.Short() {
				all = append(all, 3, 4, 6, 7, 8, 9, 10)
			}
			for _, callers := range all {
				for _, attempts := range []bool{false, true} {
					for _, refused := range []int{0, 12, noRefusals} {
						for _, restart := range []int{0, 20} {
							attention{callers: callers, attempts: attempts, side: side, refused: refused, restart: restart}.check(t)
						}
					}
				}
			}
		})
	}
}
