package awssdk

import (
	"context"
	"time"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go/middleware"

	"github.com/keyheat/keyheat/sample"
)

// stepID is the middleware's name in the SDK's stacks.
const stepID = "Keyheat"

// request is the middleware of one request: outermost in Initialize, where it
// sees what the program gave and what it will get, and outermost in
// Deserialize, which every attempt passes.
type request struct {
	sampler *Sampler
	op      sample.Op
	decided bool // kept by a fixed rate
	kept    bool
	rate    float64
	time    int64
	region  string
	refused []refusal // of the throttled attempts, in order
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

// HandleDeserialize notes the throttled attempts.
func (r *request) HandleDeserialize(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (
	middleware.DeserializeOutput, middleware.Metadata, error,
) {
	out, metadata, err := next.HandleDeserialize(ctx, in)
	if err != nil && r.kept {
		if refusal, throttled := refusalOf(err); throttled {
			r.refused = append(r.refused, refusal)
		}
	}
	return out, metadata, err
}

// keep decides about the request where the rate depends on how many records it
// will make.
func (r *request) keep(params any) bool {
	records := size(params)
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
	var one [1]touch
	v := view{schemas: r.sampler.schemas, touches: one[:0]}
	defer func() {
		r.sampler.count.failed.Add(v.failed)
		r.sampler.count.notReadable.Add(v.notReadable)
	}()
	v.read(params, result)
	r.attempts(v.touches, err != nil)
	if err != nil {
		r.failed(v.touches, err)
		return
	}
	v.unprocessed(params, result)
	r.charge(v.touches, capacities(result))
}

// attempts records the refused attempts that were followed by another, or by a
// success: they are no demand of their own.
func (r *request) attempts(touches []touch, failed bool) {
	r.sampler.count.throttledAttempts.Add(int64(len(r.refused)))
	retried := r.refused
	if failed && len(retried) > 0 {
		retried = retried[:len(retried)-1]
	}
	for _, refusal := range retried {
		for _, t := range touches {
			if t.pk.IsZero() {
				continue // of a Scan the table's own throttles tell; others are counted with the last
			}
			t.throttle, t.units = refusal.reason, 0
			r.emit(&t, false)
		}
	}
}

// emit hands one record to the fold.
func (r *request) emit(t *touch, estimated bool) {
	if t.pk.IsZero() && r.op != sample.Scan {
		if !t.unreadable {
			r.sampler.count.unknownKeys.Add(1)
		}
		return
	}
	c := cell{
		time: r.time, table: t.table, index: t.index, op: r.op, estimated: estimated, rate: r.rate,
		pk: r.sampler.hide.hide(t.pk), sk: r.sampler.hide.hide(t.sk),
		throttle: t.throttle, caller: r.sampler.options.Caller, region: r.region,
	}
	if t.write {
		c.wcu = t.units
	} else {
		c.rcu, c.read = t.units, t.consistency
	}
	if estimated {
		c.bytes = t.chargedBytes()
	}
	r.sampler.fold.add(c, 1)
}
