package storetest

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/keyheat/keyheat/store"
)

var commits = []obligation{
	{"a commit is stored once", commitOnce},
	{"a commit without a body moves and leaves no delta", commitWithoutBody},
	{"a commit without a name is refused", commitWithoutName},
	{"a watermark says when it last moved", watermarkMoves},
	{"eight writers at once lose nothing", eightWriters},
	{"fighters for the same partitions count each step once", fighters},
	{"writers are known from start to stop", writers},
	{"a writer's report is kept, and unknown is not 0", writerReports},
	{"a commit after one that is lost is refused", commitWentBack},
	{"the hash seed stays the same", hashSeed},
}

// commitWentBack makes a writer know of a commit that the database does not have: a
// partition that is idle would never notice.
func commitWentBack(t *testing.T, s *store.Store) {
	p := claim(t, s, "a", 1)
	must(t, s.Commit(t.Context(), store.Commit{Writer: "a", Seq: 3, Moves: []store.Move{move(p, "7")}}))
	err := s.Commit(t.Context(), store.Commit{
		Writer: "a", Seq: 6, After: 5, Watermarks: []store.Watermark{{PartitionID: p.PartitionID, Epoch: p.Epoch, Time: noon}},
	})
	if !errors.Is(err, store.ErrWentBack) {
		t.Errorf("a commit after one that is not there returns %v, want ErrWentBack", err)
	}
	must(t, s.Commit(t.Context(), store.Commit{Writer: "a", Seq: 7, After: 3}))
}

func commitOnce(t *testing.T, s *store.Store) {
	p := claim(t, s, "a", 1)
	c := store.Commit{Writer: "a", Seq: 1, Version: 3, Body: body("a", 1), Moves: []store.Move{move(p, "7")}}
	equal(t, "committed before", value[bool](t)(s.IsCommitted(t.Context(), "a", 1)), false)
	must(t, s.Commit(t.Context(), c))
	equal(t, "committed after", value[bool](t)(s.IsCommitted(t.Context(), "a", 1)), true)
	equal(t, "the next is committed", value[bool](t)(s.IsCommitted(t.Context(), "a", 2)), false)

	// The position has moved on, but that the commit is known comes first: the
	// writer must not believe itself fenced.
	if err := s.Commit(t.Context(), c); !errors.Is(err, store.ErrDuplicate) {
		t.Errorf("the same commit again returns %v, want ErrDuplicate", err)
	}
	snap := read(t, s, nil)
	if len(snap.Deltas) != 1 {
		t.Fatalf("there are %d deltas, want 1", len(snap.Deltas))
	}
	near(t, "committed", snap.Deltas[0].Committed)
	snap.Deltas[0].Committed = time.Time{}
	equal(t, "delta", snap.Deltas[0], store.Delta{Writer: "a", Seq: 1, Version: 3, Body: body("a", 1)})
}

func commitWithoutBody(t *testing.T, s *store.Store) {
	p := claim(t, s, "a", 1)
	must(t, s.Commit(t.Context(), store.Commit{Writer: "a", Seq: 1, Moves: []store.Move{move(p, "7")}}))
	equal(t, "committed", value[bool](t)(s.IsCommitted(t.Context(), "a", 1)), true)
	equal(t, "position", claim(t, s, "a", 1).Next, "7")
	commit(t, s, "a", 2)
	must(t, s.Commit(t.Context(), store.Commit{Writer: "a", Seq: 3}))
	snap := read(t, s, nil)
	equal(t, "deltas", names(snap), []string{"a/2"})
	equal(t, "behind", snap.Behind, false)
}

func commitWithoutName(t *testing.T, s *store.Store) {
	for _, c := range []store.Commit{{Writer: "", Seq: 1}, {Writer: "a", Seq: 0}, {Writer: "a", Seq: -1}} {
		if err := s.Commit(t.Context(), c); err == nil {
			t.Errorf("the commit %q/%d is accepted", c.Writer, c.Seq)
		}
	}
}

func watermarkMoves(t *testing.T, s *store.Store) {
	p := claim(t, s, "a", 1)
	seq := int64(0)
	put := func(at time.Time, lag int64) store.Watermark {
		seq++
		must(t, s.Commit(t.Context(), store.Commit{Writer: "a", Seq: seq, Watermarks: []store.Watermark{
			{PartitionID: p.PartitionID, Epoch: p.Epoch, Time: at, Lag: lag}}}))
		return read(t, s, nil).Watermarks[0]
	}
	first := put(noon, 5)
	near(t, "moved", first.Moved)
	equal(t, "watermark", first, store.Watermark{PartitionID: p.PartitionID, Epoch: 1, Time: noon, Lag: 5,
		Writer: "a", Moved: first.Moved, Seen: first.Seen})

	time.Sleep(2 * time.Millisecond)
	still := put(noon, 6)
	if !still.Moved.Equal(first.Moved) || !still.Seen.After(first.Seen) || still.Lag != 6 {
		t.Errorf("a watermark that stands still is %+v after %+v", still, first)
	}
	on := put(noon.Add(time.Second), 6)
	if !on.Moved.After(first.Moved) {
		t.Errorf("a watermark that moved on is %+v after %+v", on, still)
	}
	if back := put(noon, 3); !back.Time.Equal(on.Time) || !back.Moved.Equal(on.Moved) || back.Lag != 3 {
		t.Errorf("a watermark goes back: %+v after %+v", back, on)
	}
	equal(t, "infinity", put(store.Infinity, 0).Time, store.Infinity)
}

func eightWriters(t *testing.T, s *store.Store) {
	const each = 20
	var all sync.WaitGroup
	for w := range 8 {
		all.Go(func() {
			writer := fmt.Sprint("w", w)
			p, err := s.Claim(t.Context(), writer, store.Claim{PartitionID: partition(w), First: "0"})
			for seq := int64(1); seq <= each && err == nil; seq++ {
				to := strconv.FormatInt(seq, 10)
				err = s.Commit(t.Context(), store.Commit{
					Writer: writer, Seq: seq, Body: body(writer, seq), Moves: []store.Move{move(p, to)},
					Bad: []store.BadSample{{Hour: noon, Source: "s", Reason: "r", Count: 1}},
				})
				p.Next = to
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	equal(t, "deltas", len(read(t, s, nil).Deltas), 8*each)
	for _, p := range value[[]store.Position](t)(s.Positions(t.Context(), "")) {
		equal(t, "position of "+p.Name, p.Next, strconv.Itoa(each))
	}
}

// fighters all move the same two partitions, named in opposite orders, under
// the same claim: whoever loses reads the positions again. Every step must be
// made by exactly one of them.
func fighters(t *testing.T, s *store.Store) {
	const steps, fighters = 10, 4
	claim(t, s, "a", 1)
	claim(t, s, "a", 2)
	var all sync.WaitGroup
	for f := range fighters {
		all.Go(func() {
			if err := fight(t, s, fmt.Sprint("f", f), f%2 == 0, steps); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	equal(t, "deltas", len(read(t, s, nil).Deltas), steps)
	for _, p := range value[[]store.Position](t)(s.Positions(t.Context(), "")) {
		equal(t, "position of "+p.Name, p.Next, strconv.Itoa(steps))
	}
}

func fight(t *testing.T, s *store.Store, writer string, backwards bool, steps int) error {
	for seq := int64(1); ; {
		at, err := s.Positions(t.Context(), "")
		if err != nil {
			return err
		}
		step, err := strconv.Atoi(at[0].Next)
		if err != nil || step >= steps {
			return err
		}
		moves := []store.Move{move(at[0], strconv.Itoa(step+1)), move(at[1], strconv.Itoa(step+1))}
		if backwards {
			moves[0], moves[1] = moves[1], moves[0]
		}
		err = s.Commit(t.Context(), store.Commit{Writer: writer, Seq: seq, Body: []byte{1}, Moves: moves})
		switch {
		case err == nil:
			seq++
		case !errors.Is(err, store.ErrFenced):
			return err
		}
	}
}

func writers(t *testing.T, s *store.Store) {
	must(t, s.StartWriter(t.Context(), store.Writer{ID: "a", Host: "host-1", Started: noon}))
	commit(t, s, "a", 3)
	w := value[[]store.Writer](t)(s.Writers(t.Context()))[0]
	near(t, "seen", w.Seen)
	equal(t, "running", w, store.Writer{ID: "a", Host: "host-1", Started: noon, Seen: w.Seen, LastSeq: 3})

	must(t, s.StopWriter(t.Context(), "a"))
	near(t, "stopped", value[[]store.Writer](t)(s.Writers(t.Context()))[0].Stopped)
	equal(t, "deltas of a stopped writer", names(read(t, s, nil)), []string{"a/3"})
}

func writerReports(t *testing.T, s *store.Store) {
	must(t, s.StartWriter(t.Context(), store.Writer{ID: "a", Host: "host-1", Started: noon}))
	status := func() store.WriterStatus { return value[[]store.Writer](t)(s.Writers(t.Context()))[0].WriterStatus }
	equal(t, "unknown", status(), store.WriterStatus{})
	offset, lag, share := -1500*time.Microsecond, int64(0), 0.25
	all := store.WriterStatus{Version: "v1", State: "throttled", Reason: "GetRecords", ClockOffset: &offset, Lag: &lag,
		RefusedTables: []string{"orders"}, LowerBounds: []string{"users"}, BadShare: &share,
		Reading: &store.Reading{Read: 2, Last: noon, Unread: []store.Unread{{Source: "kafka", Name: "orders/1", Since: noon}}, More: 1}}
	for what, want := range map[string]store.WriterStatus{
		"everything": all, "no table": {RefusedTables: []string{}, LowerBounds: []string{}}, "nothing": {},
	} {
		must(t, s.ReportWriter(t.Context(), "a", want))
		equal(t, what, status(), want)
	}
	must(t, s.ReportWriter(t.Context(), "a", all))
	commit(t, s, "a", 1)
	equal(t, "after a commit", status(), all)
	if err := s.ReportWriter(t.Context(), "unknown", all); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a report of an unknown writer returns %v, want ErrNotFound", err)
	}
}

func hashSeed(t *testing.T, s *store.Store) {
	first := value[uint64](t)(s.HashSeed(t.Context()))
	if first == 0 {
		t.Error("the hash seed is 0, want a random one")
	}
	equal(t, "the seed again", value[uint64](t)(s.HashSeed(t.Context())), first)
}
