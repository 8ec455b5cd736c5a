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

// request is the middleware of one request: outermost in Initialize, where it
// sees what the program gave and what it will get, and outermost in
// Deserialize, which every attempt passes.
type request struct {
	sampler         *Sampler
	op              sample.Op
	decided         bool // kept by a fixed rate
	kept            bool
	rate            float64
	time            int64
	region          string
	refusedAttempts []throttling // of the throttled attempts, in order
	attempts        int64
	firstEnded      time.Time // when the first attempt ended in an error
	ended           outcome   // of the call, once it is over
	cells           []cell    // its records, until all are known
}

// outcome is how a call ended: after how many attempts, how many milliseconds after the
// first of them, and whether the program got an error.
type outcome struct {
	attempts, waited int64
	failed           bool
}

// add is called by the SDK for each request. One that a fixed rate does not
// keep costs a look at its name and a coin.
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
		return nil // instrumented twice: the first sees everything
	}
	return stack.Deserialize.Add(r, middleware.Before)
}

// ID returns the middleware's name.
func (r *request) ID() string { return stepID }

// HandleInitialize observes the whole request. What goes wrong here is
// contained; what goes wrong below is the program's own and passes.
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

// HandleDeserialize counts the attempts, and notes those that were throttled.
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
	}
	return out, metadata, err
}

// keep decides about the request where the rate depends on how many records it
// will make.
func (r *request) keep(params any) bool {
	records := access.Count(params)
	if records == 0 {
		r.kept = false // another service's operation of that name
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

// observe makes the request's records.
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
	r.recordRefused(v.Accesses, err != nil)
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

// refused records the throttled attempts that were followed by another, or by a
// success: they are no demand of their own.
func (r *request) recordRefused(accesses []access.Access, failed bool) {
	r.sampler.count.throttledAttempts.Add(int64(len(r.refusedAttempts)))
	retried := r.refusedAttempts
	if failed && len(retried) > 0 {
		retried = retried[:len(retried)-1]
	}
	for _, refusal := range retried {
		for _, t := range accesses {
			if t.PK.IsZero() {
				continue // of a Scan the table's own throttles tell; others are counted with the last
			}
			t.Throttle, t.Units = refusal.reason, 0
			r.emitThrottled(&t, refusal, false)
		}
	}
}

// items are what of a request comes together: its items on one key, reads and
// writes apart. Throttled attempts, which have no units, are apart too.
type items struct {
	table, index string
	pk           sample.Key
	write, none  bool
}

func (c *cell) items() items {
	return items{table: c.table, index: c.index, pk: c.pk, write: c.wcu > 0, none: c.wcu == 0 && c.rcu == 0}
}

// flush adds the request's records to the fold, each with how many of the request
// are on its key: those were kept by one coin.
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

// foldOnce returns one of a cell's requests: its caller waited for the call as a whole.
func (r *request) foldOnce(c *cell) folded {
	if c.attempts == 0 {
		return folded{n: 1}
	}
	return folded{n: 1, waited: r.ended.waited}
}

// emit adds one record to those of the request.
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
		throttle: t.Throttle, attempts: r.ended.attempts, failed: r.ended.failed && t.Throttle != "", caller: r.sampler.options.Caller, region: r.region,
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
