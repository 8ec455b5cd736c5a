package wording

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/keyheat/keyheat/detect"
)

// longestKey is how many characters of a key a title shows: it is read on a phone.
const longestKey = 60

// Title says in one line what an incident is about, by its root finding: where, what,
// how much, and for how long. Keys are quoted, since others wrote them.
func Title(f *detect.Finding) string {
	return Place(f.Target) + ": " + about(f) + lasting(f)
}

// Beside says in words what a finding is about that belongs to the incident of another
// one: where it is only of another target.
func Beside(f, root *detect.Finding) string {
	if f.Target == root.Target {
		return about(f)
	}
	return Place(f.Target) + ": " + about(f)
}

// Place names what a target is: a table or an index, or Keyheat itself, which findings
// without a table are about.
func Place(t detect.Target) string {
	if t == (detect.Target{}) {
		return "Keyheat itself"
	}
	return Printable(t.Name())
}

// SetTitles gives incidents the titles of their root findings, which are among these.
func SetTitles(incidents []detect.Incident, found []detect.Finding) {
	roots := make(map[string]*detect.Finding, len(found))
	for i := range found {
		roots[found[i].Fingerprint] = &found[i]
	}
	for i := range incidents {
		if root := roots[incidents[i].Root]; root != nil {
			incidents[i].Title = Title(root)
		}
	}
}

// about says what a finding is about, or was about when it is over.
func about(f *detect.Finding) string {
	key := Quote(Shorten(f.Key, longestKey))
	of := func(now, then string) string { return tense(f, now, then) }
	is, are := of("is", "was"), of("are", "were")
	switch f.Kind {
	case detect.HotKeyWrite, detect.HotKeyRead, detect.HotGSIKey:
		return "key " + key + needs(f)
	case detect.HotPartition:
		return "at least one partition " + of("throttles", "throttled") + " requests, and no key of it " + is + " known to be hot"
	case detect.TableStarvation:
		return "requests " + are + " throttled for lack of capacity, whatever the key"
	case detect.RollingHotKey:
		if f.Rolling != nil {
			if n := len(f.Rolling.Keys); n > 0 {
				key = Quote(Shorten(f.Rolling.Keys[n-1], longestKey)) // f.Key is the pattern
			}
			return fmt.Sprintf("a new key %s hot each %s, the last %s", is, f.Rolling.Period, key)
		}
	case detect.MovingHotSpot:
		return "keys " + are + " hot one after another, as in a sorted import"
	case detect.LowCardinalityKey:
		return "so few key values that they " + of("bound", "bounded") + " the table"
	case detect.TooFewShards, detect.TooManyShards, detect.UnevenShards:
		if f.Sharding != nil {
			return shards(f)
		}
	case detect.SingleCaller:
		return "one caller alone " + of("makes", "made") + " key " + key + " hot"
	case detect.RetryStorm:
		return "one caller " + of("sends", "sent") + " requests of key " + key + " again and again"
	case detect.TestKey:
		return "key " + key + " " + is + " hot, and looks like a test's"
	case detect.LargeItem:
		return "key " + key + of(" has large items of which writes change little", " had large items of which writes changed little")
	case detect.LargeCollection:
		return "the items of key " + key + " " + of("grow", "grew") + " towards the 10 GB of an item collection"
	case detect.CoverageFell:
		return "the samples " + of("show", "showed") + " less of the load than before"
	case detect.CollectionStopped:
		return "no new samples " + are + " counted"
	case detect.CollectionLags:
		return "samples " + are + " counted late"
	case detect.BadSamples:
		return "a part of the samples " + is + " rejected"
	case detect.TablesRefused:
		return "a collector " + of("has", "had") + " no room for tables"
	case detect.SamplesLost:
		return "samples were lost"
	case detect.UnseenKeys:
		return "single keys " + of("cannot", "could not") + " be told apart in a load that one partition " + of("does", "did") + " not serve"
	case detect.TooManyHotKeys:
		return "more keys " + are + " hot than " + are + " followed"
	}
	return string(f.Kind)
}

// tense returns the words for a finding as it is: those of the past when it is over.
func tense(f *detect.Finding, now, then string) string {
	if f.State == detect.Resolved {
		return then
	}
	return now
}

// needs says how much of what one partition serves a key needs: at most, or on average
// where the samples tell no more. Where that is below what a partition serves it is hot for
// its highest second, of which the bounds leave open whether it is above that. What lasts is
// that it is hot, and not its highest second.
func needs(f *detect.Finding) string {
	figure, unit := detect.Side(f.Kind, f.Peak.WCU, f.Peak.RCU), detect.Side(f.Kind, "WCU", "RCU")
	most, average, beside := "up to", "", ""
	load, limit := figure.Value, detect.Units(detect.Limit(f.Kind))
	if figure.Low != figure.High {
		most = "about" // as samples tell
	}
	if f.OnlyMean() {
		load, most, average = Rounded(detect.Side(f.Kind, f.Mean.WCU, f.Mean.RCU).Value), "about", " on average"
		if load <= limit && figure.High > limit {
			beside = fmt.Sprintf(", and may %s more than that in single seconds", tense(f, "need", "have needed"))
		}
	}
	serves := detect.Side(f.Kind, "serves", "is certain to serve") // of reads that are eventually consistent it may serve more
	return fmt.Sprintf(" %s %s %s %s/s%s, %s what one partition %s%s", tense(f, "needs", "needed"), most, About(load), unit, average, Times(detect.Ratio(load, limit)), serves, beside)
}

// InReads reports whether what a finding says is in read units: of a key by its kind, of
// others by which of the limits of a partition is nearer.
func InReads(f *detect.Finding) bool {
	if f.Kind.OfKey() {
		return f.Kind == detect.HotKeyRead
	}
	return f.Peak.RCU.Value/detect.Units(detect.PartitionRead) > f.Peak.WCU.Value/detect.Units(detect.PartitionWrite)
}

// fullest is put before the share of the limit that is only the fullest shard's.
const fullest = "fullest "

// Load says how large the load of a finding is and what that is of what one partition
// serves, in few words: that of its highest second, of a key the least where samples tell no
// more of that than the mean, and of shards what all have together, and what the fullest is
// of the limit. ofLimit is empty of a table or an index as a whole, which has more than one
// partition.
func Load(f *detect.Finding) (load, ofLimit string) {
	figure, unit, limit := f.Peak.WCU, " WCU", detect.PartitionWrite
	if InReads(f) {
		figure, unit, limit = f.Peak.RCU, " RCU", detect.PartitionRead
	}
	load, ofLimit = About(figure.Value)+unit, fmt.Sprintf("%.0f%%", math.Round(100*f.Utilization))
	switch {
	case f.Kind.OfTable():
		return load, ""
	case f.Sharding != nil && !f.Kind.OfKey():
		return fmt.Sprintf("%s in %d shards", load, f.Sharding.Shards), fullest + ofLimit
	case f.OnlyMean():
		return "≥" + AtLeast(figure.Low) + unit, fmt.Sprintf("≥%.0f%%", math.Floor(100*figure.Low/detect.Units(limit)))
	}
	return load, ofLimit
}

// OverSeconds writes in how many seconds a finding's load was over the limit: ≥8 where so many
// are proven and more may have been; empty where it is not known.
func OverSeconds(f *detect.Finding) string {
	if f.OverSeconds == nil {
		return ""
	}
	n := Count(int64(*f.OverSeconds))
	if f.PossibleSeconds > 0 || !f.Kind.OfKey() && f.Quality.IsSampled() {
		return "≥" + n
	}
	return n
}

// LoadOfLimit is [Load] as a part of a sentence.
func LoadOfLimit(f *detect.Finding) string {
	load, ofLimit := Load(f)
	if ofLimit == "" {
		return load
	}
	if of, is := strings.CutPrefix(ofLimit, fullest); is {
		return fmt.Sprintf("%s, of which the fullest has %s of the limit", load, of)
	}
	return load + ", " + ofLimit + " of the limit"
}

// Times writes a ratio with three significant digits: below one as a share, 96% of, and
// else as a multiple, 2.63 times.
func Times(ratio float64) string {
	if ratio < 1 {
		return Percent(ratio) + " of"
	}
	return strconv.FormatFloat(Rounded(ratio), 'f', -1, 64) + " times"
}

func shards(f *detect.Finding) string {
	s := f.Sharding
	of := "key " + Quote(Shorten(s.Base, longestKey))
	switch f.Kind {
	case detect.TooFewShards:
		return fmt.Sprintf(tense(f, "%s has %d shards and needs %d", "%s had %d shards and needed %d"), of, s.Shards, s.Needed)
	case detect.TooManyShards:
		return fmt.Sprintf(tense(f, "%s has %d shards, and %d would do", "%s had %d shards, and %d would have done"), of, s.Shards, s.Needed)
	}
	return fmt.Sprintf("the %d shards of %s %s not used evenly", s.Shards, of, tense(f, "are", "were"))
}

// lasting says for how long, of what began and is not a design.
func lasting(f *detect.Finding) string {
	if f.FirstSeen.IsZero() || f.Kind == detect.LowCardinalityKey || f.Kind == detect.TooManyShards || f.Kind == detect.SamplesLost {
		return ""
	}
	all := f.LastSeen.Sub(f.FirstSeen) + time.Second
	text := ", for " + Span(all)
	if f.Kind.OfKey() {
		text = ", hot for " + Span(all)
		if over := time.Duration(f.SecondsOver()) * time.Second; inBursts(f, over, all) {
			text = ", over the limit for " + Span(over) + " within " + Span(all)
		}
	}
	if f.State == detect.Resolved {
		text += ", until " + f.LastSeen.UTC().Format("15:04:05 UTC")
	}
	return text
}

// inBursts reports whether a key was over the limit for less than half of the time from its first
// hot second to its last, where that is known.
func inBursts(f *detect.Finding, over, all time.Duration) bool {
	return over > 0 && 2*over < all && f.PossibleSeconds == 0 && f.SaturatedSeconds == 0
}

// spanUnits are what a time is written in, each up to so many of the one before it.
var spanUnits = []struct {
	unit time.Duration
	name string
}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "min"}, {time.Second, "s"}}

// Span writes a time in one unit from ten of it on, and in it and the next smaller one below,
// rounded to the last: 90 s, 2 min 51 s, 47 min, 2 h 51 min. Below two of a unit the next
// smaller one is enough.
func Span(d time.Duration) string {
	for i, u := range spanUnits[:len(spanUnits)-1] {
		small := spanUnits[i+1]
		switch fine := d.Round(small.unit); {
		case fine >= 10*u.unit:
			return fmt.Sprintf("%d %s", d.Round(u.unit)/u.unit, u.name)
		case fine >= 2*u.unit && fine%u.unit == 0:
			return fmt.Sprintf("%d %s", fine/u.unit, u.name)
		case fine >= 2*u.unit:
			return fmt.Sprintf("%d %s %d %s", fine/u.unit, u.name, fine%u.unit/small.unit, small.name)
		}
	}
	return fmt.Sprintf("%d s", d.Round(time.Second)/time.Second)
}

// Shorten returns a text of at most so many characters, the last of them an ellipsis
// where it is longer.
func Shorten(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	n := 0
	for i := range text {
		if n++; n == most {
			return text[:i] + "…"
		}
	}
	return text
}
