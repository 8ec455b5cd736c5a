package storetest

import (
	"testing"
	"time"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

var retention = []obligation{
	{"the size of a database has the age of its oldest rows", size},
	{"an unread delta is never deleted", retentionUnread},
	{"what is younger than its retention stays", retentionYoung},
	{"what is older goes", retentionOld},
	{"a large table goes in batches", retentionBatches},
	{"a writer goes after its deltas, a partition after its silence", retentionWriters},
	{"a pending notification stays", retentionPending},
}

// soon makes everything old that was written before.
const soon = time.Millisecond

func prune(t *testing.T, s *store.Store, r store.Retention) store.Pruned {
	t.Helper()
	time.Sleep(5 * soon)
	return value[store.Pruned](t)(s.Prune(t.Context(), r))
}

func retentionUnread(t *testing.T, s *store.Store) {
	for seq := range int64(4) {
		commit(t, s, "a", seq+1)
		commit(t, s, "b", seq+1)
	}
	judge(t, s, store.Judgement{Cursors: map[string]int64{"a": 3}})
	equal(t, "pruned", prune(t, s, store.Retention{Deltas: soon, Writers: soon}), store.Pruned{"deltas": 3})
	equal(t, "left", names(read(t, s, nil)), []string{"a/4", "b/1", "b/2", "b/3", "b/4"})
}

func everything(t *testing.T, s *store.Store) {
	t.Helper()
	must(t, s.Commit(t.Context(), store.Commit{Writer: "a", Seq: 1, Body: []byte("x"),
		Gaps: []store.Gap{gap(1, sample.Gap{Reason: "lost"})},
		Bad: []store.BadSample{{Hour: time.Now(), Source: "s", Reason: "now", Count: 1},
			{Hour: noon.AddDate(-1, 0, 0), Source: "s", Reason: "old", Count: 1, Excerpts: []sample.Text{"x"}}},
	}))
	judge(t, s, store.Judgement{
		Windows:       []store.Window{window(0)},
		Findings:      []store.Finding{finding("f", 1)},
		Views:         []store.TargetDocument{{Target: sample.Target{Table: "t"}, Document: []byte("{}")}},
		Checkpoints:   []store.Checkpoint{{Target: sample.Target{Table: "t"}}},
		Transitions:   []store.Transition{{Of: "f", At: noon.AddDate(-1, 0, 0)}},
		Notifications: []store.Notification{{ID: "1", Fingerprint: "f", Route: "r"}},
		Cursors:       map[string]int64{"a": 1},
	})
	must(t, s.MarkDelivered(t.Context(), "1", ""))
}

func size(t *testing.T, s *store.Store) {
	empty := value[store.Size](t)(s.Size(t.Context()))
	equal(t, "of nothing", empty, store.Size{Bytes: empty.Bytes})
	everything(t, s)
	judge(t, s, store.Judgement{Rollups: []store.Rollup{{Target: sample.Target{Table: "t"}, Level: 3600, Begins: noon}}})
	got := value[store.Size](t)(s.Size(t.Context()))
	if got.Bytes < 1<<12 {
		t.Errorf("the database has %d bytes", got.Bytes)
	}
	near(t, "window", got.Window)
	near(t, "roll-up", got.Rollup)
	near(t, "finding", got.Finding)
}

func retentionYoung(t *testing.T, s *store.Store) {
	everything(t, s)
	equal(t, "pruned", prune(t, s, store.Retention{}), store.Pruned{"bad_samples": 1, "bad_excerpts": 1})
	equal(t, "deltas", names(read(t, s, nil)), []string{"a/1"})
	left := value[[]store.BadSample](t)(s.BadSamples(t.Context(), store.BadQuery{}))
	equal(t, "the bad sample left", left[0].Reason, "now")
}

func retentionOld(t *testing.T, s *store.Store) {
	everything(t, s)
	got := prune(t, s, store.Retention{Deltas: soon, Windows: soon, Findings: soon,
		History: soon, Notifications: soon, Gaps: soon, Bad: soon, Writers: soon, Views: soon, Targets: soon})
	equal(t, "pruned", got, store.Pruned{"deltas": 1, "windows": 1, "findings": 1, "finding_history": 1, "bad_excerpts": 1, "cursors": 1,
		"notifications": 1, "gaps": 1, "bad_samples": 2, "writers": 1, "table_views": 1, "checkpoints": 1, "targets": 3})
	equal(t, "deltas", names(read(t, s, nil)), nil)
	equal(t, "totals", value[[]store.Total](t)(s.Totals(t.Context())), nil)
	equal(t, "findings", value[[]store.Finding](t)(s.Findings(t.Context(), store.FindingQuery{})), nil)
	equal(t, "cursors", value[map[string]int64](t)(s.Cursors(t.Context())), map[string]int64{})
}

func retentionBatches(t *testing.T, s *store.Store) {
	const n = 2500
	all := make([]store.Transition, n)
	for i := range all {
		all[i] = store.Transition{Of: "f", At: noon}
	}
	judge(t, s, store.Judgement{Transitions: all})
	equal(t, "pruned", prune(t, s, store.Retention{History: soon}), store.Pruned{"finding_history": n})
}

func retentionWriters(t *testing.T, s *store.Store) {
	claim(t, s, "idle", 1)
	commit(t, s, "idle", 1)
	long := store.Retention{Writers: soon, Positions: soon}
	equal(t, "a delta holds its writer", prune(t, s, long)["writers"], 0)

	p := claim(t, s, "alive", 2)
	const silence = 6 * time.Second // for which no busy machine keeps the living from reporting
	time.Sleep(silence + 100*time.Millisecond)
	// It goes on reporting meanwhile: pruning may take longer than the silence.
	report := func(seq int64) error {
		return s.Commit(t.Context(), store.Commit{Writer: "alive", Seq: seq, Watermarks: []store.Watermark{
			{PartitionID: p.PartitionID, Epoch: p.Epoch, Time: noon.Add(time.Duration(seq) * time.Second)}}})
	}
	must(t, report(1))
	pruned, reporting := make(chan struct{}), make(chan error, 1)
	go func() {
		for seq := int64(2); ; seq++ {
			select {
			case <-pruned:
				reporting <- nil
				return
			case <-time.After(silence / 20):
			}
			if err := report(seq); err != nil {
				reporting <- err
				return
			}
		}
	}()
	long.Positions = silence
	value[store.Pruned](t)(s.Prune(t.Context(), long))
	close(pruned)
	must(t, <-reporting)
	marks := read(t, s, nil).Watermarks
	if len(marks) != 1 || marks[0].PartitionID != p.PartitionID {
		t.Errorf("known are %+v, want only the partition that is still reported", marks)
	}
	left := value[[]store.Position](t)(s.Positions(t.Context(), ""))
	if len(left) != 1 || left[0].PartitionID != p.PartitionID {
		t.Errorf("positions are %+v, want only that of the partition that is still reported", left)
	}
}

func retentionPending(t *testing.T, s *store.Store) {
	notify(t, s, store.Notification{ID: "1", Fingerprint: "f", Route: "r"})
	equal(t, "pruned", prune(t, s, store.Retention{Notifications: soon}), store.Pruned{})
	equal(t, "due", due(t, s, "r"), []string{"1"})
}
