package report

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/partition"
	"github.com/keyheat/keyheat/internal/partitions"
	"github.com/keyheat/keyheat/store"
)

// Store holds the rows of reports; *store.Store has it.
type Store interface {
	Now(ctx context.Context) (time.Time, error)
	Incidents(ctx context.Context, q store.IncidentQuery) ([]store.Incident, error)
	IncidentTransitions(ctx context.Context, from, to time.Time, most int) ([]store.Transition, error)
	Finding(ctx context.Context, fingerprint string) (store.Finding, error)
	TableViews(ctx context.Context) ([]store.TargetDocument, error)
	partitions.Store
	Gaps(ctx context.Context, q store.GapQuery) ([]store.Gap, error)
	Writers(ctx context.Context) ([]store.Writer, error)
}

// Rows are the stored rows of a period.
type Rows struct {
	Request
	// Made is the store's time.
	Made        time.Time
	Incidents   []store.Incident
	Transitions []store.Transition
	// Roots are the findings that the incidents are about, by fingerprint, as far as
	// they are kept.
	Roots map[string]store.Finding
	Views []store.TargetDocument
	Gaps  []store.Gap
	// Partitions are of the tables whose ranges of partitions are claimed, with the loads of
	// the period's last minute.
	Partitions []partition.View
	Writers    []store.Writer
	// Cut names the parts that were left out for their size.
	Cut []string
}

// The bounds of a report's reading and lists.
const (
	maxIncidents   = 2000
	maxTransitions = 20000
	maxGaps        = 200
	maxTables      = 500
)

// Load reads the rows of a period.
func Load(ctx context.Context, st Store, q Request) (r Rows, err error) {
	r = Rows{Request: q, Roots: map[string]store.Finding{}}
	if r.Made, err = st.Now(ctx); err != nil {
		return r, err
	}
	if r.Incidents, err = st.Incidents(ctx, store.IncidentQuery{Limit: maxIncidents}); err != nil {
		return r, err
	}
	r.cut(len(r.Incidents), maxIncidents, "incidents")
	if r.Transitions, err = st.IncidentTransitions(ctx, q.From, q.To, maxTransitions); err != nil {
		return r, err
	}
	r.cut(len(r.Transitions), maxTransitions, "changes of incidents")
	if err := r.loadRoots(ctx, st); err != nil {
		return r, err
	}
	if r.Gaps, err = st.Gaps(ctx, store.GapQuery{From: q.From, To: q.To, Limit: maxGaps}); err != nil {
		return r, err
	}
	r.cut(len(r.Gaps), maxGaps, "gaps")
	if r.Writers, err = st.Writers(ctx); err != nil {
		return r, err
	}
	if r.Views, err = st.TableViews(ctx); err != nil {
		return r, err
	}
	r.Views = slices.DeleteFunc(r.Views, func(v store.TargetDocument) bool { return !q.Covers(v.Target) })
	if r.cut(len(r.Views), maxTables, "tables and indexes"); len(r.Views) > maxTables {
		r.Views = r.Views[:maxTables]
	}
	r.Partitions, err = partitions.ListClaimed(ctx, st, q.To, r.Made, q.Covers)
	return r, err
}

func (r *Rows) cut(n, most int, entries string) {
	if n >= most {
		r.Cut = append(r.Cut, entries)
	}
}

// Covers reports whether the report is about a table or index.
func (q Request) Covers(at detect.Target) bool {
	if len(q.Tables) == 0 {
		return true
	}
	at.Index = ""
	names := []string{at.Table}
	if at.Region != "" {
		names = append(names, at.Region+"/"+at.Table)
	}
	return slices.ContainsFunc(append(names, at.Name()), func(name string) bool { return slices.Contains(q.Tables, name) })
}

func (r *Rows) loadRoots(ctx context.Context, st Store) error {
	r.Incidents = slices.DeleteFunc(r.Incidents, func(i store.Incident) bool { return !r.Covers(i.Target) })
	moved := r.transitions()
	r.Incidents = slices.DeleteFunc(r.Incidents, func(i store.Incident) bool { return !r.overlaps(&i) && len(moved[i.ID]) == 0 })
	for _, i := range r.Incidents {
		f, err := st.Finding(ctx, i.Root)
		switch {
		case err == nil:
			r.Roots[i.Root] = f
		case !errors.Is(err, store.ErrNotFound):
			return err
		}
	}
	return nil
}

// transitions returns the transitions in the period, by incident, in their order.
func (r *Rows) transitions() map[string][]store.Transition {
	all := make(map[string][]store.Transition)
	for _, t := range r.Transitions {
		if !t.At.Before(r.From) && t.At.Before(r.To) {
			all[t.Of] = append(all[t.Of], t)
		}
	}
	return all
}

// overlaps reports whether the last episode of an incident overlaps the period.
func (r *Rows) overlaps(i *store.Incident) bool {
	return i.OpenedAt.Before(r.To) && (i.ResolvedAt.IsZero() || !i.ResolvedAt.Before(r.From))
}
