package board_test

import (
	"cmp"
	"encoding/json"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/board"
	"github.com/keyheat/keyheat/internal/judge/fold"
	reporter "github.com/keyheat/keyheat/internal/judge/verdict"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/scenario"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

// handOver returns a board with options that goes on where another one stands: with what the
// other remembers, as bytes, and with the stored seconds of what it has observed.
func handOver(t testing.TB, from *board.Board, o board.Options, observed []*sketch.Window) *board.Board {
	t.Helper()
	var all []*board.Memory
	first := map[sample.Target]int64{}
	for _, m := range from.Memories(func(board.Change) bool { return true }) {
		again := new(board.Memory)
		must.Succeed(t, board.UnmarshalCheckpoint(board.MarshalCheckpoint(m), again))
		all, first[m.Target()] = append(all, again), m.From()
	}
	clock, again := from.Clock(), board.Clock{}
	must.Succeed(t, board.UnmarshalCheckpoint(board.MarshalCheckpoint(&clock), &again))
	to := board.New(o)
	to.Restore(slices.Values(all))
	windows := slices.DeleteFunc(slices.Clone(observed), func(w *sketch.Window) bool { return w.Second < first[w.Target] })
	slices.SortStableFunc(windows, func(a, b *sketch.Window) int { return cmp.Compare(a.Second, b.Second) })
	to.Replay(slices.Values(windows))
	to.Resume(again)
	return to
}

// TestRestartsChangeNothing plays worlds to a reporter that is restarted in random seconds, and to
// one that is not: both have stored the same findings and incidents, in every field, and told the
// same. Stored seconds lack keys below a fiftieth of a limit, which one request in many may be of a
// hot key: the figures of sampled worlds may differ within their bounds, and nothing else.
func TestRestartsChangeNothing(t *testing.T) {
	t.Parallel()
	for _, w := range fieldWorlds(t) {
		t.Run(w.Name, func(t *testing.T) {
			t.Parallel()
			if testing.Short() && !w.twice {
				t.Skip("make test-full restarts in this world")
			}
			if w.Expect.Kind == "few values" {
				t.Skip("the view of a table's keys begins anew with each judge")
			}
			name := fnv.New64a() // not the place in the list, which other worlds change
			_, _ = name.Write([]byte(w.Name))
			random := rand.New(rand.NewPCG(42, name.Sum64()))
			var restarts []int64
			for range 4 {
				restarts = append(restarts, random.Int64N(int64(w.Seconds)))
			}
			want, got := w.judged(t, nil), w.judged(t, restarts)
			for _, of := range slices.Sorted(maps.Keys(joined(want, got))) {
				if want[of] != got[of] {
					t.Errorf("restarted in %v: %s is\n%s\nwant\n%s", restarts, of, got[of], want[of])
				}
			}
		})
	}
}

// reporterStore is the store of one reporter.
type reporterStore struct {
	deltas      [][]byte // by number, from 1
	cursors     map[string]int64
	windows     map[fold.Instant]store.Window
	views       map[sample.Target]store.TargetDocument
	checkpoints map[sample.Target]store.Checkpoint
	findings    map[string]store.Finding
	incidents   map[string]store.Incident
	told        []string
	exact       bool // the told payloads count
}

// judged is what a reporter has stored and told at the end of a world. It is restarted after some
// of its seconds.
func (w *fieldWorld) judged(t *testing.T, restarts []int64) map[string]string {
	t.Helper()
	st := reporterStore{
		cursors: map[string]int64{}, windows: map[fold.Instant]store.Window{}, views: map[sample.Target]store.TargetDocument{}, checkpoints: map[sample.Target]store.Checkpoint{},
		findings: map[string]store.Finding{}, incidents: map[string]store.Incident{}, exact: w.isExact(),
	}
	config := sketch.Config{Seed: scenario.Seed}
	shard, s, begins := sketch.NewShard(config), w.begin(t, &st), int64(0)
	w.Records(7, func(second int64, records []sample.Record) {
		if begins == 0 {
			begins = second
		}
		for i := range records {
			must.Succeed(t, shard.Add(&records[i]))
		}
		d := sketch.NewDelta(config)
		shard.Seal(d)
		body, err := d.MarshalBinary()
		must.Succeed(t, err)
		st.deltas = append(st.deltas, body)
		st.pass(t, s, second+1)
		if slices.Contains(restarts, second-begins) {
			s = w.begin(t, &st)
		}
	})
	all := map[string]string{"what was told": strings.Join(st.told, "\n")}
	for _, f := range st.findings {
		all["finding "+f.Fingerprint] = w.comparable(t, f.Document)
	}
	for _, i := range st.incidents {
		all["incident "+i.ID] = w.comparable(t, i.Document)
	}
	return all
}

// isExact reports whether every request of the world is seen.
func (w *fieldWorld) isExact() bool { return w.Sampling.Rate == 0 || w.Sampling.Rate == 1 }

// comparable returns what a restart must not change of a finding or an incident.
func (w *fieldWorld) comparable(t *testing.T, document []byte) string {
	t.Helper()
	if w.isExact() {
		return string(document)
	}
	var verdict struct {
		Case, Subject, Key, Severity, State, Root string
		Opened                                    time.Time  `json:"opened_at"`
		Fired                                     *time.Time `json:"fired_at"`
		Resolved                                  *time.Time `json:"resolved_at"`
	}
	must.Succeed(t, json.Unmarshal(document, &verdict))
	text, err := json.Marshal(verdict)
	must.Succeed(t, err)
	return string(text)
}

// begin returns a reporter's state at the beginning of its term, as package judge loads it.
func (w *fieldWorld) begin(t *testing.T, st *reporterStore) *reporter.State {
	t.Helper()
	s := reporter.NewState(reporter.Options{
		Facts: w.facts, PageWithin: time.Hour, MaxKeys: 1 << 20, ViewDelay: time.Minute, Receivers: func(*detect.Incident) []string { return []string{"on-call"} },
	}, scenario.Seed, maps.Clone(st.cursors))
	s.Remember(slices.Collect(maps.Values(st.checkpoints)))
	s.RestoreViews(slices.Collect(maps.Values(st.views)))
	var open []detect.Finding
	for _, row := range st.findings {
		if f, err := detect.ReadFinding(row.Document); f.State != detect.Resolved {
			must.Succeed(t, err)
			open = append(open, f)
		}
	}
	var incidents []store.Incident
	for _, row := range st.incidents {
		if row.State != string(detect.Resolved) {
			incidents = append(incidents, row)
		}
	}
	must.Succeed(t, s.SetOpen(incidents))
	since := s.Restore(open)
	var windows []store.Window
	for at, row := range st.windows {
		if from, replays := since[at.Target]; replays && !row.Second.Before(from) {
			windows = append(windows, row)
		}
	}
	slices.SortFunc(windows, func(a, b store.Window) int { return cmp.Or(a.Second.Compare(b.Second), a.Target.Compare(b.Target)) })
	must.Succeed(t, s.Replay(windows))
	s.Resume()
	return s
}

// pass has a state judge all deltas that it has not read.
func (st *reporterStore) pass(t *testing.T, s *reporter.State, clock int64) {
	t.Helper()
	const writer = "collector"
	now, h := time.Unix(clock, 0), fold.Horizon{Complete: clock, Over: clock}
	var deltas []fold.Delta
	for seq := s.Windows.Read[writer] + 1; seq <= int64(len(st.deltas)); seq++ {
		d := new(sketch.Delta)
		must.Succeed(t, d.UnmarshalBinary(st.deltas[seq-1]))
		deltas = append(deltas, fold.NewDelta(writer, seq, d))
	}
	loaded := map[fold.Instant]*fold.OpenWindow{}
	for target, seconds := range s.Windows.Missing(deltas) {
		for _, second := range seconds {
			if row, stored := st.windows[fold.Instant{Target: target, Second: second}]; stored {
				o, err := fold.Reopen(row)
				must.Succeed(t, err)
				loaded[fold.Instant{Target: target, Second: second}] = o
			}
		}
	}
	s.Windows.Reopen(loaded)
	s.Fold(deltas, now)
	closing := s.Closing(h, now)
	for left, done := closing, false; !done; {
		left, done = s.Observe(left, h, now)
		incidents, err := s.SetFindings(rowsOf(st.findings, slices.Concat(s.Unknown(), s.UnknownRoots())))
		must.Succeed(t, err)
		ids := s.UnknownIncidents(incidents)
		must.Succeed(t, s.SetIncidents(ids, rowsOf(st.incidents, ids)))
		must.Succeed(t, s.Compare(now))
	}
	tables := s.Tables(now)
	s.Heat.MissingRollups(h)
	p, err := s.Pending(closing, tables, h, now)
	must.Succeed(t, err)
	st.write(&p.Judgement)
	s.MarkWritten(p)
}

func rowsOf[Row any](all map[string]Row, ids []string) (rows []Row) {
	for _, id := range ids {
		if row, stored := all[id]; stored {
			rows = append(rows, row)
		}
	}
	return rows
}

func (st *reporterStore) write(j *store.Judgement) {
	for _, w := range j.Windows {
		st.windows[fold.Instant{Target: w.Target, Second: w.Second.Unix()}] = w
	}
	for _, v := range j.Views {
		st.views[v.Target] = v
	}
	for _, c := range j.Checkpoints {
		st.checkpoints[c.Target] = c
	}
	for _, f := range j.Findings {
		st.findings[f.Fingerprint] = f
	}
	for _, i := range j.Incidents {
		st.incidents[i.ID] = i
	}
	for _, n := range j.Notifications {
		told := n.ID + " " + n.Event
		if st.exact {
			told += " " + string(n.Payload)
		}
		st.told = append(st.told, told)
	}
	maps.Copy(st.cursors, j.Cursors)
}
