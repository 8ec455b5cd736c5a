package collect_test

import (
	"errors"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/keyheat/keyheat/store"
)

// TestMemoryKeepsTheContract runs the same calls on the test's own store and
// on a real one, and expects the same results.
func TestMemoryKeepsTheContract(t *testing.T) {
	t.Parallel()
	real := transcript(t, open(t, "sqlite:"+filepath.Join(t.TempDir(), "contract.db")))
	if own := transcript(t, newMemory()); !reflect.DeepEqual(own, real) {
		t.Errorf("the store in memory returns\n%q\nwhere SQLite returns\n%q", own, real)
	}
}

func transcript(t *testing.T, st testStore) []string {
	var all []string
	note := func(err error) {
		for _, known := range []error{store.ErrFenced, store.ErrDuplicate, store.ErrUnavailable, store.ErrNotFound, nil} {
			if errors.Is(err, known) {
				name := "stored"
				if known != nil {
					name = known.Error()
				}
				all = append(all, name)
				return
			}
		}
		t.Errorf("an unexpected error: %v", err)
	}
	a, b := partitionID("a"), partitionID("b")
	claim := func(writer string, id store.PartitionID) store.Position {
		p, err := st.Claim(t.Context(), writer, store.Claim{PartitionID: id, First: "0"})
		note(err)
		all = append(all, p.Next, p.Writer, time.Duration(p.Epoch).String())
		return p
	}
	commit := func(writer string, seq int64, moves ...store.Move) {
		note(st.Commit(t.Context(), store.Commit{Writer: writer, Seq: seq, Body: []byte("x"), Moves: moves}))
	}
	committed := func(writer string, seq int64) {
		done, err := st.IsCommitted(t.Context(), writer, seq)
		note(err)
		all = append(all, map[bool]string{true: "yes", false: "no"}[done])
	}
	note(st.StartWriter(t.Context(), store.Writer{ID: "w", Started: time.Now()}))
	note(st.ReportWriter(t.Context(), "w", store.WriterStatus{State: "running"}))
	note(st.ReportWriter(t.Context(), "nobody", store.WriterStatus{State: "running"}))
	pa, pb := claim("w", a), claim("w", b)
	commit("w", 1, store.Move{PartitionID: a, Epoch: pa.Epoch, From: "0", To: "5"})
	commit("w", 1, store.Move{PartitionID: a, Epoch: pa.Epoch, From: "0", To: "5"}) // the same again
	commit("w", 2, store.Move{PartitionID: a, Epoch: pa.Epoch, From: "0", To: "9"}) // from the wrong place
	committed("w", 1)
	committed("w", 2)
	stolen := claim("v", b)
	commit("w", 3, // all or nothing
		store.Move{PartitionID: a, Epoch: pa.Epoch, From: "5", To: "6"},
		store.Move{PartitionID: b, Epoch: pb.Epoch, From: "0", To: "1"})
	claim("w", a)
	commit("v", 7, store.Move{PartitionID: b, Epoch: stolen.Epoch, From: "0", To: "2", Ended: true})
	commit("v", 6)
	claim("w", b)
	note(st.StopWriter(t.Context(), "w"))
	snap, err := st.Read(t.Context(), nil, store.ReadLimit{Deltas: 100, Bytes: 1 << 20})
	note(err)
	return append(all, time.Duration(len(snap.Deltas)).String())
}
