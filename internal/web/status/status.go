// Package status is Keyheat's own state as a value: who collects, how far counting is,
// what was rejected or lost, and who takes notifications. An unknown figure is never
// zero, and no news is no health.
package status

import (
	"context"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/pipeline"
	"github.com/keyheat/keyheat/internal/incident/silence"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/rollup"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

const (
	// lately is how long a gap, a failed delivery and a rejected sample are reported.
	lately = 24 * time.Hour
	// lagging is how far behind a partition is reported.
	lagging = time.Minute
)

// Status is what every page shows about Keyheat itself.
type Status struct {
	// Clock is the database's time; zero while the state is unknown.
	Clock time.Time
	// Writers are the known collectors, the newest first, Watermarks their partitions, and
	// Receivers those with an attempt or a waiting notification.
	Writers    []store.Writer
	Watermarks []store.Watermark
	Receivers  []store.Receiver
	// Gaps were noticed in the last day; Lagging partitions are far behind.
	Gaps    []store.Gap
	Lagging []store.Watermark
	// Unread is what collectors should read and nobody does, the longest first.
	Unread []store.Unread
	// Nothing reports that no collector was ever heard of. Silent is since when none has
	// written; zero while one does.
	Nothing bool
	Silent  time.Time
	// Failing are the receivers of the settings whose newest attempt failed, in the last day.
	Failing []store.Receiver
	// Ahead is the table whose samples are furthest ahead of the database's clock; nil if
	// none are.
	Ahead *store.LastSample
	// Unreadable names the active silences that cannot be read, with the fault of each.
	Unreadable []string
	// Judged is the end of the last second that was judged; zero if none was.
	Judged time.Time
	// Samples are the newest samples of the tables and indexes.
	Samples map[sample.Target]time.Time
}

// Load reads the state, in as many queries for any number of tables. receivers are the names of
// the settings'.
func Load(ctx context.Context, st *store.Store, receivers []string) (s Status, err error) {
	if s.Clock, err = st.Now(ctx); err != nil {
		return s, err
	}
	if s.Writers, err = st.Writers(ctx); err != nil {
		return s, err
	}
	s.Nothing = len(s.Writers) == 0
	if since, silent := store.SilentSince(s.Writers, s.Clock); silent {
		s.Silent = since
	}
	if s.Watermarks, err = st.Watermarks(ctx); err != nil {
		return s, err
	}
	s.Unread = store.FindUnread(s.Writers, s.Watermarks, s.Clock)
	for _, m := range s.Watermarks {
		if s.Clock.Sub(m.Time) > lagging && m.Lag > 0 {
			s.Lagging = append(s.Lagging, m)
		}
	}
	if s.Receivers, err = st.Receivers(ctx); err != nil {
		return s, err
	}
	for _, r := range s.Receivers {
		if r.Failing() && slices.Contains(receivers, r.Route) && s.Clock.Sub(r.Attempted) < lately {
			s.Failing = append(s.Failing, r)
		}
	}
	if err := s.loadGaps(ctx, st); err != nil {
		return s, err
	}
	active, err := st.Silences(ctx, store.SilenceQuery{State: store.SilenceActive})
	if err != nil {
		return s, err
	}
	if _, wrong := silence.NewSet(active); wrong != nil {
		s.Unreadable = strings.Split(wrong.Error(), "\n")
	}
	if err := s.loadSamples(ctx, st); err != nil {
		return s, err
	}
	return s, s.loadJudged(ctx, st)
}

// loadSamples finds the newest samples, and the one that is furthest ahead of the database's
// clock.
func (s *Status) loadSamples(ctx context.Context, st *store.Store) error {
	rows, err := st.LastSamples(ctx, int64(rollup.Minute))
	s.Samples = make(map[sample.Target]time.Time, len(rows))
	ahead := s.Clock.Add(store.MaxAhead)
	for i, r := range rows {
		s.Samples[r.Target] = r.Second
		if r.Second.After(ahead) {
			s.Ahead, ahead = &rows[i], r.Second
		}
	}
	return err
}

// LastSample returns the newest sample of any table; zero if none is stored.
func (s Status) LastSample() (newest time.Time) {
	for _, at := range s.Samples {
		if at.After(newest) {
			newest = at
		}
	}
	return newest
}

// NoSamples tells since when no sample has come, though what came was judged; empty while
// samples come, and if that is unknown.
func (s Status) NoSamples() string { return s.silence(s.LastSample()) }

// NoSamplesOf tells the same of a table or index.
func (s Status) NoSamplesOf(of sample.Target) string { return s.silence(s.Samples[of]) }

func (s Status) silence(last time.Time) string {
	if last.IsZero() || s.Judged.Sub(last) < pipeline.Default().NoSamples {
		return ""
	}
	return say.NoSamples(last, s.Clock)
}

// CountSilent counts the tables and indexes without a sample now.
func (s Status) CountSilent() (n int) {
	for of := range s.Samples {
		if s.NoSamplesOf(of) != "" {
			n++
		}
	}
	return n
}

func (s *Status) loadGaps(ctx context.Context, st *store.Store) error {
	gaps, err := st.Gaps(ctx, store.GapQuery{Limit: 100})
	for _, g := range gaps {
		if s.Clock.Sub(g.Noticed) < lately {
			s.Gaps = append(s.Gaps, g)
		}
	}
	return err
}

// loadJudged finds the last judged second.
func (s *Status) loadJudged(ctx context.Context, st *store.Store) error {
	last, any, err := st.LastSeenMinute(ctx)
	if any {
		s.Judged = last.Minute.Add(time.Duration(bits.Len64(last.Seconds)) * time.Second)
	}
	return err
}

// IsStalled reports that collectors write and no partition lags, and still nothing has been
// judged for minutes: no reporter judges.
func (s Status) IsStalled() bool {
	return !s.Judged.IsZero() && s.Silent.IsZero() && len(s.Lagging) == 0 && s.Clock.Sub(s.Judged) > pipeline.Default().Standing
}

// LowerBounds are the tables and indexes whose loads are lower bounds, in order.
func (s Status) LowerBounds() (names []string) {
	for _, w := range s.Writers {
		if w.Runs(s.Clock) {
			names = append(names, w.LowerBounds...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// ReadsNothing reports that collectors run, and none of them reads anything.
func (s Status) ReadsNothing() bool {
	return len(s.Unread) > 0 && !slices.ContainsFunc(s.Writers, func(w store.Writer) bool {
		return w.Runs(s.Clock) && w.Reading != nil && w.Reading.Read > 0
	})
}

// TroubledWriters are the running collectors that report trouble.
func (s *Status) TroubledWriters() (all []store.Writer) {
	for _, w := range s.Writers {
		if w.Runs(s.Clock) && isTroubled(&w) {
			all = append(all, w)
		}
	}
	return all
}

// isTroubled reports whether a collector fails, rejects many samples, or refuses tables.
func isTroubled(w *store.Writer) bool {
	return w.State == string(detect.CollectorFailing) || rejects(w) || len(w.RefusedTables) > 0 || w.Reading != nil && len(w.Reading.FullUsers) > 0
}

// rejects reports whether a collector rejects as many samples as open an incident.
func rejects(w *store.Writer) bool {
	return w.BadShare != nil && *w.BadShare >= pipeline.Default().BadShare
}

// Health is the state in a word.
type Health string

// The states. The empty one is unknown.
const (
	Unknown  Health = ""
	Well     Health = "calm"
	Warning  Health = "warning"
	Critical Health = "critical"
)

// Health returns the state, and the number of problems in it.
func (s *Status) Health() (worst Health, problems int) {
	if s.Clock.IsZero() {
		return Unknown, 0
	}
	worst = Well
	if s.Nothing || s.Judged.IsZero() || s.LastSample().IsZero() || s.NoSamples() != "" {
		worst = Unknown
	}
	for _, n := range []int{len(s.Gaps), len(s.Lagging), len(s.Unreadable), len(s.TroubledWriters())} {
		if n > 0 {
			worst, problems = Warning, problems+1
		}
	}
	if s.Ahead != nil {
		worst, problems = Warning, problems+1
	}
	if len(s.Unread) > 0 && !s.ReadsNothing() {
		worst, problems = Warning, problems+1
	}
	for _, holds := range []bool{!s.Silent.IsZero(), s.ReadsNothing(), s.IsStalled(), len(s.Failing) > 0} {
		if holds {
			worst, problems = Critical, problems+1
		}
	}
	return worst, problems
}

// CollectorState is a collector's state in a word, with the trouble that it reports.
type CollectorState struct {
	Class, State string
	Notes        []string
}

// NewCollectorState judges a collector at a time.
func NewCollectorState(w store.Writer, now time.Time) CollectorState {
	switch {
	case !w.Stopped.IsZero():
		return CollectorState{Class: "plain", State: "stopped"}
	case !w.Runs(now):
		return CollectorState{Class: "critical", State: "silent", Notes: []string{"It ended without notice, or does not reach the database. See its log."}}
	}
	c := CollectorState{Class: "calm", State: "running"}
	if isTroubled(&w) {
		c.Class = "warning"
	}
	if w.State == string(detect.CollectorFailing) {
		c.State, c.Notes = "failing", []string{wording.Printable(w.Reason)}
	}
	if rejects(&w) {
		c.Notes = append(c.Notes, "It rejects many samples: see below.")
	}
	if n := len(w.RefusedTables); n > 0 {
		c.Notes = append(c.Notes, fmt.Sprintf("It has no room for %d more tables. Raise collect.tables, or leave samples out.", n))
	}
	if w.Reading != nil {
		for _, user := range w.Reading.FullUsers {
			c.Notes = append(c.Notes, fmt.Sprintf("It refuses new producers of the user %q: there are too many. Keep one Keyheat-Producer for each process.", wording.Printable(user)))
		}
	}
	return c
}
