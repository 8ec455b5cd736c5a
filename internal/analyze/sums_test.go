package analyze_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/analyze"
)

// bins are rows of sums, one for each key and bin.
type bins struct {
	every, count int64  // seconds, and how many bins
	shift        int64  // seconds from a full bin
	row          string // with the rest of a row, by its units of the bin
}

// rows writes the rows of keys with so many units a second.
func (b bins) rows(perSecond map[string]int64) string {
	var text strings.Builder
	for n := range b.count {
		for key, units := range perSecond {
			fmt.Fprintf(&text, `{"ts":%d,"table":"orders","pk":%q,`+b.row+"}\n", (noon.Unix()/3600*3600+b.shift+n*b.every)*1000, key, units*b.every)
		}
	}
	return text.String()
}

const (
	countedWrites = `"op":"PutItem","wcu":1,"n":%d`
	summedReads   = `"op":"GetItem","rcu":%d,"read":"strong"`
	refusedWrites = `"op":"PutItem","wcu":1,"n":%d,"throttle":"TableWriteKeyRangeThroughputExceeded"`
	sampledWrites = `"op":"PutItem","wcu":1,"rate":0.1,"calls":1,"n":%d`
)

// TestSums: rows whose times are as far apart as those of sums prove a mean, and no second.
func TestSums(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		bins
		load map[string]int64 // units a second
		hot  map[string]bool  // keys above a limit on average
		span int64            // that is seen
	}{
		{"half a limit a minute", bins{60, 12, 0, countedWrites}, map[string]int64{"user#2": 500, "user#3": 5}, nil, 60},
		{"half a limit in 5 seconds", bins{5, 30, 0, countedWrites}, map[string]int64{"user#2": 500, "user#3": 5}, nil, 5},
		{"half a limit an hour", bins{3600, 4, 0, countedWrites}, map[string]int64{"user#2": 500, "user#3": 5}, nil, 3600},
		{"minutes that begin at 17 seconds", bins{60, 12, 17, countedWrites}, map[string]int64{"user#2": 500, "user#3": 5}, nil, 60},
		{"above the limit on average", bins{60, 12, 0, countedWrites}, map[string]int64{"EVENTS": 1100, "user#2": 500}, map[string]bool{"EVENTS": true}, 60},
		{"above the limit on average over an hour", bins{3600, 4, 0, countedWrites}, map[string]int64{"EVENTS": 1100, "user#2": 500}, map[string]bool{"EVENTS": true}, 3600},
		{"reads, summed in a field", bins{300, 6, 0, summedReads}, map[string]int64{"flag": 3300, "user#2": 1500}, map[string]bool{"flag": true}, 300},
		{"a tenth of the rows, which prove no mean", bins{60, 12, 0, sampledWrites}, map[string]int64{"EVENTS": 130, "user#2": 50}, nil, 60},
		{"a hot second in each second", bins{1, 30, 0, countedWrites}, map[string]int64{"EVENTS": 1100, "user#2": 500}, map[string]bool{"EVENTS": true}, 1},
		{"three rows are no grid", bins{60, 3, 0, countedWrites}, map[string]int64{"EVENTS": 50}, map[string]bool{"EVENTS": true}, 1},
	} {
		r := result(t, c.rows(c.load))
		if got := r.Tables[0].Resolution; got != c.span {
			t.Errorf("%s: rows are sums over %d seconds, want %d", c.name, got, c.span)
		}
		hot := map[string]bool{}
		for i := range r.Findings {
			f := &r.Findings[i]
			if f.Severity == detect.Critical && f.Subject.OfKey() {
				hot[string(f.Key)] = true
			}
			if peak := detect.SideOf(f, f.Peak.WCU, f.Peak.RCU); c.span > 1 && (peak.Value > 3400 || f.Quality.Source != detect.SourceMinutes && f.Subject.OfKey()) {
				t.Errorf("%s: %s of %q has %+v, %+v", c.name, f.Case, f.Key, peak, f.Quality)
			}
			if c.span > 1 && f.Subject.OfKey() && f.Shards > 3 {
				t.Errorf("%s: %q is to have %d key shards", c.name, f.Key, f.Shards)
			}
		}
		if fmt.Sprint(hot) != fmt.Sprint(c.hot) {
			t.Errorf("%s: %v are hot, want %v", c.name, hot, c.hot)
		}
		var out bytes.Buffer
		err := analyze.Run(t.Context(), analyze.Options{Paths: []string{"-"}, In: strings.NewReader(c.rows(c.load)), Out: &out, FailOn: detect.Critical})
		if err == nil || errors.Is(err, analyze.ErrFound) != (len(c.hot) > 0) {
			t.Errorf("%s: %v", c.name, err)
		}
		if says := strings.Contains(strings.Join(strings.Fields(out.String()), " "), "No single second can be judged; the busiest key, "); says != (c.span > 1) {
			t.Errorf("%s: the page is\n%s", c.name, out.String())
		}
	}
}

// TestSumsOfRefusals: refused requests are harm, whenever in a minute they came. Shards whose mean
// is too high are too few.
func TestSumsOfRefusals(t *testing.T) {
	t.Parallel()
	minutes := bins{60, 12, 0, countedWrites}
	refused := minutes
	refused.row = refusedWrites
	r := result(t, minutes.rows(map[string]int64{"acme": 900})+refused.rows(map[string]int64{"acme": 90}))
	if f := &r.Findings[0]; f.Key != "acme" || f.Severity != detect.Critical || f.Throttling == nil || f.Throttling.Share < 0.09 || f.Throttling.Share > 0.092 {
		t.Errorf("refused minutes: %+v", f)
	}
	shards := map[string]int64{}
	for n := range 8 {
		shards[fmt.Sprint("cart#SHARD_", n)] = 1100
	}
	r = result(t, minutes.rows(shards))
	if f := &r.Findings[0]; f.Sharding == nil || f.Sharding.Shards != 8 || f.Sharding.Needed != 14 || f.Severity != detect.Critical {
		t.Errorf("eight shards: %+v", f)
	}
}
