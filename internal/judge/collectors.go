package judge

import (
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/pipeline"
	"github.com/keyheat/keyheat/store"
)

// pipelineStatus returns the stored state of the collectors and of their sources.
func pipelineStatus(writers []store.Writer, snap *store.Snapshot) pipeline.Status {
	s := pipeline.Status{Now: snap.Now}
	if since, silent := store.SilentSince(writers, snap.Now); silent {
		s.Silent = since
	}
	for _, w := range writers {
		if !w.Runs(snap.Now) {
			continue
		}
		c := detect.Collector{ID: w.ID, Host: w.Host, Seen: w.Seen, State: detect.CollectorState(w.State), Reason: w.Reason, Lag: w.Lag, BadShare: w.BadShare}
		if w.Reading != nil {
			c.Reads = w.Reading.Read > 0
			if w.Reading.Last.After(s.LastRead) {
				s.LastRead = w.Reading.Last
			}
		}
		if w.RefusedTables != nil {
			c.RefusedTables = new(int64(len(w.RefusedTables)))
			s.Refused = append(s.Refused, w.RefusedTables...)
		}
		s.Collectors = append(s.Collectors, c)
	}
	for _, u := range store.FindUnread(writers, snap.Watermarks, snap.Now) {
		s.Unread = append(s.Unread, pipeline.Unread{Name: u.Name, Since: u.Since})
	}
	for _, m := range snap.Watermarks {
		p := pipeline.Partition{Through: m.Time, Moved: m.Moved, Seen: m.Seen, Lag: m.Lag}
		if m.Time.Equal(store.Beginning) {
			p.Through = time.Time{}
		}
		s.Partitions = append(s.Partitions, p)
	}
	return s
}
