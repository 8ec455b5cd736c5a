package collect

import (
	"strings"
	"time"

	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/otlp"
	"github.com/keyheat/keyheat/store"
)

// The collector's own reject reasons. With the Decoder's they are a closed set.
const (
	// reasonTooOld rejects a record that is older than its message by more than
	// tooOld.
	reasonTooOld sample.RejectReason = "too_old"
	// reasonTooFarAhead rejects a record that is younger than its message by more than
	// tooFarAhead.
	reasonTooFarAhead sample.RejectReason = "too_far_ahead"
	// reasonAheadOfClock rejects a record that is younger than the store's clock by more
	// than tooFarAhead.
	reasonAheadOfClock sample.RejectReason = "ahead_of_clock"
	// reasonTooManyTables rejects a record of a table or index beyond the sketch's limit.
	reasonTooManyTables sample.RejectReason = "too_many_tables"
	// reasonTooScattered rejects a message, or a few small ones, whose records have so many
	// times and tables that counting them would take too much memory.
	reasonTooScattered sample.RejectReason = "too_scattered"
	// reasonDuplicate rejects a sample whose ID was counted before: see [sample.Recent].
	reasonDuplicate sample.RejectReason = "duplicate"
	// reasonUnreadable is a message that the source could not bring whole.
	reasonUnreadable sample.RejectReason = "unreadable"
)

// counters counts samples by outcome. The zero value is empty.
type counters struct {
	good int64
	// callerOnly is how many of good only name their caller.
	callerOnly int64
	// untimed is how many of good took their time from their message.
	untimed int64
	// bad is keyed by a closed set of reasons.
	bad map[sample.RejectReason]*badCounter
	// refused has names of tables and indexes that exceed the sketch's limit, but not all
	// of them.
	refused map[string]bool
	// refusals counts their samples, also those that their sender sends again.
	refusals map[refusal]int64
	// unsized counts, by table or index, the good requests with neither units nor a size.
	unsized map[sample.Target]*int64
	// ahead is how far ahead of the store's clock records were refused, at most.
	ahead time.Duration
}

// badCounter counts the samples that one reason rejected, with some excerpts.
type badCounter struct {
	count    int64
	excerpts []sample.Text
}

func (t *counters) counter(reason sample.RejectReason) *badCounter {
	if t.bad == nil {
		t.bad = make(map[sample.RejectReason]*badCounter)
	}
	if t.bad[reason] == nil {
		t.bad[reason] = new(badCounter)
	}
	return t.bad[reason]
}

func (t *counters) addGood(r *sample.Record) {
	t.good++
	if r.TimeFromMessage {
		t.untimed++
	}
}

// addBad counts a bad sample. Only the first few of a commit are described;
// the store keeps the first few of an hour.
func (t *counters) addBad(reason sample.RejectReason, describe func() string) {
	r := t.counter(reason)
	r.count++
	if len(r.excerpts) < store.DefaultExcerpts {
		if text := describe(); text != "" {
			r.excerpts = append(r.excerpts, sample.Text(text))
		}
	}
}

func (t *counters) add(o counters) {
	t.good += o.good
	t.callerOnly += o.callerOnly
	t.untimed += o.untimed
	t.ahead = max(t.ahead, o.ahead)
	for target, n := range o.unsized {
		t.addUnsized(target, *n)
	}
	if t.refused == nil && o.refused != nil {
		t.refused, t.refusals = make(map[string]bool), make(map[refusal]int64)
	}
	for name := range o.refused {
		t.refused[name] = true
	}
	for of, n := range o.refusals {
		t.addRefusals(of, n)
	}
	for reason, more := range o.bad {
		r := t.counter(reason)
		r.count += more.count
		r.excerpts = append(r.excerpts, more.excerpts...)
		r.excerpts = r.excerpts[:min(len(r.excerpts), store.DefaultExcerpts)]
	}
}

// addUnsized counts requests with neither units nor a size. The target's texts may be a decoder's.
func (t *counters) addUnsized(target sample.Target, n int64) {
	sum := t.unsized[target]
	if sum == nil {
		if t.unsized == nil {
			t.unsized = make(map[sample.Target]*int64)
		}
		sum = new(int64)
		t.unsized[sample.Target{
			Account: strings.Clone(target.Account), Region: strings.Clone(target.Region),
			Table: strings.Clone(target.Table), Index: strings.Clone(target.Index),
		}] = sum
	}
	*sum += n
}

// countMissed returns how many samples were bad. One that repeats a counted sample is none, nor
// is a span of another service.
func (t *counters) countMissed() (n int64) {
	for reason, r := range t.bad {
		if reason != reasonDuplicate && reason != otlp.RejectNotRequest {
			n += r.count
		}
	}
	return n
}

func (t *counters) outcome() source.Outcome {
	o := source.Outcome{Counted: t.good, CallerOnly: t.callerOnly, Untimed: t.untimed, Rejected: make(map[sample.RejectReason]int64, len(t.bad))}
	for reason, r := range t.bad {
		o.Rejected[reason] = r.count
	}
	if o.RefusedAll = t.onlyRefused(); len(t.refusals) > 0 {
		o.Remedy, o.RefusedTables = TablesRemedy, make(map[string]int64)
		for of, n := range t.refusals {
			o.RefusedTables[of.table] += n
		}
	}
	return o
}

func (t *counters) rows(source string, now time.Time) []store.BadSample {
	var rows []store.BadSample
	for reason, r := range t.bad {
		rows = append(rows, store.BadSample{
			Hour: now.Truncate(time.Hour), Source: source, Reason: string(reason),
			Count: r.count, Excerpts: r.excerpts,
		})
	}
	return rows
}
