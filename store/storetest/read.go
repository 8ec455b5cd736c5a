package storetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/keyheat/keyheat/store"
)

var reading = []obligation{
	{"a cursor for each writer", cursorPerWriter},
	{"a small limit reads everything in the end", readInParts},
	{"a long backlog does not hide the other writers", fairShare},
	{"watermarks and deltas are of one state", oneState},
	{"deltas that the database lost are told", deltasWentBack},
	{"a limit in bytes stops the reading", readBytes},
	{"a listener hears of a commit", listen},
}

func cursorPerWriter(t *testing.T, s *store.Store) {
	commit(t, s, "b", 1)
	commit(t, s, "a", 1)
	commit(t, s, "a", 2)
	snap := read(t, s, nil)
	near(t, "now", snap.Now)
	equal(t, "all", names(snap), []string{"a/1", "a/2", "b/1"})
	equal(t, "beyond a/1", names(read(t, s, map[string]int64{"a": 1})), []string{"a/2", "b/1"})
	equal(t, "nothing new", names(read(t, s, map[string]int64{"a": 2, "b": 1})), nil)
	commit(t, s, "c", 1)
	commit(t, s, "b", 5)
	equal(t, "a new writer, a hole", names(read(t, s, map[string]int64{"a": 2, "b": 1})), []string{"b/5", "c/1"})
}

// deltasWentBack reads on from deltas that the database does not have: before their
// writer has written again, and after.
func deltasWentBack(t *testing.T, s *store.Store) {
	commit(t, s, "a", 1)
	commit(t, s, "a", 4)
	commit(t, s, "a", 6)
	equal(t, "beyond a delta that is there", names(read(t, s, map[string]int64{"a": 4})), []string{"a/6"})
	if snap, err := s.Read(t.Context(), map[string]int64{"a": 7}, store.ReadLimit{}); !errors.Is(err, store.ErrWentBack) {
		t.Errorf("reading on after a/7: %v, %v, want ErrWentBack", names(snap), err)
	}
	// A cursor need not be a delta's number.
	equal(t, "beyond a cursor in between", names(read(t, s, map[string]int64{"a": 5})), []string{"a/6"})
	for _, d := range read(t, s, nil).Deltas {
		equal(t, "previous", d.Previous, map[int64]int64{1: 0, 4: 1, 6: 4}[d.Seq])
	}
	if _, err := s.Read(t.Context(), map[string]int64{"a": math.MaxInt64}, store.ReadLimit{}); err != nil {
		t.Errorf("a writer that is not read: %v", err)
	}
}

func readInParts(t *testing.T, s *store.Store) {
	for seq := range int64(5) {
		commit(t, s, "a", seq+1)
		commit(t, s, "b", seq+1)
	}
	after, seen := map[string]int64{}, map[string]bool{}
	for range 20 {
		snap := value[store.Snapshot](t)(s.Read(t.Context(), after, store.ReadLimit{Deltas: 3}))
		if len(snap.Deltas) > 3 {
			t.Errorf("a limit of 3 reads %d", len(snap.Deltas))
		}
		for _, d := range snap.Deltas {
			seen[fmt.Sprint(d.Writer, d.Seq)] = true
			after[d.Writer] = d.Seq
		}
		if !snap.Behind {
			break
		}
	}
	equal(t, "seen", len(seen), 10)
	equal(t, "cursors", after, map[string]int64{"a": 5, "b": 5})
}

func fairShare(t *testing.T, s *store.Store) {
	for seq := range int64(20) {
		commit(t, s, "a", seq+1)
	}
	commit(t, s, "b", 1)
	snap := value[store.Snapshot](t)(s.Read(t.Context(), nil, store.ReadLimit{Deltas: 4}))
	equal(t, "read", names(snap), []string{"a/1", "a/2", "b/1"})
	equal(t, "behind", snap.Behind, true)
}

// oneState commits watermarks that hold the number of their delta, and reads
// beside it: a watermark that is ahead of the deltas would close a second too
// early.
func oneState(t *testing.T, s *store.Store) {
	const last = 60
	p := claim(t, s, "a", 1)
	at := func(seq int64) time.Time { return noon.Add(time.Duration(seq) * time.Second) }
	done := make(chan error, 1)
	go func() {
		var err error
		for seq := int64(1); seq <= last && err == nil; seq++ {
			err = s.Commit(t.Context(), store.Commit{Writer: "a", Seq: seq, Body: []byte{1},
				Watermarks: []store.Watermark{{PartitionID: p.PartitionID, Epoch: p.Epoch, Time: at(seq)}}})
		}
		done <- err
	}()
	for seen := int64(0); seen < last && !t.Failed(); {
		snap := read(t, s, map[string]int64{"a": seen})
		for _, d := range snap.Deltas {
			seen = d.Seq
		}
		if seen > 0 {
			equal(t, "watermark", snap.Watermarks[0].Time, at(seen))
		}
	}
	must(t, <-done)
}

func readBytes(t *testing.T, s *store.Store) {
	for seq := range int64(5) {
		commit(t, s, "a", seq+1)
	}
	two := 2*len(body("a", 1)) - 1
	snap := value[store.Snapshot](t)(s.Read(t.Context(), nil, store.ReadLimit{Bytes: two}))
	equal(t, "read", names(snap), []string{"a/1", "a/2"})
	equal(t, "behind", snap.Behind, true)
}

// listen waits until the first wakes, which mean nothing, are over.
func listen(t *testing.T, s *store.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	wake := s.Listen(ctx)
	<-wake
	commit(t, s, "a", 1)
	select {
	case <-wake:
	case <-time.After(time.Minute):
		t.Error("no wake within a minute of a commit")
	}
	cancel()
	for range wake { // ends when the channel is closed
	}
}
