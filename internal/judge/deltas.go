package judge

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"time"

	"github.com/keyheat/keyheat/internal/judge/fold"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

// checkChain fails with store.ErrWentBack when a writer's delta was written without the
// one that was folded before it. Deltas that were read but not folded, because the store
// failed meanwhile, are read again.
func (t *term) checkChain(deltas []store.Delta) error {
	for _, d := range deltas {
		if read, ok := t.newest[d.Writer]; ok && d.Previous < read {
			return fmt.Errorf("delta %d of writer %s follows on %d, and not on %d, which was read: %w", d.Seq, d.Writer, d.Previous, read, store.ErrWentBack)
		}
	}
	return nil
}

// cursors returns the position from which each writer is read; with again, also the
// position of unreadable deltas.
func (t *term) cursors(again bool) map[string]int64 {
	after := maps.Clone(t.state.Windows.Read)
	if !again {
		for writer := range t.unreadable {
			after[writer] = math.MaxInt64
		}
	}
	return after
}

// decode reads the deltas' bodies. One that cannot be read stays in the store,
// with all of its writer's that follow, and is tried again: it may be deleted or restored.
func (t *term) decode(rows []store.Delta, again bool) []fold.Delta {
	if before := t.unreadable; again {
		t.tried, t.unreadable = time.Now(), make(map[string]error)
		defer func() {
			for writer := range before {
				if t.unreadable[writer] == nil {
					t.judge.health.Heal(partCollector + writer)
				}
			}
		}()
	}
	deltas := make([]fold.Delta, 0, len(rows))
	for _, row := range rows {
		if t.unreadable[row.Writer] != nil {
			continue
		}
		var d sketch.Delta
		err := d.UnmarshalBinary(row.Body)
		if err == nil && d.Fingerprint != t.fingerprint {
			err = sketch.ErrSeed
		}
		if err != nil {
			t.setAside(row, err)
			continue
		}
		deltas = append(deltas, fold.NewDelta(row.Writer, row.Seq, &d))
	}
	return deltas
}

// partCollector, with a writer's name, is the part of the health that is about its deltas.
const partCollector = "collector "

func (t *term) setAside(row store.Delta, err error) {
	t.unreadable[row.Writer] = err
	todo := "restore or delete that row"
	if errors.Is(err, sketch.ErrVersion) {
		todo = "upgrade the reporter"
	}
	reason := fmt.Sprintf("delta %d (version %d) cannot be read; it and the deltas after it stay in the store: %v: %s",
		row.Seq, row.Version, err, todo)
	if t.judge.health.Fail(partCollector+row.Writer, reason) {
		t.judge.logger.Error("delta cannot be read", "writer", row.Writer, "seq", row.Seq, "version", row.Version, "error", err)
	}
}
