package say

import (
	"fmt"
	"math"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/whatif"
	"github.com/keyheat/keyheat/internal/say/wording"
)

// Ceiling returns the load of the whole table at which one key fills a partition.
func Ceiling(units *float64, unit string) string {
	if units == nil {
		return "not limited by a key"
	}
	return "at about " + wording.Significant(*units) + " " + unit + "/s of the whole"
}

// DistinctKeys writes a count, with "about" for an estimate, and "at least" for a lower
// bound.
func DistinctKeys(f detect.Figure) string {
	if f.Low == f.High {
		return wording.About(f.Value)
	}
	digits := math.Pow(10, max(0, math.Floor(math.Log10(max(1, f.Value)))-2))
	if f.Low == f.Value {
		return "at least " + wording.About(math.Floor(f.Value/digits)*digits)
	}
	return "about " + wording.About(math.Round(f.Value/digits)*digits)
}

// Coverage returns the part of the real load that the samples show; empty if unknown.
func Coverage(of *detect.TableCloudWatch) string {
	switch {
	case of == nil || of.Write == nil && of.Read == nil:
		return ""
	case of.Read == nil:
		return wording.WholePercent(of.Write.Value) + " of writes"
	case of.Write == nil:
		return wording.WholePercent(of.Read.Value) + " of reads"
	}
	return wording.WholePercent(of.Write.Value) + " of writes, " + wording.WholePercent(of.Read.Value) + " of reads"
}

// Reach is when a key's growth reaches a share of the limit, or the text instead.
type Reach struct {
	When *detect.Crossing
	Else string
}

// NewReach reads a forecast, or a pointer to one.
func NewReach(forecast any, share float64) Reach {
	f, ok := forecast.(detect.Forecast)
	if p, is := forecast.(*detect.Forecast); is && p != nil {
		f, ok = *p, true
	}
	if !ok {
		return Reach{Else: "unknown"}
	}
	w := Reach{When: f.At100, Else: "not within the forecast"}
	if share < 1 {
		w.When = f.At70
	}
	kind := detect.HotKeyWrite
	if f.Unit == "rcu" {
		kind = detect.HotKeyRead
	}
	if f.Level >= share*detect.Units(detect.Limit(kind)) {
		w.Else = "already reached"
	}
	return w
}

// WhatIf writes the verdict on a number of key shards.
func WhatIf(w *whatif.Answer) string {
	needed := wording.About(float64(w.Needed)) + " shards"
	if w.Needed == 1 {
		needed = "1 shard"
	}
	switch w.Verdict() {
	case whatif.Undivided:
		return fmt.Sprintf("Only if the item can be divided: one item alone has about %s %s. Divided, it needs %s.", wording.About(w.Item), w.Unit, needed)
	case whatif.KnownShard:
		return fmt.Sprintf("Only where a query knows its shard: then %s carry the load. A query to all %d loads each as the key is now.", needed, w.Shards)
	case whatif.AfterSplits:
		return fmt.Sprintf("Not at once: the key exceeds the limit until DynamoDB has split its items. It takes %s from the start.", needed)
	case whatif.TooFew:
		return fmt.Sprintf("No: each shard would exceed the limit. It takes %d.", w.Needed)
	case whatif.Barely:
		return fmt.Sprintf("Barely: each shard is below the limit, but without the headroom that %d would give.", w.Needed)
	case whatif.Crowded:
		return "Yes, but perhaps not at once: shards may share a partition until DynamoDB splits it. Raise the warm throughput first."
	}
	return "Yes: this carries the load, with room to grow."
}
