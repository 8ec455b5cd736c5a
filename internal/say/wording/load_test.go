package wording_test

import (
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/internal/testsupport/scenario"
	"github.com/keyheat/keyheat/sample"
)

// TestLoad: a figure and what it is of the limit are of the same thing, or say of what each is.
func TestLoad(t *testing.T) {
	t.Parallel()
	figure := func(value, low, high float64) detect.Figure { return detect.Figure{Value: value, Low: low, High: high} }
	key := func(k any, peak, mean detect.Figure, sampled detect.Sampling) *detect.Finding {
		f := scenario.NewFinding(k, detect.Target{Table: "orders"}, sample.KeyString("k"))
		f.Peak.WCU, f.Mean.WCU, f.Quality.Sampling = peak, mean, sampled
		if k == detect.KeyReads {
			f.Peak.RCU, f.Mean.RCU = peak, mean
		}
		f.Utilization = peak.Value / 1000
		return &f
	}
	uneven := key(casebook.UnevenShards, figure(3100, 3100, 3100), figure(3100, 3100, 3100), detect.SamplingNone)
	uneven.Sharding, uneven.Utilization = &detect.Sharded{Base: "k", Shards: 10}, 1.3
	for want, f := range map[string]*detect.Finding{
		"1,300 WCU/s, 130% of the limit":                      key(detect.KeyWrites, figure(1300, 1300, 1300), figure(900, 900, 900), detect.SamplingNone),
		"3,100 WCU/s in 10 shards, fullest 130% of the limit": uneven,
		"1,200 WCU/s": key(detect.SubjectPartition, figure(1200, 1200, 1200), figure(900, 900, 900), detect.SamplingNone),
		// What samples tell of the highest second is that it has the mean at least.
		"≥1,488 WCU/s, ≥148% of the limit": key(detect.KeyWrites, figure(1778, 1488, 4159), figure(1513, 1488, 1539), detect.SamplingByCall),
		"2,090 WCU/s, 209% of the limit":   key(detect.KeyWrites, figure(2089, 1700, 4159), figure(1513, 1488, 1539), detect.SamplingByCall),
	} {
		if got := wording.LoadOfLimit(f); got != want {
			t.Errorf("it is %q, want %q", got, want)
		}
	}
}

// TestOverSeconds: what is proven of samples is the least.
func TestOverSeconds(t *testing.T) {
	t.Parallel()
	sampled := detect.Quality{Sampling: detect.SamplingByCall}
	for want, f := range map[string]detect.Finding{
		"1,180": {Subject: detect.KeyWrites, OverSeconds: new(1180)},
		"≥8":    {Subject: detect.KeyWrites, OverSeconds: new(8), PossibleSeconds: 892, Quality: sampled},
		"9":     {Subject: detect.KeyWrites, OverSeconds: new(9), Quality: sampled}, // no other may have been
		"≥7":    {Case: casebook.MovingSpot, Subject: detect.SubjectKeys, OverSeconds: new(7), Quality: sampled},
		"":      {Case: casebook.TimeKey, Subject: detect.SubjectKeys, Rolling: &detect.Rolling{}},
	} {
		if got := wording.OverSeconds(&f); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestOver: a plateau names its seconds, a mean that is proven above the limit stands beside
// seconds that may be, and an unknown number of seconds is unknown.
func TestOver(t *testing.T) {
	t.Parallel()
	sampled := func(low float64) *detect.Finding {
		return &detect.Finding{
			Subject: detect.KeyWrites, OverSeconds: new(int), PossibleSeconds: 899, Seconds: 900, Mean: detect.Loads{WCU: detect.Figure{Value: 1513, Low: low, High: 1539}},
			Peak: detect.Peak{Loads: detect.Loads{WCU: detect.Figure{Value: 1908, Low: 1488, High: 4159}}},
		}
	}
	for want, f := range map[string]*detect.Finding{
		"12 seconds (at least 3 of 5 in a row) in which 95 to 105% of the limit was served":    {Subject: detect.KeyWrites, SaturatedSeconds: 12},
		"899 seconds possibly above the limit":                                                 sampled(1300),
		"899 seconds possibly above the limit, and the mean of 900 seconds is proven above it": sampled(1488),
		"in how many seconds any of the keys was above the limit is not known":                 {Case: casebook.TimeKey, Subject: detect.SubjectKeys, Rolling: &detect.Rolling{}},
	} {
		if got := wording.Over(f); got != want {
			t.Errorf("it is %q, want %q", got, want)
		}
	}
}

// TestSpan: a span is rounded and not cut off, so that 171 s are not 2 min.
func TestSpan(t *testing.T) {
	t.Parallel()
	for seconds, want := range map[int]string{
		1: "1 s", 90: "90 s", 119: "119 s", 120: "2 min", 171: "2 min 51 s", 180: "3 min", 599: "9 min 59 s", 600: "10 min",
		629: "10 min", 631: "11 min", 2*3600 - 1: "2 h", 2 * 3600: "2 h", 3*3600 - 20: "3 h", 3*3600 - 60: "2 h 59 min", 47 * 3600: "47 h", 48 * 3600: "2 d",
		10*3600 - 1: "10 h", 35*3600 + 1801: "36 h", 3*24*3600 - 1: "3 d", 60 * 3600: "2 d 12 h", 12*24*3600 + 13*3600: "13 d",
	} {
		if got := wording.Span(time.Duration(seconds) * time.Second); got != want {
			t.Errorf("%d seconds are %q, want %q", seconds, got, want)
		}
	}
}
