package storetest

import (
	"errors"
	"strings"
	"testing"
	"time"

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
	got := value[store.Position](t)(s.Claim(t.Context(), "a", store.Claim{PartitionID: partition(1), First: "42"}))
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
	equal(t, "committed", value[bool](t)(s.IsCommitted(t.Context(), "a", 1)), false)
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

var claims = []obligation{
	{"another log under a name begins at its start, and what was left is a gap", anotherLog},
	{"an answer that names a former log is refused", formerLog},
	{"nothing is known to be lost of a log that a collector has read to its end until it was gone", anotherLogReadToEnd},
	{"partitions that another log does not have are left, with a gap", fewerPartitions},
	{"a log that becomes known keeps the position", logBecomesKnown},
	{"a renamed group goes on where the old one stopped", renamedReaders},
	{"a second group is refused while the first attends, by name", secondReaders},
	{"a cluster that another took the place of is left, once, with a gap", anotherCluster},
	{"two clusters that are both read have positions of their own", twoClusters},
}

// topicClaim is a claim of a topic's partition by a group.
func topicClaim(cluster, name, log, readers string) store.Claim {
	return store.Claim{
		PartitionID: store.PartitionID{Source: "kafka:" + cluster, Name: name}, First: "5",
		Log: log, Start: "0", Partitions: 4, Readers: readers,
	}
}

func claimTopic(t *testing.T, s *store.Store, writer string, c store.Claim) store.Position {
	t.Helper()
	return value[store.Position](t)(s.Claim(t.Context(), writer, c))
}

// readTo claims a partition and moves it, with what is left behind it.
func readTo(t *testing.T, s *store.Store, writer string, c store.Claim, to string, lag int64) {
	t.Helper()
	p := claimTopic(t, s, writer, c)
	must(t, s.Commit(t.Context(), store.Commit{
		Writer: writer, Seq: p.Epoch, Moves: []store.Move{move(p, to)},
		Watermarks: []store.Watermark{{PartitionID: p.PartitionID, Epoch: p.Epoch, Time: noon, Lag: lag}},
	}))
}

// theGap returns the one stored gap, and fails when it is not the one the claim told.
func theGap(t *testing.T, s *store.Store, p store.Position) store.Gap {
	t.Helper()
	all := value[[]store.Gap](t)(s.Gaps(t.Context(), store.GapQuery{}))
	if len(all) != 1 || len(p.Lost) != 1 || p.Lost[0].From != all[0].From || p.Lost[0].Reason != all[0].Reason {
		t.Fatalf("stored gaps %+v, the claim told %+v: want one, the same", all, p.Lost)
	}
	return all[0]
}

func anotherLog(t *testing.T, s *store.Store) {
	readTo(t, s, "a", topicClaim("c", "t/1", "one", "g"), "70", 3)
	p := claimTopic(t, s, "a", topicClaim("c", "t/1", "two", "g"))
	if p.Next != "0" || p.Epoch != 2 || p.Log != "two" {
		t.Errorf("the claim of another log returned %+v, want its start", p)
	}
	g := theGap(t, s, p)
	if g.Source != "kafka:c" || g.Partition != "t/1" || g.From != "70" || g.To != "0" || !g.Since.Equal(noon) || !strings.Contains(g.Reason, "3 messages") {
		t.Errorf("the gap is %+v, want 70 to 0 with three messages", g)
	}
	if p := claimTopic(t, s, "b", topicClaim("c", "t/1", "two", "g")); p.Next != "0" || len(p.Lost) != 0 {
		t.Errorf("the next claim returned %+v: the same log again", p)
	}
	// Nothing was read of that log, and nothing left: there is nothing to lose.
	if p := claimTopic(t, s, "b", topicClaim("c", "t/1", "three", "g")); len(p.Lost) != 1 {
		t.Errorf("what was left of a log with a lag is no gap: %+v", p)
	}
}

func anotherLogReadToEnd(t *testing.T, s *store.Store) {
	for partition, c := range map[string]struct {
		lag         int64
		another     bool // another collector claims the new log
		noneIsKnown bool
	}{
		"t/1": {0, false, true},
		"t/2": {1, false, false},
		"t/3": {0, true, false}, // who read the end may have stopped long before the log was gone
	} {
		readTo(t, s, "of "+partition, topicClaim("c", partition, "one", "g"), "70", c.lag)
		claims := "of " + partition
		if c.another {
			claims = "another"
		}
		p := claimTopic(t, s, claims, topicClaim("c", partition, "two", "g"))
		if len(p.Lost) != 1 || p.Next != "0" {
			t.Fatalf("%s: the claim returned %+v, want a gap and the new log's start", partition, p)
		}
		g := p.Lost[0]
		if g.NoneKnown() != c.noneIsKnown || !g.Since.Equal(noon) || g.Until.IsZero() == c.noneIsKnown {
			t.Errorf("%s: the gap is %+v, want none known %t", partition, g, c.noneIsKnown)
		}
	}
}

func formerLog(t *testing.T, s *store.Store) {
	for _, log := range []string{"one", "two", "three"} {
		readTo(t, s, "a", topicClaim("c", "t/1", log, "g"), "9", 0)
	}
	before := value[[]store.Position](t)(s.Positions(t.Context(), ""))
	for _, log := range []string{"one", "two"} {
		if _, err := s.Claim(t.Context(), "b", topicClaim("c", "t/1", log, "g")); !errors.Is(err, store.ErrFormerLog) {
			t.Errorf("a claim of the former log %s: %v, want ErrFormerLog", log, err)
		}
	}
	equal(t, "positions", value[[]store.Position](t)(s.Positions(t.Context(), "")), before)
}

func fewerPartitions(t *testing.T, s *store.Store) {
	for _, name := range []string{"t/0", "t/7", "u/7"} {
		readTo(t, s, "of "+name, topicClaim("c", name, "one", "g"), "70", 0)
	}
	p := claimTopic(t, s, "a", topicClaim("c", "t/0", "two", "g"))
	var left []string
	for _, g := range p.Lost {
		left = append(left, g.Partition)
	}
	equal(t, "left", left, []string{"t/0", "t/7"})
	for _, p := range value[[]store.Position](t)(s.Positions(t.Context(), "")) {
		if p.Name == "t/7" {
			t.Error("a partition that is no more keeps its position")
		}
	}
	for _, w := range read(t, s, nil).Watermarks {
		if w.Name == "t/7" {
			t.Error("a partition that is no more is waited for")
		}
	}
}

func logBecomesKnown(t *testing.T, s *store.Store) {
	readTo(t, s, "a", topicClaim("c", "t/1", "", "g"), "70", 3)
	for _, log := range []string{"one", "", "one"} {
		p := claimTopic(t, s, "a", topicClaim("c", "t/1", log, "g"))
		if p.Next != "70" || len(p.Lost) != 0 {
			t.Errorf("a claim with log %q returned %+v, want the position", log, p)
		}
	}
}

func renamedReaders(t *testing.T, s *store.Store) {
	must(t, s.StartWriter(t.Context(), store.Writer{ID: "a", Host: "here", Started: noon}))
	readTo(t, s, "a", topicClaim("c", "t/1", "one", "old"), "70", 3)
	must(t, s.StopWriter(t.Context(), "a"))
	p := claimTopic(t, s, "b", topicClaim("c", "t/1", "one", "new"))
	if p.Next != "70" || p.Readers != "new" || len(p.Lost) != 0 {
		t.Errorf("the renamed group's claim returned %+v, want 70", p)
	}
}

func secondReaders(t *testing.T, s *store.Store) {
	must(t, s.StartWriter(t.Context(), store.Writer{ID: "a", Host: "here", Started: noon}))
	readTo(t, s, "a", topicClaim("c", "t/1", "one", "first"), "70", 3)
	_, err := s.Claim(t.Context(), "b", topicClaim("c", "t/1", "one", "second"))
	if !errors.Is(err, store.ErrHeld) {
		t.Fatalf("a second group's claim: %v, want ErrHeld", err)
	}
	for _, part := range []string{`"first"`, `"second"`, `"here"`, "t/1"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not name %s", err, part)
		}
	}
	if p := claimTopic(t, s, "b", topicClaim("c", "t/1", "one", "first")); p.Next != "70" {
		t.Errorf("the group's own next member is at %s, want 70", p.Next)
	}
}

func anotherCluster(t *testing.T, s *store.Store) {
	readTo(t, s, "a", topicClaim("old", "t/1", "one", "g"), "70", 3)
	p := claimTopic(t, s, "a", topicClaim("new", "t/1", "two", "g"))
	if p.Next != "5" {
		t.Errorf("the new cluster is read from %s, want its first offset", p.Next)
	}
	g := theGap(t, s, p)
	if g.Source != "kafka:old" || g.From != "70" || g.To != "" || !strings.Contains(g.Reason, "another cluster") {
		t.Errorf("the gap is %+v", g)
	}
	if p := claimTopic(t, s, "a", topicClaim("new", "t/1", "two", "g")); len(p.Lost) != 0 {
		t.Errorf("it is left again: %+v", p.Lost)
	}
	for _, w := range read(t, s, nil).Watermarks {
		if w.Source == "kafka:old" {
			t.Error("the old cluster's partition is waited for")
		}
	}
	if p := claimTopic(t, s, "a", topicClaim("old", "t/1", "one", "g")); p.Next != "70" {
		t.Errorf("the old cluster is read again from %s, want 70", p.Next)
	}
}

func twoClusters(t *testing.T, s *store.Store) {
	must(t, s.StartWriter(t.Context(), store.Writer{ID: "a", Host: "here", Started: time.Now()}))
	readTo(t, s, "a", topicClaim("one", "t/1", "x", "g"), "70", 3)
	p := claimTopic(t, s, "b", topicClaim("two", "t/1", "y", "g"))
	if p.Next != "5" || len(p.Lost) != 0 {
		t.Errorf("the second cluster's claim returned %+v, want its own beginning and no gap", p)
	}
	if p := claimTopic(t, s, "a", topicClaim("one", "t/1", "x", "g")); p.Next != "70" {
		t.Errorf("the first cluster's position is %s, want 70", p.Next)
	}
}
