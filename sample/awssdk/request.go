package awssdk

import (
	"context"
	"time"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go/middleware"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/awssdk/internal/access"
)

// stepID is the middleware's name in the SDK's stacks.
const stepID = "Keyheat"

// request is the middleware of one request. It is outermost in Initialize, where it sees the
// program's input and output, and outermost in Deserialize, where it sees every attempt.
type request struct {
	sampler         *Sampler
	op              sample.Op
	decided         bool // a fixed rate has kept it
	kept            bool
	rate            float64
	time            int64
	region          string
	refusedAttempts []throttling // throttled attempts, in order
	lostAttempts    []lostAttempt
	attempts        int64
	firstEnded      time.Time // end of the first failed attempt
	ended           outcome   // set when the call has ended
	cells           []cell    // the request's records, until all are known
}

// outcome is the end of a call: its attempts, the milliseconds since the end of the first one,
// and whether the program got an error.
type outcome struct {
	attempts, waited int64
	failed           bool
}

// add is called by the SDK for each request. A request that a fixed rate drops costs a
// comparison of its name and a random number.
func (s *Sampler) add(stack *middleware.Stack) error {
	op, ok := sample.ParseOp(stack.ID())
	if !ok || s.fold.closed.Load() {
		return nil
	}
	share, decided := s.gate.(fixed)
	var rate float64
	if decided {
		s.count.requests.Add(1)
		var keep bool
		if rate, keep = share.admit(1); !keep {
			return nil
		}
	}
	r := &request{sampler: s, op: op, decided: decided, kept: decided, rate: rate}
	if stack.Initialize.Add(r, middleware.Before) != nil {
		return nil // instrumented twice: the first one observes all requests
	}
	return stack.Deserialize.Add(r, middleware.Before)
}

// ID returns the middleware's name.
func (r *request) ID() string { return stepID }

// HandleInitialize observes the whole request. It contains the middleware's own panics and
// passes on the program's.
func (r *request) HandleInitialize(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (
	middleware.InitializeOutput, middleware.Metadata, error,
) {
	if !r.keep(in.Parameters) {
		return next.HandleInitialize(ctx, in)
	}
	r.time, r.region = time.Now().UnixMilli(), awsmiddleware.GetRegion(ctx)
	given := in.Parameters
	asked := false
	if r.sampler.options.AskCapacity {
		in.Parameters, asked = askCapacity(given)
	}
	out, metadata, err := next.HandleInitialize(ctx, in)
	r.observe(given, out.Result, err)
	if asked {
		forgetCapacity(out.Result)
	}
	return out, metadata, err
}

// HandleDeserialize counts the attempts, and notes the throttled ones and the lost ones.
func (r *request) HandleDeserialize(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (
	middleware.DeserializeOutput, middleware.Metadata, error,
) {
	out, metadata, err := next.HandleDeserialize(ctx, in)
	r.attempts++
	if err != nil && r.kept {
		if r.firstEnded.IsZero() {
			r.firstEnded = time.Now()
		}
		if refusal, throttled := throttlingOf(err); throttled {
			r.refusedAttempts = append(r.refusedAttempts, refusal)
		}
		if lost := lostBy(err); len(lost) > 0 {
			r.lostAttempts = append(r.lostAttempts, lost)
		}
	}
	return out, metadata, err
}

// keep decides about the request if the rate depends on the number of its records.
func (r *request) keep(params any) bool {
	records := access.Count(params)
	if records == 0 {
		r.kept = false // an operation of another service with the same name
		return false
	}
	if !r.decided {
		r.sampler.count.requests.Add(1)
		r.rate, r.kept = r.sampler.gate.admit(records)
	}
	if r.kept {
		r.sampler.count.kept.Add(1)
	}
	return r.kept
}

func (r *request) observe(params, result any, err error) {
	defer func() {
		if recover() != nil {
			r.sampler.count.panicks.Add(1)
		}
	}()
	defer r.flush()
	var one [1]access.Access
	v := access.Reader{Schemas: r.sampler.schemas, Accesses: one[:0]}
	defer func() {
		r.sampler.count.failed.Add(v.Failed)
		r.sampler.count.notReadable.Add(v.NotReadable)
	}()
	v.Read(params, result)
	r.recordRefused(v.Accesses, err)
	r.countLost(v.Accesses)
	r.ended = outcome{attempts: r.attempts, failed: err != nil}
	if !r.firstEnded.IsZero() {
		r.ended.waited = time.Since(r.firstEnded).Round(time.Millisecond).Milliseconds()
	}
	if err != nil {
		r.recordFailed(v.Accesses, err)
		return
	}
	v.MarkUnprocessed(params, result)
	r.charge(v.Accesses, capacities(result))
}

// recordRefused records the throttled attempts that carry no requested load: all but the one with
// which the request ended.
func (r *request) recordRefused(accesses []access.Access, err error) {
	r.sampler.count.throttledAttempts.Add(int64(len(r.refusedAttempts)))
	retried := r.refusedAttempts
	if endsThrottled(err) && len(retried) > 0 {
		retried = retried[:len(retried)-1]
	}
	for _, refusal := range retried {
		for i, t := range accesses {
			if t.Throttle = r.reasonFor(&refusal, i, &t); t.Throttle == "" || t.PK.IsZero() {
				continue // the last attempt alone counts an access without a key
			}
			t.Units = 0
			r.emitThrottled(&t, refusal, false)
		}
	}
}

// items counts a request's items on one key. Reads, writes, and throttled attempts without
// units are kept apart.
type items struct {
	table, index string
	pk           sample.Key
	write, none  bool
}

func (c *cell) items() items {
	return items{table: c.table, index: c.index, pk: c.pk, write: c.wcu > 0, none: c.wcu == 0 && c.rcu == 0}
}

// flush adds the request's records to the fold, each with the number of the request's items on
// its key.
func (r *request) flush() {
	if len(r.cells) == 1 {
		r.cells[0].together = 1
		r.sampler.fold.add(r.cells[0], r.foldOnce(&r.cells[0]))
		return
	}
	together := make(map[items]int, len(r.cells))
	for i := range r.cells {
		together[r.cells[i].items()]++
	}
	for i := range r.cells {
		r.cells[i].together = together[r.cells[i].items()]
		r.sampler.fold.add(r.cells[i], r.foldOnce(&r.cells[i]))
	}
}

// foldOnce returns one request of a cell. Its caller waited for the call as a whole.
func (r *request) foldOnce(c *cell) folded {
	if c.attempts == 0 {
		return folded{n: 1}
	}
	return folded{n: 1, waited: r.ended.waited}
}

func (r *request) emit(t *access.Access, estimated bool) {
	if t.PK.IsZero() && r.op != sample.Scan {
		if !t.Unreadable {
			r.sampler.count.unknownKeys.Add(1)
		}
		return
	}
	c := cell{
		time: r.time, table: t.Table, index: t.Index, op: r.op, estimated: estimated, rate: r.rate,
		pk: r.sampler.hide.hide(t.PK), sk: r.sampler.hide.hide(t.SK),
		throttle: t.Throttle, attempts: r.ended.attempts, failed: r.ended.failed && (t.Throttle != "" || t.Lost && t.Conflicts+t.ConditionsFailed > 1),
		conflicts: t.Conflicts, conditions: t.ConditionsFailed, caller: r.sampler.options.Caller, region: r.region,
	}
	if t.Write {
		c.wcu = t.Units
	} else {
		c.rcu, c.read = t.Units, t.Consistency
	}
	if estimated {
		c.bytes = t.ChargedBytes()
	}
	r.cells = append(r.cells, c)
}
