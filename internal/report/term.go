package report

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/board"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

// term is the time of one lease: what the judge remembers between two passes.
type term struct {
	*Judge
	lease   store.Lease
	renewed time.Time

	ledger  *ledger
	minutes minutes
	hourly  *hourly
	views   *hourViews
	facts   *facts
	board   *board.Board
	known   known
	draft   *draft
	// newest is the newest second that was closed.
	newest int64
	// takenUp are the findings that the board took up as they were stored, by
	// fingerprint, until they are over.
	takenUp map[string]detect.Finding
	// lost are the newest gaps, the newest first.
	lost []store.Gap
	// cursors are the stored ones.
	cursors map[string]int64
	// seed is the installation's hash seed and fingerprint tells it; deltas of
	// another seed are not read.
	seed, fingerprint uint64
	// forecasts are those of the findings' keys, by fingerprint.
	forecasts map[string]keyForecast
	// unreadable are the writers with a delta that could not be read, and why.
	// Nothing after that delta is read of them either: the cursor could not
	// say that one was left out.
	unreadable map[string]error
	// behind says that there was more to read.
	behind bool
}

// begin loads what the judge before has left.
func (j *Judge) begin(ctx context.Context, lease store.Lease) (*term, error) {
	seed, err := j.store.HashSeed(ctx)
	if err != nil {
		return nil, err
	}
	cursors, err := j.store.Cursors(ctx)
	if err != nil {
		return nil, err
	}
	told := &facts{told: j.config.Facts}
	t := &term{
		Judge: j, lease: lease, renewed: time.Now(),
		ledger: newLedger(cursors), minutes: make(minutes), hourly: newHourly(j.config.PeakDelay), views: newHourViews(), forecasts: make(map[string]keyForecast),
		facts: told,
		board: board.New(board.Options{Policy: j.config.Policy, Facts: told.of}), known: make(known), draft: newDraft(),
		takenUp: make(map[string]detect.Finding), cursors: cursors,
		seed: seed, fingerprint: sketch.Fingerprint(seed), unreadable: make(map[string]error),
	}
	if err := t.restoreViews(ctx); err != nil {
		return nil, err
	}
	return t, t.restore(ctx, seed)
}

// pass reads what is new, judges it and writes the judgement.
func (t *term) pass(ctx context.Context) error {
	started := time.Now()
	if err := t.renew(ctx); err != nil {
		return err
	}
	snap, err := t.store.Read(ctx, t.after(), t.config.Read)
	if err != nil {
		return err
	}
	if err := t.fold(ctx, snap); err != nil {
		return err
	}
	if t.lost, err = t.store.Gaps(ctx, store.GapQuery{Limit: maxGaps}); err != nil {
		return err
	}
	if err := t.refreshFacts(ctx, snap.Now); err != nil {
		return err
	}
	t.behind = snap.Behind
	h := newHorizon(snap, t.config, func(w string) bool { return t.unreadable[w] != nil })
	closing := t.closing(h)
	if err := t.observe(ctx, closing, h, snap.Now); err != nil {
		return err
	}
	err = t.write(ctx, closing, h, snap.Now)
	t.metrics.pass(t.ledger, len(snap.Deltas), time.Since(started), err)
	return err
}

// renew prolongs the lease when a third of it has gone.
func (t *term) renew(ctx context.Context) error {
	if time.Since(t.renewed) < t.config.Lease/3 {
		return nil
	}
	now := time.Now()
	lease, err := t.store.RenewLease(ctx, t.lease, t.config.Lease)
	if err == nil {
		t.lease, t.renewed = lease, now
	}
	return err
}

// after is from where each writer is read.
func (t *term) after() map[string]int64 {
	after := maps.Clone(t.ledger.read)
	for writer := range t.unreadable {
		after[writer] = math.MaxInt64
	}
	return after
}

// fold takes the snapshot's deltas into memory: all that can be read, or, when
// the store fails, none.
func (t *term) fold(ctx context.Context, snap store.Snapshot) error {
	deltas := t.decode(snap.Deltas)
	if err := t.minutes.load(ctx, t.store, deltas); err != nil {
		return err
	}
	if err := t.ledger.fold(ctx, t.store, deltas); err != nil {
		return err
	}
	t.minutes.fold(deltas, snap.Now)
	for i := range deltas {
		for _, r := range deltas[i].Cardinality {
			t.views.count(r)
		}
	}
	return nil
}

// decode reads the deltas' bodies. One that cannot be read stays in the store,
// with all of its writer's that follow.
func (t *term) decode(rows []store.Delta) []delta {
	deltas := make([]delta, 0, len(rows))
	for _, row := range rows {
		if t.unreadable[row.Writer] != nil {
			continue
		}
		d := delta{writer: row.Writer, seq: row.Seq}
		err := d.UnmarshalBinary(row.Body)
		if err == nil && d.Fingerprint != t.fingerprint {
			err = sketch.ErrSeed
		}
		if err != nil {
			t.refuse(row, err)
			continue
		}
		deltas = append(deltas, d)
	}
	return deltas
}

func (t *term) refuse(row store.Delta, err error) {
	t.unreadable[row.Writer] = err
	todo := "restore or delete that row, and restart the reporter"
	if errors.Is(err, sketch.ErrVersion) {
		todo = "upgrade the reporter"
	}
	reason := fmt.Sprintf("delta %d (version %d) cannot be read and waits in the store with all that follow: %v: %s",
		row.Seq, row.Version, err, todo)
	if t.health.fail("collector "+row.Writer, reason) {
		t.logger.Error("delta cannot be read", "writer", row.Writer, "seq", row.Seq, "version", row.Version, "error", err)
	}
}

// closing are the seconds to write now: those that are over, and beyond the
// bound of memory the oldest of the others.
func (t *term) closing(h horizon) []instant {
	var closing []instant
	keys := t.ledger.keys
	for _, at := range t.ledger.oldest() {
		over, _ := h.isOver(at.second)
		if !over && keys <= t.config.MaxKeys {
			break
		}
		keys -= len(t.ledger.open[at].window.Keys)
		closing = append(closing, at)
	}
	return closing
}

// stride is how much event time passes between two looks at the findings:
// less than a finding takes to resolve, so that a long reading does not step
// over its beginning.
const stride = detect.ResolveSeconds / 2

// observe shows the board everything that it has not seen, lets time pass, and
// notes what changes on the way.
func (t *term) observe(ctx context.Context, closing []instant, h horizon, now time.Time) error {
	for len(closing) > 0 {
		// What lies close together is one step; a quiet stretch before it has
		// passed first.
		t.settle(closing[0].second-1, h, now)
		if err := t.draft.note(ctx, t, now); err != nil {
			return err
		}
		end := closing[0].second + stride
		for len(closing) > 0 && closing[0].second <= end {
			o := t.ledger.open[closing[0]]
			t.views.observe(closing[0], o, now)
			t.ledger.trim(o)
			t.board.Observe(&o.window)
			o.news = false
			t.hourly.observe(closing[0], o, now)
			t.newest = max(t.newest, closing[0].second)
			closing = closing[1:]
		}
		if err := t.draft.note(ctx, t, now); err != nil {
			return err
		}
	}
	for _, at := range t.ledger.oldest() {
		if o := t.ledger.open[at]; o.news {
			t.board.Observe(&o.window)
			o.news = false
		}
	}
	t.settle(math.MaxInt64, h, now)
	return t.draft.note(ctx, t, now)
}

// settle lets event time pass up to a second, as far as the horizon allows.
// Where no watermark promises anything more it passes with the clock; without
// all watermarks, only with what was counted.
func (t *term) settle(second int64, h horizon, now time.Time) {
	if complete := min(second, h.complete-1, now.Unix()); complete > 0 {
		t.board.Settle(complete, true)
	}
	if over := min(second, h.over-1, t.newest); over > 0 && h.over > h.complete {
		t.board.Settle(over, false)
	}
}

// write stores the judgement, if there is anything to store, and then
// forgets what is stored.
func (t *term) write(ctx context.Context, closing []instant, h horizon, now time.Time) error {
	due := t.minutes.due(h, now)
	judgement := store.Judgement{Cardinality: t.minutes.rows(due)}
	for _, at := range closing {
		row, err := t.ledger.row(at, h)
		if err != nil {
			return err
		}
		judgement.Windows = append(judgement.Windows, row)
	}
	t.draft.addTo(&judgement)
	waiting := t.minutes.unsaved(due)
	hoursDue := t.hourly.due(now)
	if hoursDue {
		judgement.Peaks = t.hourly.rows()
	} else {
		holdBack(waiting, t.hourly.unsaved)
	}
	viewsDue := t.views.due(now, t.config.PeakDelay)
	if viewsDue {
		var err error
		if judgement.Views, err = t.viewRows(ctx); err != nil {
			return err
		}
	}
	judgement.Cursors = t.ledger.cursors(closing, waiting)
	maps.DeleteFunc(judgement.Cursors, func(writer string, seq int64) bool { return seq <= t.cursors[writer] })
	if !isEmpty(judgement) {
		if err := t.store.Judge(ctx, t.lease, judgement); err != nil {
			return err
		}
	}
	t.ledger.closed(closing)
	t.minutes.written(due, h)
	if hoursDue {
		t.hourly.written()
	}
	if viewsDue {
		t.views.dirty, t.views.written = time.Time{}, true
	}
	t.known.apply(t.draft)
	t.draft = newDraft()
	maps.Copy(t.cursors, judgement.Cursors)
	t.metrics.wrote(judgement)
	return nil
}

// holdBack lowers the sequence numbers that cursors wait for.
func holdBack(waiting, unsaved map[string]int64) {
	for writer, seq := range unsaved {
		waiting[writer] = min(cmp.Or(waiting[writer], seq), seq)
	}
}

func isEmpty(j store.Judgement) bool {
	return len(j.Windows)+len(j.Cardinality)+len(j.Peaks)+len(j.Views)+len(j.Findings)+len(j.Transitions)+len(j.Notifications)+len(j.Cursors) == 0
}
