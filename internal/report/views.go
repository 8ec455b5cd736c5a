package report

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/forecast"
	"github.com/keyheat/keyheat/detect/keydesign"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

const (
	// viewSettled is how many seconds of an hour must be seen before its view
	// takes the place of the one of the hour before.
	viewSettled = 600
	// growingKeys is how many growing keys a view lists, of the warmKeys that
	// are highest.
	growingKeys, warmKeys = 5, 25
	// growingTargets is for how many tables growing keys are looked for at one
	// writing: each is some queries.
	growingTargets = 20
)

// hourViews count what tables' keys look like, an hour of event time at once.
type hourViews struct {
	hours   map[int64]*hourView // by the hour's beginning
	newest  int64               // second
	dirty   time.Time           // the database's time at the first second not written
	written bool
	growing map[target]growing
	// kept are the times of views that a judge before has stored: a new judge
	// does not write over an hour what it saw in its first minutes.
	kept map[target]span
}

// span are seconds, to exclusive.
type span struct{ from, to int64 }

type hourView struct {
	census *keydesign.Census
	totals map[target]*detect.Table
	first  int64 // second that was observed
}

// growing are a target's growing keys, as of an hour.
type growing struct {
	hour int64
	keys []detect.GrowingKey
}

func newHourViews() *hourViews {
	return &hourViews{
		hours: make(map[int64]*hourView), growing: make(map[target]growing), kept: make(map[target]span),
	}
}

// at is the hour of a second; nil when it is past.
func (v *hourViews) at(second int64) *hourView {
	hour := second - second%3600
	h := v.hours[hour]
	if h == nil {
		if hour < v.newest-v.newest%3600 {
			return nil
		}
		h = &hourView{census: keydesign.NewCensus(), totals: make(map[target]*detect.Table), first: math.MaxInt64}
		v.hours[hour] = h
	}
	return h
}

// observe takes a second that closes, before it is trimmed. One that closes
// again, for late samples, is in already.
func (v *hourViews) observe(at instant, o *openWindow, now time.Time) {
	h := v.at(at.second)
	if h == nil || o.reopened {
		return
	}
	h.census.Observe(&o.window)
	h.add(at.target, &o.window)
	h.first = min(h.first, at.second)
	v.newest = max(v.newest, at.second)
	if v.dirty.IsZero() {
		v.dirty = now
	}
	for hour, old := range v.hours {
		if old != v.shown() && hour < v.newest-v.newest%3600 {
			delete(v.hours, hour)
		}
	}
}

// add counts a second to its target's totals.
func (h *hourView) add(at target, w *sketch.Window) {
	t := h.totals[at]
	if t == nil {
		t = &detect.Table{Table: at.table, Index: at.index}
		h.totals[at] = t
	}
	t.Seconds++
	t.Requests += w.Total.Requests
	t.WCU += float64(w.Total.Write) / 1000
	t.RCU += float64(w.Total.Read) / 1000
	t.Unseen.WCU = max(t.Unseen.WCU, float64(w.Unseen.Write)/1000)
	t.Unseen.RCU = max(t.Unseen.RCU, float64(w.Unseen.Read)/1000)
}

// count takes registers of distinct keys.
func (v *hourViews) count(r sketch.Registers) {
	if h := v.at(r.Minute); h != nil {
		h.census.Count(r)
	}
}

// restoreViews notes which views are stored.
func (t *term) restoreViews(ctx context.Context) error {
	rows, err := t.store.TableViews(ctx)
	if err != nil {
		return err
	}
	for _, row := range rows {
		var stored detect.Table
		if err := json.Unmarshal(row.Document, &stored); err == nil && stored.View != nil {
			t.views.kept[target{row.Table, row.Index}] = span{stored.View.From.Unix(), stored.View.To.Unix()}
		} // one that cannot be read is written anew
	}
	return nil
}

// keeps says that the stored view of a target is better than what h has seen:
// it is recent, and of more time.
func (v *hourViews) keeps(at target, h *hourView) bool {
	stored, any := v.kept[at]
	seen := v.newest - h.first + 1
	return any && seen < min(viewSettled, stored.to-stored.from) && v.newest-stored.to < 3600
}

// due says whether it is time to write: at once when nothing was written yet,
// then after a while.
func (v *hourViews) due(now time.Time, delay time.Duration) bool {
	return !v.dirty.IsZero() && (!v.written || now.Sub(v.dirty) >= delay.Truncate(time.Microsecond))
}

// shown is the hour whose view is written: the newest, or for its first minutes
// the one before.
func (v *hourViews) shown() *hourView {
	hour := v.newest - v.newest%3600
	now, before := v.hours[hour], v.hours[hour-3600]
	if before != nil && (now == nil || v.newest-now.first < viewSettled) {
		return before
	}
	return now
}

// viewRows are the rows to write, as many as there are targets.
func (t *term) viewRows(ctx context.Context) ([]store.TableView, error) {
	h := t.views.shown()
	if h == nil {
		return nil, nil
	}
	var rows []store.TableView
	looked := 0
	for at, total := range h.totals {
		if t.views.keeps(at, h) {
			continue
		}
		table := *total
		if table.View = h.census.View(at.table, at.index, t.policy(at.table, at.index)); table.View == nil {
			continue
		}
		if t.views.newest-h.first >= viewSettled { // before that, few keys may be the first of many
			t.board.SetView(at.table, at.index, table.View)
		}
		var err error
		if table.View.Growing, err = t.growingKeys(ctx, at, &looked); err != nil {
			return nil, err
		}
		document, err := json.Marshal(table)
		if err != nil {
			return nil, fmt.Errorf("write the view of %s %s: %w", at.table, at.index, err)
		}
		rows = append(rows, store.TableView{Table: at.table, Index: at.index, Document: document})
	}
	slices.SortFunc(rows, func(a, b store.TableView) int {
		return strings.Compare(a.Table+"\x00"+a.Index, b.Table+"\x00"+b.Index)
	})
	return rows, nil
}

func (t *term) policy(table, index string) detect.Policy {
	if t.config.Policy == nil {
		return detect.DefaultPolicy()
	}
	return t.config.Policy(table, index)
}

// growingKeys are the warm keys of a target with a forecast, looked for once an
// hour of event time.
func (t *term) growingKeys(ctx context.Context, at target, looked *int) ([]detect.GrowingKey, error) {
	known, ok := t.views.growing[at]
	hour := t.newest - t.newest%3600
	if ok && known.hour == hour || *looked >= growingTargets {
		return append([]detect.GrowingKey{}, known.keys...), nil
	}
	*looked++
	now := time.Unix(t.newest, 0).UTC()
	warm, err := t.store.WarmKeys(ctx, at.table, at.index, now.Add(-forecast.Memory), warmKeys)
	if err != nil {
		return nil, err
	}
	keys := []detect.GrowingKey{}
	for _, k := range warm {
		if len(keys) == growingKeys {
			break
		}
		f, err := t.forecastKey(ctx, at, k.Hash, warmKind(at, k), now)
		if err != nil {
			return nil, err
		}
		if f != nil {
			keys = append(keys, detect.GrowingKey{
				Key: k.Key, KeyType: k.KeyType, Forecast: *f,
				WCU: float64(k.WriteMilli) / 1000, RCU: float64(k.ReadMilli) / 1000,
			})
		}
	}
	if len(t.views.growing) > maxTargets {
		clear(t.views.growing)
	}
	t.views.growing[at] = growing{hour, keys}
	return append([]detect.GrowingKey{}, keys...), nil
}

// warmKind is what a warm key is nearer to the limit with.
func warmKind(at target, k store.WarmKey) detect.Kind {
	switch {
	case sample.Milli(k.ReadMilli) > detect.WritesInReads*sample.Milli(k.WriteMilli):
		return detect.HotKeyRead
	case at.index != "":
		return detect.HotGSIKey
	}
	return detect.HotKeyWrite
}
