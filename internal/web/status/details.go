package status

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect/corroboration"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

const (
	// gone is the time after the last report on a partition from which it is not shown:
	// nobody reads it any more.
	gone = time.Hour
	// maxCollectors is how many collectors are listed.
	maxCollectors = 50
)

// Details are what the status page shows beside [Status].
type Details struct {
	Collectors []store.Writer
	// More is how many collectors of the last day are not listed.
	More    int
	Sources []Source
	// Waiting is how many records wait in all sources.
	Waiting int64
	// Undelivered is how many notifications wait for the receivers of the settings.
	Receivers   []Receiver
	Undelivered int64
	CloudWatch  CloudWatch
	Size        store.Size
}

// Source is the partitions or shards of one input.
type Source struct {
	Name       string
	Partitions int
	// Waiting is how many records wait, and Behind how far the slowest partition with
	// waiting records is behind the clock.
	Waiting int64
	// Unread is how many of its partitions nobody reads: what waits in them is unknown.
	Unread int
	Behind time.Duration
	// Seen is when a collector last reported on any of them.
	Seen time.Time
}

// Lost is what was not counted of a time.
type Lost struct {
	// Rejected are the samples that were rejected in the hours of this time, by source and
	// reason, and RejectedCount is their sum.
	Rejected      []Rejected
	RejectedCount int64
	// Gaps were noticed in this time, or have records of it; the newest first.
	Gaps []store.Gap
}

// Rejected are the samples of a source that were rejected for one reason.
type Rejected struct {
	Source, Reason string
	Count          int64
	// Hour is the newest hour with one, Excerpt a redacted beginning of one, and Advice what
	// to do.
	Hour    time.Time
	Excerpt sample.Text
	Advice  string
}

// Receiver is a receiver of the settings, or one that something waits for.
type Receiver struct {
	store.Receiver
	// Configured reports that the settings have it.
	Configured bool
}

// CloudWatch is how CloudWatch is read.
type CloudWatch struct {
	// Tables is how many tables and indexes it was read for, and Requested how many metrics
	// were requested this month.
	Tables    int
	Requested int64
	// Attempted is the newest attempt, Through the newest minute that was read.
	Attempted, Through time.Time
	// Wrong are the tables that could not be read.
	Wrong []store.CloudWatchRead
}

// AnyConfigured reports that the settings have a receiver.
func (d *Details) AnyConfigured() bool {
	return slices.ContainsFunc(d.Receivers, func(r Receiver) bool { return r.Configured })
}

// DescribeOffset tells how far a collector's clock is from the database's.
func DescribeOffset(ahead time.Duration) string {
	switch seconds := math.Abs(ahead.Seconds()); {
	case seconds < 0.1:
		return "in step"
	case ahead < 0:
		return fmt.Sprintf("%.1f s behind", seconds)
	default:
		return fmt.Sprintf("%.1f s ahead", seconds)
	}
}

// LoadDetails reads the rest of the state. receivers are the names of the settings'.
func LoadDetails(ctx context.Context, st *store.Store, s *Status, receivers []string) (d Details, err error) {
	d.Sources, d.Receivers = s.sources(), s.receivers(receivers)
	for _, o := range d.Sources {
		d.Waiting += o.Waiting
	}
	for _, r := range d.Receivers {
		if r.Configured {
			d.Undelivered += int64(r.Pending)
		}
	}
	for _, w := range s.Writers {
		if s.Clock.Sub(w.Seen) < lately {
			d.Collectors = append(d.Collectors, w)
		}
	}
	// Running ones first.
	slices.SortStableFunc(d.Collectors, func(a, b store.Writer) int { return cmp.Compare(rank(&a, s.Clock), rank(&b, s.Clock)) })
	if d.More = len(d.Collectors) - maxCollectors; d.More > 0 {
		d.Collectors = d.Collectors[:maxCollectors]
	}
	reads, err := st.CloudWatchReads(ctx)
	if err != nil {
		return d, err
	}
	d.CloudWatch = newCloudWatch(reads)
	d.Size, err = st.Size(ctx)
	return d, err
}

// LostKept is how long rejected samples are kept.
var LostKept = store.DefaultRetention().Bad

// LoadLost returns what was not counted from one time to another.
func LoadLost(ctx context.Context, st *store.Store, from, to time.Time) (l Lost, err error) {
	bad, err := st.BadSamples(ctx, store.BadQuery{From: from, To: to})
	if err != nil {
		return l, err
	}
	l.Rejected = sumRejected(bad)
	for _, r := range l.Rejected {
		l.RejectedCount += r.Count
	}
	gaps, err := st.Gaps(ctx, store.GapQuery{})
	for _, g := range gaps {
		noticed := !g.Noticed.Before(from) && g.Noticed.Before(to)
		if known := !g.Since.IsZero() && !g.Until.IsZero(); noticed || known && g.Since.Before(to) && !g.Until.Before(from) {
			l.Gaps = append(l.Gaps, g)
		}
	}
	return l, err
}

func rank(w *store.Writer, now time.Time) int {
	switch {
	case w.Runs(now) && isTroubled(w):
		return 0
	case w.Runs(now):
		return 1
	}
	return 2
}

func (s *Status) sources() (all []Source) {
	for _, m := range s.Watermarks { // in the order of their sources
		if s.Clock.Sub(m.Seen) > gone {
			continue
		}
		if n := len(all); n == 0 || all[n-1].Name != m.Source {
			source := Source{Name: m.Source}
			for _, u := range s.Unread {
				if u.Source == m.Source {
					source.Unread++
				}
			}
			all = append(all, source)
		}
		o := &all[len(all)-1]
		o.Partitions++
		if m.Seen.After(o.Seen) {
			o.Seen = m.Seen
		}
		if m.Lag > 0 {
			through := m.Time
			if through.Equal(store.Beginning) { // nothing of it was counted yet
				through = m.Moved
			}
			o.Waiting, o.Behind = o.Waiting+m.Lag, max(o.Behind, s.Clock.Sub(through))
		}
	}
	return all
}

func (s *Status) receivers(configured []string) (all []Receiver) {
	for _, r := range s.Receivers {
		all = append(all, Receiver{r, slices.Contains(configured, r.Route)})
	}
	for _, name := range configured {
		if !slices.ContainsFunc(s.Receivers, func(r store.Receiver) bool { return r.Route == name }) {
			all = append(all, Receiver{store.Receiver{Route: name}, true})
		}
	}
	return all
}

// sumRejected adds up counts, the most first.
func sumRejected(counts []store.BadSample) (all []Rejected) {
	for _, b := range counts { // the newest hour first
		i := slices.IndexFunc(all, func(r Rejected) bool { return r.Source == b.Source && r.Reason == b.Reason })
		if i < 0 {
			i = len(all)
			all = append(all, Rejected{Source: b.Source, Reason: b.Reason, Hour: b.Hour, Advice: say.RejectAdvice(sample.RejectReason(b.Reason))})
		}
		all[i].Count += b.Count
		if all[i].Excerpt == "" && len(b.Excerpts) > 0 {
			all[i].Excerpt = b.Excerpts[0]
		}
	}
	slices.SortStableFunc(all, func(a, b Rejected) int { return cmp.Compare(b.Count, a.Count) })
	return all
}

func newCloudWatch(reads []store.CloudWatchRead) (c CloudWatch) {
	c.Tables = len(reads)
	for _, r := range reads {
		c.Requested += r.Requested
		if r.Attempted.After(c.Attempted) {
			c.Attempted = r.Attempted
		}
		if r.Through.After(c.Through) {
			c.Through = r.Through
		}
		if r.State == string(corroboration.Denied) || r.State == string(corroboration.Failed) {
			c.Wrong = append(c.Wrong, r)
		}
	}
	return c
}
