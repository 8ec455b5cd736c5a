package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/whatif"
	"github.com/keyheat/keyheat/internal/chart"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/internal/web/heatmap"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

// The bounds of a question.
const (
	maxShards = 200
	maxGrowth = 20
)

// A question is answered from the end of a finding's time, as long as this, and from what
// came shortly after it.
const questionSpan, questionAfter = 6 * time.Minute, 30 * time.Second

const errNoSeconds missing = "the seconds of this key are not stored, or no longer kept"

// whatIf is a question about a finding's key with its answer, as a page shows it.
type whatIf struct {
	*whatif.Answer
	// Most is the highest number of shards that can be asked for, and MostGrowth the
	// highest factor.
	Most, MostGrowth int
	Bars             []chart.Bar
}

func (s *Site) apiWhatIf(ctx context.Context, r *http.Request) (any, error) {
	f, err := s.loadFinding(ctx, r)
	if err != nil {
		return nil, err
	}
	answer, err := s.ask(ctx, r.URL.Query(), &f)
	return map[string]any{"what_if": answer}, err
}

// ask answers an address's question from the stored seconds of a finding's episode. The
// policy of its table sets the headroom of key shards.
func (s *Site) ask(ctx context.Context, values url.Values, f *detect.Finding) (*whatif.Answer, error) {
	q, err := parseQuestion(values, f)
	if err != nil {
		return nil, badRequest{Err: err}
	}
	from := f.FirstSeen
	if earliest := f.LastSeen.Add(-questionSpan); from.Before(earliest) {
		from = earliest
	}
	rows, err := s.store.Windows(ctx, store.WindowQuery{Target: f.Target, From: from, To: f.LastSeen.Add(questionAfter)})
	if err != nil {
		return nil, err
	}
	var seconds []whatif.Second
	for _, row := range rows {
		var w sketch.Window
		if err := w.UnmarshalBinary(row.Body); err != nil {
			return nil, fmt.Errorf("stored window of %s at %s: %w", row.Table, row.Second, err)
		}
		for i := range w.Keys {
			if k := &w.Keys[i]; k.Key == f.PartitionKey() {
				seconds = append(seconds, whatif.Second{At: w.Second, Low: k.Low, Err: k.Err, Requests: k.Requests})
				break
			}
		}
	}
	answer := whatif.Ask(q, f.Target, seconds, s.options.Policy(f.Target))
	if answer == nil {
		return nil, errNoSeconds
	}
	answer.Agree(f)
	return answer, nil
}

// parseQuestion reads key shards and growth from an address. Missing values are the
// finding's own number of shards, and no growth.
func parseQuestion(values url.Values, f *detect.Finding) (q whatif.Question, err error) {
	q = whatif.Question{Key: f.Key, Factor: 1}
	if q.Shards, err = heatmap.ParseNumber(values, "shards", max(1, f.Shards), maxShards); err != nil {
		return q, err
	}
	if text := values.Get("growth"); text != "" {
		if q.Factor, err = strconv.ParseFloat(text, 64); err != nil || !(q.Factor > 0 && q.Factor <= maxGrowth) {
			return q, fmt.Errorf("growth %q: give a number above 0, at most %d", text, maxGrowth)
		}
	}
	return q, nil
}

// newWhatIf lays an answer about a finding's key out.
func newWhatIf(a *whatif.Answer, f *detect.Finding) *whatIf {
	w := &whatIf{Answer: a, Most: min(maxShards, max(16, 4*f.Shards, a.Shards)), MostGrowth: maxGrowth}
	bar := func(name string, load float64) {
		w.Bars = append(w.Bars, chart.NewBar(name, fmt.Sprintf("%s %s/s, %s", wording.About(load), a.Unit, wording.Percent(load/a.Limit)), load/a.Limit))
	}
	bar("The key as it is, in its highest second", a.Peak)
	bar("One of even shards", a.PerShard)
	if a.Shards > 1 {
		bar("The fullest shard with a random suffix, in 95 of 100 cases", a.FullestP95)
	}
	return w
}

// shareOfLimit is a finding's load as a share of the limit: the least if samples tell no more.
func shareOfLimit(f *detect.Finding) float64 {
	if f.OnlyMean() {
		return detect.SideOf(f, f.Peak.WCU.Low, f.Peak.RCU.Low) / detect.Units(f.Limit())
	}
	return f.Utilization
}
