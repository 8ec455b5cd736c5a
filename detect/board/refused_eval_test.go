package board_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/table"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/board"
	"github.com/keyheat/keyheat/internal/testsupport/scenario"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

var (
	evalOutages = flag.Int("eval.outages", 24, "how many tables the evaluation of refused requests has for each sampling rate, of a quarter of an hour each")
	evalHarm    = flag.Int("eval.harm", 2, "how many hours of tables with few refused requests it has for each sampling rate below 100%")
)

// refusingTable is a table with one key that stays below its limit. DynamoDB refuses its requests
// with a probability for some seconds.
type refusingTable struct {
	calls, batch int // a second, and the requests of each, which are drawn and refused together
	units        float64
	share        float64
	from, to     int
	reason       string
}

// newRefusingTable draws a table whose key has 300 to 930 write units a second, near its limit
// or far below it.
func newRefusingTable(r *rand.Rand, share float64, seconds, lasts int) refusingTable {
	t := refusingTable{batch: []int{1, 1, 25}[r.IntN(3)], share: share, from: r.IntN(1 + seconds - lasts), reason: keyRangeCause}
	if t.to = t.from + lasts; r.IntN(4) == 0 {
		t.reason = "TableWriteProvisionedThroughputExceeded"
	}
	requests := []int{20, 100, 300}[r.IntN(3)]
	t.calls = max(2, requests/t.batch)
	t.units = (300 + 630*r.Float64()) / float64(t.calls*t.batch)
	return t
}

// counted are all requests of a second, and the refused ones: what no sample knows.
type counted struct{ all, refused int }

// send adds the sampled requests of a second to a shard, and returns how many there were, and how
// many of the sampled ones were refused.
func (a *refusingTable) send(r *rand.Rand, shard *sketch.Shard, second int, rate float64) (truth counted, seen int) {
	share := 0.0
	if a.from <= second && second < a.to {
		share = a.share
	}
	refused := int(distuv.Binomial{N: float64(a.calls), P: share, Src: r}.Rand())
	for i := range a.calls {
		if r.Float64() >= rate {
			continue
		}
		record := sample.Record{
			Time: (scenario.Began+int64(second))*1000 + r.Int64N(1000), Table: "orders", PK: sample.KeyString("k"), Op: sample.BatchWriteItem,
			WCU: scenario.Milli(a.units), Rate: rate, N: int64(a.batch), Calls: 1, Caller: fmt.Sprint(i % 5),
		}
		if i < refused {
			record.Throttle = a.reason
			seen += a.batch
		}
		if err := shard.Add(&record); err != nil {
			panic(err)
		}
	}
	return counted{a.calls * a.batch, refused * a.batch}, seen
}

// refusedVerdict is what a table's judge found, and the truth.
type refusedVerdict struct {
	found, fired, critical bool
	share                  float64 // as the finding says, of a minute or more
	seen                   int     // sampled refusals
	truth                  []counted
}

// judgeEvery30 judges a table for some seconds, and shows all findings every 30 seconds. send adds a
// second's samples to a shard.
func judgeEvery30(seconds int, send func(second int, shard *sketch.Shard), found func(*detect.Finding)) {
	b, shard := board.New(board.Options{}), sketch.NewShard(sketch.Config{Seed: scenario.Seed, CounterBytes: 1 << 12, Sets: 16})
	b.Settle(scenario.Began-1, true)
	for second := range seconds {
		send(second, shard)
		for _, w := range scenario.SealedWindows(shard) {
			b.Observe(&w)
		}
		b.Settle(scenario.Began+int64(second), true)
		if second%30 == 29 {
			for _, f := range b.Findings() {
				found(&f)
			}
		}
	}
}

// judgeRefusals judges a table for some seconds.
func judgeRefusals(a refusingTable, rate float64, seconds int, seed uint64) (v refusedVerdict) {
	r := rand.New(rand.NewPCG(seed, 5))
	judgeEvery30(seconds, func(second int, shard *sketch.Shard) {
		truth, seen := a.send(r, shard, second, rate)
		v.truth, v.seen = append(v.truth, truth), v.seen+seen
	}, func(f *detect.Finding) {
		v.found, v.fired = true, v.fired || f.State == detect.Firing
		v.critical = v.critical || f.Severity == detect.Critical
		if t := f.Throttling; t != nil && t.To.Sub(t.From).Seconds() >= detect.OutageSeconds-1 {
			v.share = max(v.share, t.Share)
		}
	})
	return v
}

// worst returns the largest refused share of all requests in so many seconds, with at least
// RefusedSeconds of them refused.
func (v *refusedVerdict) worst(length int) (most float64) {
	for from := 0; from+length <= len(v.truth); from++ {
		sum, seconds := counted{}, 0
		for _, c := range v.truth[from : from+length] {
			sum.all, sum.refused = sum.all+c.all, sum.refused+c.refused
			seconds += detect.BoolToInt(c.refused > 0)
		}
		if share := detect.Ratio(float64(sum.refused), float64(sum.all)); seconds >= detect.RefusedSeconds {
			most = max(most, share)
		}
	}
	return most
}

// TestEvaluationOfRefusals compares what is said of refused requests with all requests of seeded
// tables. No minute with 5% refused is missed if samples show 20 refusals, and none stays pending
// if these were drawn apart.
func TestEvaluationOfRefusals(t *testing.T) {
	t.Parallel()
	const quarter, minuteShare, enough = 900, 0.05, 20
	tables := brief(*evalOutages, 8)
	var out strings.Builder
	rows := table.NewWriter()
	rows.SetOutputMirror(&out)
	rows.AppendHeader(table.Row{"SAMPLED", "TABLES", "≥5% FOR A MINUTE", "FOUND", "OF ≥20 SAMPLED", "MISSED", "NOT SENT", "SAID ≥5%", "RIGHT"})
	for _, rate := range []float64{1, 0.1, 0.01} {
		truths, found, shown, missed, unsent, said, right := 0, 0, 0, 0, 0, 0, 0
		for n := range tables {
			r := rand.New(rand.NewPCG(uint64(n), 4))
			share := []float64{0, 0.002, 0.02, 0.06, 0.08, 0.15, 0.3, 0.6}[n%8]
			a := newRefusingTable(r, share, quarter, 60+r.IntN(540))
			v := judgeRefusals(a, rate, quarter, uint64(n))
			truth := v.worst(60) >= minuteShare
			truths += detect.BoolToInt(truth)
			found += detect.BoolToInt(truth && v.found)
			shown += detect.BoolToInt(truth && v.seen >= enough)
			missed += detect.BoolToInt(truth && v.seen >= enough && !v.found)
			unsent += detect.BoolToInt(truth && v.seen >= enough*a.batch && !v.fired) // a batch is one draw
			said += detect.BoolToInt(v.share >= minuteShare)
			right += detect.BoolToInt(v.share >= minuteShare && truth)
		}
		rows.AppendRow(table.Row{fmt.Sprintf("%g%%", 100*rate), tables, truths, found, shown, missed, unsent, said, right})
		if missed+unsent > 0 || shown == 0 || rate == 1 && (found < truths || right < said) || right < said*9/10 {
			t.Errorf("sampled at %v: %d of %d missed, %d not sent, %d of %d found, %d of %d right", rate, missed, shown, unsent, found, truths, right, said)
		}
	}
	rows.Render()
	t.Log("\n" + out.String())
}

// TestNoFalseHarm holds that samples of few refusals make no finding critical.
func TestNoFalseHarm(t *testing.T) {
	t.Parallel()
	const hour = 3600
	wrong, hours := 0, 0
	for _, rate := range []float64{0.1, 0.01} {
		for n := range *evalHarm {
			r := rand.New(rand.NewPCG(uint64(n), 6))
			a := newRefusingTable(r, []float64{0.0005, 0.001, 0.002, 0.004}[n%4], hour, hour)
			if a.reason != keyRangeCause {
				a.share *= 10 // a table's outage is a tenth
			}
			v := judgeRefusals(a, rate, hour, uint64(n))
			limit := detect.RefusedShare
			if a.reason != keyRangeCause {
				limit = detect.OutageShare
			}
			if v.worst(detect.RefusedOf) >= limit || v.worst(detect.OutageSeconds) >= limit {
				continue // of few requests one is a large part
			}
			hours++
			if v.critical {
				wrong++
				t.Logf("critical: %+v, sampled at %v", a, rate)
			}
		}
	}
	t.Logf("%d of %d table-hours with too few refusals are critical", wrong, hours)
	if wrong*1000 > hours {
		t.Errorf("%d of %d table-hours are critical without harm, want at most one in 1,000", wrong, hours)
	}
}
