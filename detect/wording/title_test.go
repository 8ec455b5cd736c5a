package wording_test

import (
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/wording"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/sample"
)

func TestTitle(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	of := func(k detect.Kind, key string, wcu, rcu float64, seconds int) *detect.Finding {
		f := detect.NewFinding(k, detect.Target{Region: "eu-west-1", Table: "orders"}, sample.KeyString(key))
		f.State, f.Peak.WCU.Value, f.Peak.RCU.Value = detect.Firing, wcu, rcu
		f.FirstSeen, f.LastSeen = began, began.Add(time.Duration(seconds-1)*time.Second)
		return &f
	}
	sampled := of(detect.HotKeyWrite, "big", 2089, 0, 900)
	sampled.Peak.WCU.Low, sampled.Peak.WCU.High = 1488, 4159
	steady := of(detect.HotKeyWrite, "steady", 2089, 0, 900)
	steady.Peak.WCU.Low, steady.Peak.WCU.High = 1488, 4159
	steady.Mean.WCU, steady.Quality.Sampling = detect.Figure{Value: 1513, Low: 1488, High: 1539}, detect.SamplingByCall
	bursts := of(detect.HotKeyWrite, "bursts", 2089, 0, 900)
	bursts.Peak.WCU.Low, bursts.Peak.WCU.High = 1000, 4159
	bursts.Mean.WCU, bursts.Quality.Sampling = detect.Figure{Value: 613, Low: 588, High: 639}, detect.SamplingByCall
	short := of(detect.HotKeyWrite, "short", 1500, 0, 180)
	short.OverSeconds = new(12)
	possibly := of(detect.HotKeyWrite, "possibly", 1500, 0, 180)
	possibly.OverSeconds, possibly.PossibleSeconds = new(12), 168
	over := of(detect.HotKeyRead, "settings", 0, 12_000, 45)
	over.State = detect.Resolved
	rolling := of(detect.RollingHotKey, "2026-11-21", 1200, 0, 300)
	rolling.Rolling = &detect.Rolling{Period: "day"}
	pattern := of(detect.RollingHotKey, "log#<hour>", 1200, 0, 300)
	pattern.Rolling = &detect.Rolling{Period: "hour", Keys: []string{"log#2026-11-21T11", "log#2026-11-21T12"}}
	few := of(detect.TooFewShards, "a*", 9000, 0, 20)
	few.Sharding = &detect.Sharded{Base: "a", Shards: 4, Needed: 14}
	for want, f := range map[string]*detect.Finding{
		"eu-west-1/orders: key “merchant#7” needs up to 1,500 WCU/s, 1.5 times what one partition serves, hot for 4 min":                               of(detect.HotKeyWrite, "merchant#7", 1500, 0, 240),
		"eu-west-1/orders: key “short” needs up to 1,500 WCU/s, 1.5 times what one partition serves, over the limit for 12 s within 3 min":             short,
		"eu-west-1/orders: key “possibly” needs up to 1,500 WCU/s, 1.5 times what one partition serves, hot for 3 min":                                 possibly,
		"eu-west-1/orders: key “warm” needs up to 960 WCU/s, 96% of what one partition serves, hot for 90 s":                                           of(detect.HotKeyWrite, "warm", 960, 0, 90),
		"eu-west-1/orders: key “settings” needed up to 12,000 RCU/s, 4 times what one partition is certain to serve, hot for 45 s, until 12:00:44 UTC": over,
		"eu-west-1/orders: a new key is hot each day, the last “2026-11-21”, for 5 min":                                                                rolling,
		"eu-west-1/orders: a new key is hot each hour, the last “log#2026-11-21T12”, for 5 min":                                                        pattern,
		"eu-west-1/orders: key “near” needs up to 1,024 WCU/s, 1.02 times what one partition serves, hot for 2 s":                                      of(detect.HotKeyWrite, "near", 1024, 0, 2),
		"eu-west-1/orders: key “over” needs up to 1,150 WCU/s, 1.15 times what one partition serves, hot for 2 s":                                      of(detect.HotKeyWrite, "over", 1150, 0, 2),
		"eu-west-1/orders: key “a” has 4 shards and needs 14, for 20 s":                                                                                few,
		"eu-west-1/orders: at least one partition throttles requests, and no key of it is known to be hot, for 3 h":                                    of(detect.HotPartition, "", 0, 0, 3*3600),
		"eu-west-1/orders: so few key values that they bound the table":                                                                                of(detect.LowCardinalityKey, "", 0, 0, 3600),
		"eu-west-1/orders: key “\\u202eevil\\x1b[31m<b>” needs up to 2,000 WCU/s, 2 times what one partition serves, hot for 3 d":                      of(detect.HotKeyWrite, "\u202eevil\x1b[31m<b>", 2000, 0, 3*24*3600),
		"eu-west-1/orders: key “" + strings.Repeat("k", 59) + "…” needs up to 2,000 WCU/s, 2 times what one partition serves, hot for 1 s":             of(detect.HotKeyWrite, strings.Repeat("k", 2048), 2000, 0, 1),
		"eu-west-1/orders: keys are hot one after another, as in a sorted import, for 60 s":                                                            of(detect.MovingHotSpot, "", 1500, 0, 60),
		"eu-west-1/orders: key “big” needs about 2,089 WCU/s, 2.09 times what one partition serves, hot for 15 min":                                    sampled,
		"eu-west-1/orders: key “steady” needs about 1,510 WCU/s on average, 1.51 times what one partition serves, hot for 15 min":                      steady,
		"eu-west-1/orders: key “bursts” needs about 2,089 WCU/s, 2.09 times what one partition serves, hot for 15 min":                                 bursts,
	} {
		if got := say.Title(f); got != want {
			t.Errorf("the title is\n%s, want\n%s", got, want)
		}
	}
}

// TestLoad: a figure and what it is of the limit are of the same thing, or say of what each is.
func TestLoad(t *testing.T) {
	t.Parallel()
	figure := func(value, low, high float64) detect.Figure { return detect.Figure{Value: value, Low: low, High: high} }
	key := func(k detect.Kind, peak, mean detect.Figure, sampled detect.Sampling) *detect.Finding {
		f := detect.NewFinding(k, detect.Target{Table: "orders"}, sample.KeyString("k"))
		f.Peak.WCU, f.Mean.WCU, f.Quality.Sampling = peak, mean, sampled
		if k == detect.HotKeyRead {
			f.Peak.RCU, f.Mean.RCU = peak, mean
		}
		f.Utilization = peak.Value / 1000
		return &f
	}
	uneven := key(detect.UnevenShards, figure(3100, 3100, 3100), figure(3100, 3100, 3100), detect.SamplingNone)
	uneven.Sharding, uneven.Utilization = &detect.Sharded{Base: "k", Shards: 10}, 1.3
	for want, f := range map[string]*detect.Finding{
		"1,300 WCU, 130% of the limit":                                       key(detect.HotKeyWrite, figure(1300, 1300, 1300), figure(900, 900, 900), detect.SamplingNone),
		"3,100 WCU in 10 shards, of which the fullest has 130% of the limit": uneven,
		"1,200 WCU": key(detect.HotPartition, figure(1200, 1200, 1200), figure(900, 900, 900), detect.SamplingNone),
		// What samples tell of the highest second is that it has the mean at least.
		"≥1,488 WCU, ≥148% of the limit": key(detect.HotKeyWrite, figure(1778, 1488, 4159), figure(1513, 1488, 1539), detect.SamplingByCall),
		"2,089 WCU, 209% of the limit":   key(detect.HotKeyWrite, figure(2089, 1700, 4159), figure(1513, 1488, 1539), detect.SamplingByCall),
	} {
		if got := wording.LoadOfLimit(f); got != want {
			t.Errorf("it is %q, want %q", got, want)
		}
	}
}

// TestSpan: no time is cut off, which would make 171 s "2 min" of them.
// TestOverSeconds: what is proven of samples is the least.
func TestOverSeconds(t *testing.T) {
	t.Parallel()
	sampled := detect.Quality{Sampling: detect.SamplingByCall}
	for want, f := range map[string]detect.Finding{
		"1,180": {Kind: detect.HotKeyWrite, OverSeconds: new(1180)},
		"≥8":    {Kind: detect.HotKeyWrite, OverSeconds: new(8), PossibleSeconds: 892, Quality: sampled},
		"9":     {Kind: detect.HotKeyWrite, OverSeconds: new(9), Quality: sampled}, // no other may have been
		"≥7":    {Kind: detect.MovingHotSpot, OverSeconds: new(7), Quality: sampled},
		"":      {Kind: detect.RollingHotKey},
	} {
		if got := wording.OverSeconds(&f); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

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

// present finds words of the present tense; what a partition is certain to serve stays so.
var present = regexp.MustCompile(` (is [^c]|(are|has|needs|throttles|makes|sends|grow|show|bound|change|do) )`)

// TestEveryKindHasATitle: none is only the word of the kind, and that of what is over does
// not speak of now.
func TestEveryKindHasATitle(t *testing.T) {
	t.Parallel()
	for _, k := range []detect.Kind{
		detect.HotKeyWrite, detect.HotKeyRead, detect.HotGSIKey, detect.HotPartition, detect.TableStarvation, detect.RollingHotKey, detect.MovingHotSpot,
		detect.LowCardinalityKey, detect.TooFewShards, detect.TooManyShards, detect.UnevenShards, detect.LargeItem, detect.SingleCaller, detect.TestKey, detect.RetryStorm,
		detect.LargeCollection, detect.CoverageFell, detect.TooManyHotKeys, detect.UnseenKeys,
		detect.CollectionStopped, detect.CollectionLags, detect.BadSamples, detect.TablesRefused, detect.SamplesLost,
	} {
		f := detect.NewFinding(k, detect.Target{Table: "orders"}, sample.KeyString("a"))
		f.Rolling, f.Sharding = &detect.Rolling{Period: "day"}, &detect.Sharded{}
		if title := say.Title(&f); strings.Contains(title, string(k)) || utf8.RuneCountInString(title) > 200 {
			t.Errorf("%s: %q", k, title)
		}
		if f.State = detect.Resolved; present.MatchString(say.Title(&f) + " ") {
			t.Errorf("%s, when it is over: %q", k, say.Title(&f))
		}
	}
}
