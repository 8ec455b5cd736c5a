package overview

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/sampling"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

// Bounds of the present.
const (
	// lately is how many of the last stored seconds are looked at.
	lately = 10 * time.Second
	// stale is the age from which a table's last stored second no longer describes the
	// present: the table has had no load since, or nobody counted it.
	stale = 2 * time.Minute
	// maxTables is how many tables with open incidents are looked at, the hottest.
	maxTables = 20
)

// Now describes the last seconds of the tables with open incidents.
type Now struct {
	// Counted reports that anything was ever counted whole.
	Counted bool
	// Open is how many incidents fire, and Pending how many may come to. Nearest is the
	// worst of the latter.
	Open, Pending  int
	Worst, Nearest *store.IncidentHead
	// Over is how many keys are proven over a limit in a second of the last ones.
	Over int
	// Loser is the table that refused the largest share of its writes or reads, if any
	// did; Refused is the share, and Reads means reads.
	Loser   detect.Target
	Refused float64
	Reads   bool
	// More reports that more tables have open incidents than were looked at.
	More bool
}

// loadNow looks at the last seconds. heads are all incidents, in the order of the page.
func loadNow(ctx context.Context, st Store, heads []store.IncidentHead) (n Now, err error) {
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
				n.Worst = h
			}
		case detect.Pending:
			n.Pending++
			if n.Nearest == nil {
				n.Nearest = h
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

// look counts the keys of tables that are over a limit, and their throttled requests. It
// takes two queries.
func (n *Now) look(ctx context.Context, st Store, tables []sample.Target, now time.Time) error {
	newest, err := st.LastWindows(ctx, tables)
	if err != nil {
		return err
	}
	var queries []store.WindowQuery
	for i, last := range newest {
		if now.Sub(last) <= stale {
			queries = append(queries, store.WindowQuery{Target: tables[i], From: last.Add(time.Second - lately), To: last.Add(time.Second)})
		}
	}
	each, err := st.EachWindows(ctx, queries)
	for i := 0; err == nil && i < len(each); i++ {
		err = n.add(queries[i].Target, each[i])
	}
	return err
}

// add adds the last seconds of a table.
func (n *Now) add(table sample.Target, rows []store.Window) error {
	var asked, refused sketch.Load
	over := make(map[uint64]bool)
	for _, row := range rows {
		var w sketch.Window
		if err := w.UnmarshalBinary(row.Body); err != nil {
			return fmt.Errorf("stored window of %s at %s: %w", table.Name(), row.Second, err)
		}
		asked, refused = asked.Plus(w.Total.Load), refused.Plus(w.Total.Throttled)
		for i := range w.Keys {
			k := &w.Keys[i]
			if proven := sampling.Proven(&w, k); proven.Write > detect.PartitionWrite || proven.Read > detect.PartitionRead {
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

// longestKey is how much of a key stands in the sentence, in characters.
const longestKey = 40

// Sentence describes the present in one sentence. nobody means that no collector was ever
// there, and since the time since which none has written; zero while one does. Missing
// counts come before calm.
func (n *Now) Sentence(nobody bool, since time.Time) string {
	switch {
	case !n.Counted && nobody:
		return "No samples have arrived yet: start a collector."
	case !n.Counted:
		return "A collector is there, but no second was counted yet: nothing could be judged."
	case !since.IsZero() && n.Open == 0:
		return "Nothing could be judged since " + since.UTC().Format("15:04:05") + " UTC, when the last collector wrote."
	case !since.IsZero():
		return "Nothing could be judged since " + since.UTC().Format("15:04:05") + " UTC, when the last collector wrote: " +
			plural(n.Open, "incident", "incidents") + " fired then."
	}
	var parts []string
	switch {
	case n.Over > 0:
		parts = append(parts, atLeast(n.More)+plural(n.Over, "key is", "keys are")+" over the limit now")
	case n.Open > 0:
		parts = append(parts, plural(n.Open, "incident fires", "incidents fire")+", but no key was over the limit in the last seconds")
	case n.Pending > 0:
		parts = append(parts, "No key is over the limit now")
	default:
		return "No key is near the limit of a partition."
	}
	switch {
	case n.Worst != nil && n.Worst.Key != "":
		parts = append(parts, incidentName(n.Worst)+" is the worst"+peakText(n.Worst))
	case n.Refused > 0:
		text := "DynamoDB refuses " + percent(n.Refused) + " of the " + map[bool]string{false: "writes to ", true: "reads of "}[n.Reads] + wording.Place(n.Loser)
		if n.More {
			text += ", the most among the hottest tables"
		}
		parts = append(parts, text)
	case n.Worst == nil && n.Nearest != nil && n.Nearest.Key != "":
		parts = append(parts, incidentName(n.Nearest)+" is the nearest"+peakText(n.Nearest))
	}
	return strings.Join(parts, "; ") + "."
}

func atLeast(more bool) string {
	if more {
		return "At least "
	}
	return ""
}

func incidentName(h *store.IncidentHead) string {
	return wording.Quote(wording.Shorten(h.Key, longestKey)) + " in " + wording.Place(h.Target)
}

// peakText describes an incident's highest load; empty if unknown.
func peakText(h *store.IncidentHead) string {
	if h.Utilization <= 0 {
		return ""
	}
	return ", " + percent(h.Utilization) + " of the limit at its peak"
}

// whole writes a share in whole percents; one that is not nothing is not called 0%.
func percent(share float64) string {
	if share < 0.01 {
		return "less than 1%"
	}
	return wording.Count(int64(share*100+0.5)) + "%"
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return wording.Count(int64(n)) + " " + many
}
