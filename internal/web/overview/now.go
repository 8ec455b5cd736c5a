package overview

import (
	"context"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/sampling"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/internal/web/heatmap"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

// Bounds of the present.
const (
	// lately is how many of the last stored seconds are looked at.
	lately = 10 * time.Second
	// fresh is the age up to which a table's last stored second is called now. An older one
	// is told with its time, because the table has had no load since, or its samples come
	// late. From stale on it says nothing of the present.
	fresh, stale = 30 * time.Second, 2 * time.Minute
	// maxTables is how many tables with open incidents are looked at, the hottest.
	maxTables = 20
)

// Now describes the last seconds of the tables with open incidents.
type Now struct{ say.Present }

// loadNow looks at the last seconds. heads are all incidents, in the order of the page.
func loadNow(ctx context.Context, st *store.Store, heads []store.IncidentHead) (n Now, err error) {
	views, err := st.TableViews(ctx)
	if err != nil {
		return n, err
	}
	n.Counted = len(views) > 0 || len(heads) > 0
	var tables []sample.Target
	for i := range heads {
		h := &heads[i]
		switch detect.State(h.State) {
		case detect.Firing:
			n.Open++
			if n.Worst == nil {
				n.Worst = newNamed(h)
			}
		case detect.Pending:
			n.Pending++
			if n.Nearest == nil || h.Utilization > n.Nearest.Utilization {
				n.Nearest = newNamed(h)
			}
		default:
			continue
		}
		if h.Table != "" && !slices.Contains(tables, h.Target) {
			tables = append(tables, h.Target)
		}
	}
	if n.More = len(tables) > maxTables; n.More {
		tables = tables[:maxTables]
	}
	return n, n.look(ctx, st, tables, time.Now())
}

func newNamed(h *store.IncidentHead) *say.Named {
	return &say.Named{Key: h.Key, Target: h.Target, Utilization: h.Utilization}
}

// look counts the keys of tables that are over a limit, and their throttled requests. It
// takes two queries.
func (n *Now) look(ctx context.Context, st *store.Store, tables []sample.Target, now time.Time) error {
	newest, err := st.LastWindows(ctx, tables)
	if err != nil {
		return err
	}
	var queries []store.WindowQuery
	for i, last := range newest {
		if last.After(n.AsOf) {
			n.AsOf = last
		}
		if now.Sub(last) <= stale {
			queries = append(queries, store.WindowQuery{Target: tables[i], From: last.Add(time.Second - lately), To: last.Add(time.Second)})
		}
	}
	if now.Sub(n.AsOf) <= fresh {
		n.AsOf = time.Time{}
	}
	each, err := st.EachWindows(ctx, queries)
	for i := 0; err == nil && i < len(each); i++ {
		err = n.add(queries[i].Target, each[i])
	}
	return err
}

func (n *Now) add(table sample.Target, rows []store.Window) error {
	var asked, refused sketch.Load
	over := make(map[uint64]bool)
	for _, row := range rows {
		w, err := heatmap.ReadWindow(row)
		if err != nil {
			return err
		}
		asked, refused = asked.Plus(w.Total.Load), refused.Plus(w.Total.Throttled)
		for i := range w.Keys {
			k := &w.Keys[i]
			if proven := sampling.Proven(w, k); proven.Write > detect.PartitionWrite || proven.Read > detect.PartitionRead {
				over[k.Hash] = true
			}
		}
	}
	n.Over += len(over)
	for _, side := range []struct {
		asked, refused sample.Milli
		reads          bool
	}{{asked.Write, refused.Write, false}, {asked.Read, refused.Read, true}} {
		if share := float64(side.refused) / float64(max(side.asked, 1)); side.refused > 0 && share > n.Refused {
			n.Loser, n.Refused, n.Reads = table, share, side.reads
		}
	}
	return nil
}

// IsCalm reports that seconds were counted, and no incident is open.
func (n *Now) IsCalm() bool { return n.Counted && n.Open == 0 && n.Pending == 0 }
