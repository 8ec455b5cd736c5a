package report

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/store"
)

// replay is how much event time the board is shown again after a restart: as
// much as it keeps second by second.
const replay = 15 * time.Minute

// restore shows the board what the judge before has seen of the targets that
// have findings which are not over. A finding that began within the replayed
// time follows from the windows alone, exactly as before; of an older one the
// board takes up what is stored.
func (t *term) restore(ctx context.Context, seed uint64) error {
	findings, err := t.unresolved(ctx)
	if err != nil {
		return err
	}
	windows, err := t.recent(ctx, findings)
	if err != nil {
		return err
	}
	t.takeUp(findings, windows, seed)
	for i, row := range windows {
		w, err := body(row)
		if err != nil {
			return err
		}
		// Nothing tells whether seconds without a window were quiet, or not seen:
		// they resolve nothing.
		t.board.Settle(w.Second-1, false)
		t.board.Observe(&w)
		if i+1 == len(windows) || windows[i+1].Second.After(row.Second) {
			t.board.Settle(w.Second, complete(windows[:i+1]))
		}
	}
	return nil
}

// complete says whether the last second of these windows was wholly seen, of
// every target that has one.
func complete(windows []store.Window) bool {
	last := windows[len(windows)-1].Second
	for _, w := range slices.Backward(windows) {
		if !w.Second.Equal(last) {
			break
		}
		if !w.Complete {
			return false
		}
	}
	return true
}

// unresolved are the stored findings that are not over.
func (t *term) unresolved(ctx context.Context) ([]detect.Finding, error) {
	var all []detect.Finding
	for _, state := range []detect.State{detect.Firing, detect.Pending} {
		rows, err := t.store.Findings(ctx, store.FindingQuery{State: string(state), Limit: maxKnown})
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			var f detect.Finding
			if err := json.Unmarshal(row.Document, &f); err != nil {
				return nil, fmt.Errorf("stored finding %s: %w", row.Fingerprint, err)
			}
			all = append(all, f)
		}
	}
	return all, nil
}

// recent are the stored windows of these findings' targets in the time to
// replay, which ends with each target's newest window, in the order of time.
func (t *term) recent(ctx context.Context, findings []detect.Finding) ([]store.Window, error) {
	targets := make(map[target]bool)
	for _, f := range findings {
		targets[target{f.Table, f.Index}] = true
	}
	var all []store.Window
	for _, at := range slices.SortedFunc(maps.Keys(targets), func(a, b target) int {
		return instant{target: a}.compare(instant{target: b})
	}) {
		newest, any, err := t.store.LastWindow(ctx, at.table, at.index)
		if err != nil {
			return nil, err
		}
		if !any {
			continue
		}
		rows, err := t.store.Windows(ctx, store.WindowQuery{
			Table: at.table, Index: at.index, From: newest.Add(-replay), Limit: int(replay/time.Second) + 1,
		})
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	slices.SortStableFunc(all, func(a, b store.Window) int { return a.Second.Compare(b.Second) })
	return all, nil
}

// takeUp restores the findings that began before the windows do.
func (t *term) takeUp(findings []detect.Finding, windows []store.Window, seed uint64) {
	begin := make(map[target]time.Time)
	for _, w := range slices.Backward(windows) {
		begin[target{w.Table, w.Index}] = w.Second
	}
	var old []detect.Finding
	for _, f := range findings {
		first, any := begin[target{f.Table, f.Index}]
		if any && !first.After(f.FirstSeen) {
			continue
		}
		old = append(old, f)
		t.takenUp[f.Fingerprint] = f
	}
	t.board.Restore(old, seed)
}
