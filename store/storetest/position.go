package storetest

import (
	"errors"
	"testing"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

var positions = []obligation{
	{"a new partition begins at first and is known", firstClaim},
	{"a claim raises the epoch and keeps the position", secondClaim},
	{"one lost position rolls everything back", allOrNothing},
	{"an older claim is fenced", olderClaim},
	{"a late zombie's watermark is not believed", zombieWatermark},
	{"an ended partition stays ended", ended},
}

func firstClaim(t *testing.T, s *store.Store) {
	got := value[store.Position](t)(s.Claim(t.Context(), "a", partition(1), "42"))
	want := store.Position{PartitionID: partition(1), Next: "42", Epoch: 1, Writer: "a"}
	equal(t, "position", got, want)
	equal(t, "stored", value[[]store.Position](t)(s.Positions(t.Context(), "")), []store.Position{want})
	marks := read(t, s, nil).Watermarks
	if len(marks) != 1 || !marks[0].Time.Equal(store.Beginning) || marks[0].PartitionID != partition(1) {
		t.Errorf("a claimed partition's watermark is %+v, want one at the beginning", marks)
	}
}

func secondClaim(t *testing.T, s *store.Store) {
	first := claim(t, s, "a", 1)
	must(t, s.Commit(t.Context(), store.Commit{Writer: "a", Seq: 1, Moves: []store.Move{move(first, "17")}}))
	equal(t, "position", claim(t, s, "b", 1),
		store.Position{PartitionID: partition(1), Next: "17", Epoch: 2, Writer: "b"})
}

func move(p store.Position, to string) store.Move {
	return store.Move{PartitionID: p.PartitionID, Epoch: p.Epoch, From: p.Next, To: to}
}

// allOrNothing loses two of four partitions, one to another owner and one by a
// wrong belief, and looks for traces of the rest.
func allOrNothing(t *testing.T, s *store.Store) {
	var moves []store.Move
	for n := range 4 {
		moves = append([]store.Move{move(claim(t, s, "a", n), "10")}, moves...)
	}
	claim(t, s, "b", 3)
	moves[2].From = "5" // partition 1
	before := value[[]store.Position](t)(s.Positions(t.Context(), ""))

	err := s.Commit(t.Context(), store.Commit{
		Writer: "a", Seq: 1, Body: []byte("x"), Moves: moves,
		Watermarks: []store.Watermark{{PartitionID: partition(0), Epoch: 1, Time: noon}},
		Gaps:       []store.Gap{gap(0, sample.Gap{Reason: "lost"})},
		Bad:        []store.BadSample{{Hour: noon, Source: "s", Reason: "r", Count: 1}},
	})
	var fenced *store.FencedError
	if !errors.Is(err, store.ErrFenced) || !errors.As(err, &fenced) {
		t.Fatalf("the commit returns %v, want a FencedError", err)
	}
	equal(t, "lost", fenced.Lost, []store.PartitionID{partition(1), partition(3)})

	equal(t, "positions", value[[]store.Position](t)(s.Positions(t.Context(), "")), before)
	snap := read(t, s, nil)
	equal(t, "deltas", names(snap), nil)
	equal(t, "watermark", snap.Watermarks[0].Time, store.Beginning)
	equal(t, "gaps", value[[]store.Gap](t)(s.Gaps(t.Context(), store.GapQuery{})), nil)
	equal(t, "bad samples", value[[]store.BadSample](t)(s.BadSamples(t.Context(), store.BadQuery{})), nil)
	equal(t, "committed", value[bool](t)(s.Committed(t.Context(), "a", 1)), false)
}

func olderClaim(t *testing.T, s *store.Store) {
	old := claim(t, s, "a", 1)
	fresh := claim(t, s, "b", 1)
	err := s.Commit(t.Context(), store.Commit{Writer: "a", Seq: 1, Moves: []store.Move{move(old, "9")}})
	if !errors.Is(err, store.ErrFenced) {
		t.Errorf("the older claim's commit returns %v, want ErrFenced", err)
	}
	must(t, s.Commit(t.Context(), store.Commit{Writer: "b", Seq: 1, Moves: []store.Move{move(fresh, "5")}}))
	equal(t, "position", claim(t, s, "b", 1).Next, "5")
}

// zombieWatermark lets an idle old owner, which moves no position and so
// cannot be fenced, claim to be at the end of the log.
func zombieWatermark(t *testing.T, s *store.Store) {
	old := claim(t, s, "a", 1)
	claim(t, s, "b", 1)
	must(t, s.Commit(t.Context(), store.Commit{Writer: "a", Seq: 1, Watermarks: []store.Watermark{
		{PartitionID: partition(1), Epoch: old.Epoch, Time: store.Infinity}}}))
	mark := value[[]store.Watermark](t)(s.Watermarks(t.Context()))[0]
	if !mark.Time.Equal(store.Beginning) || mark.Writer != "b" {
		t.Errorf("the watermark is %+v, want the new owner's", mark)
	}
}

func ended(t *testing.T, s *store.Store) {
	p := claim(t, s, "a", 1)
	last := move(p, "99")
	last.Ended = true
	must(t, s.Commit(t.Context(), store.Commit{Writer: "a", Seq: 1, Moves: []store.Move{last}}))
	again := claim(t, s, "b", 1)
	if !again.Ended || again.Next != "99" {
		t.Errorf("claimed again it is %+v, want ended at 99", again)
	}
}
