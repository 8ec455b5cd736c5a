package board_test

import (
	"container/heap"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/board"
	"github.com/keyheat/keyheat/internal/testsupport/scenario"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// retryPolicy is how AWS's SDKs send a throttled call again: at most attempts times, with
// a jittered pause that doubles from base up to longest, in seconds. A retry takes tokens
// from a bucket, and a served call gives one back; 0 tokens for no bucket.
type retryPolicy struct {
	name          string
	attempts      int
	base, longest float64
	tokens, cost  float64
}

// retryPolicies are the ones before and since 2026-11-10.
var retryPolicies = []retryPolicy{
	{name: "before", attempts: 10, base: 0.05, longest: 20},
	{name: "since", attempts: 4, base: 1, longest: 20, tokens: 500, cost: 5},
}

// sentCall is a call on its way: its next attempt, and how many it had.
type sentCall struct {
	began, next float64
	attempts    int
	failed      bool
}

type callQueue []*sentCall

func (q callQueue) Len() int           { return len(q) }
func (q callQueue) Less(i, j int) bool { return q[i].next < q[j].next }
func (q callQueue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *callQueue) Push(c any)        { *q = append(*q, c.(*sentCall)) }
func (q *callQueue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// send sends as many calls a second to one partition, and returns them when all have ended.
func (p *retryPolicy) send(r *rand.Rand, perSecond, seconds int) (all []*sentCall, attempts int) {
	queue, tokens, served := callQueue{}, p.tokens, map[int]int{}
	for i := range perSecond * seconds {
		began := (float64(i) + r.Float64()) / float64(perSecond)
		call := &sentCall{began: began, next: began}
		queue, all = append(queue, call), append(all, call)
	}
	heap.Init(&queue)
	for queue.Len() > 0 {
		call := heap.Pop(&queue).(*sentCall)
		call.attempts++
		attempts++
		if served[int(call.next)] < 1000 {
			served[int(call.next)]++
			tokens = min(p.tokens, tokens+1)
			continue
		}
		if call.attempts == p.attempts || p.tokens > 0 && tokens < p.cost {
			call.failed = true
			continue
		}
		tokens -= p.cost
		call.next += r.Float64() * min(p.longest, p.base*math.Pow(2, float64(call.attempts-1)))
		heap.Push(&queue, call)
	}
	return all, attempts
}

// records returns a call's samples, as the SDK's middleware writes them.
func (c *sentCall) records(rate float64) []sample.Record {
	const reason = "TableWriteKeyRangeThroughputExceeded"
	end := sample.Record{
		Time: scenario.Began*1000 + int64(c.began*1000), Table: "orders", PK: sample.KeyString("acme"), Op: sample.PutItem, WCU: scenario.Milli(1),
		N: 1, Rate: rate, Calls: 1, Attempts: int64(c.attempts), Waited: 1000 * (c.next - c.began), Failed: c.failed, Caller: "svc",
	}
	if c.failed {
		end.Throttle = reason
	}
	if c.attempts == 1 {
		return []sample.Record{end}
	}
	before := end
	before.WCU, before.Throttle, before.Attempts, before.Waited, before.Failed = 0, reason, 0, 0, false
	before.N, before.Calls = int64(c.attempts-1), float64(c.attempts-1)
	return []sample.Record{before, end}
}

// TestEvaluationOfRetries holds a key's demand to its calls, whatever the policy of its
// callers' SDK makes of them: within 5%.
func TestEvaluationOfRetries(t *testing.T) {
	t.Parallel()
	seconds := brief(120, 20)
	view := table.NewWriter()
	view.AppendHeader(table.Row{"policy", "calls/s", "attempts/s", "sampled", "demand", "off"})
	for _, policy := range retryPolicies {
		for _, perSecond := range []int{1100, 1500, 3000} {
			for _, rate := range []float64{1, 0.1} {
				r := rand.New(rand.NewPCG(24, uint64(perSecond)))
				calls, attempts := policy.send(r, perSecond, seconds)
				slices.SortFunc(calls, func(x, y *sentCall) int { return int(x.began) - int(y.began) })
				demand := judgedDemand(t, calls, rate, r)
				off := demand/float64(perSecond) - 1
				if math.Abs(off) > 0.05 {
					t.Errorf("%s, %d calls a second at %v: a demand of %.0f", policy.name, perSecond, rate, demand)
				}
				view.AppendRow(table.Row{policy.name, perSecond, attempts / seconds, rate, fmt.Sprintf("%.0f", demand), fmt.Sprintf("%+.1f%%", 100*off)})
			}
		}
	}
	t.Logf("\n%s", view.Render())
}

// judgedDemand returns the mean load that the verdict gives the calls' key.
func judgedDemand(t *testing.T, calls []*sentCall, rate float64, r *rand.Rand) float64 {
	t.Helper()
	judge := board.New(board.Options{})
	judge.Settle(scenario.Began-1, true)
	shard, second := sketch.NewShard(sketch.Config{Seed: scenario.Seed}), 0
	seal := func() {
		for _, w := range scenario.SealedWindows(shard) {
			judge.Observe(&w)
		}
		judge.Settle(scenario.Began+int64(second), true)
	}
	for _, c := range calls {
		if int(c.began) > second {
			seal()
			second = int(c.began)
		}
		if r.Float64() >= rate {
			continue
		}
		for _, record := range c.records(rate) {
			if err := shard.Add(&record); err != nil {
				t.Fatal(err)
			}
		}
	}
	seal()
	for _, f := range judge.Findings() {
		if f.Subject == detect.KeyWrites {
			return f.Mean.WCU.Value
		}
	}
	t.Error("the key has no finding")
	return 0
}
