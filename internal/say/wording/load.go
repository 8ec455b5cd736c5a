package wording

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/keyheat/keyheat/detect"
)

// Place names what a target is: a table or an index, or Keyheat itself, which findings
// without a table are about.
func Place(t detect.Target) string {
	if t == (detect.Target{}) {
		return "Keyheat itself"
	}
	return Printable(t.Name())
}

// Load writes the load of a finding in its highest second, and its share of a partition's
// limit: the least if samples show only the mean. Key shards have their load together, and
// the share of the fullest one. ofLimit is empty for a table or index as a whole, and for a contended
// item.
func Load(f *detect.Finding) (load, ofLimit string) {
	figure, unit, limit := f.Peak.WCU, " WCU", detect.PartitionWrite
	if f.InReads() {
		figure, unit, limit = f.Peak.RCU, " RCU", detect.PartitionRead
	}
	load, ofLimit = Significant(figure.Value)+unit, fmt.Sprintf("%.0f%%", math.Round(100*f.Utilization))
	switch {
	case f.Contention != nil: // no limit refuses its attempts
		return Significant(f.Contention.Lost.Value) + " lost attempts", ""
	case f.Subject.OfTable():
		return load, ""
	case f.Sharding != nil && !f.Subject.OfKey():
		return fmt.Sprintf("%s in %d shards", load, f.Sharding.Shards), "fullest " + ofLimit
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
	if f.PossibleSeconds > 0 || !f.Subject.OfKey() && f.Quality.IsSampled() {
		return "≥" + n
	}
	return n
}

// LoadOfLimit is [Load] as a part of a sentence.
func LoadOfLimit(f *detect.Finding) string {
	load, ofLimit := Load(f)
	load = strings.Replace(load, "CU", "CU/s", 1)
	if ofLimit == "" {
		return load
	}
	return load + ", " + ofLimit + " of the limit"
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
func Shorten[T ~string](text T, most int) T {
	if utf8.RuneCountInString(string(text)) <= most {
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

// Owner returns the account and Region of a table as far as they are known.
func Owner(of detect.Target) string {
	if of.Account != "" && of.Region != "" {
		return Printable(of.Account + " " + of.Region)
	}
	return Printable(of.Account + of.Region)
}

// Owners returns the account and Region of the table of each row. A table without both is
// marked as unknown if the list has another of its name.
func Owners[R any](rows []R, target func(*R) detect.Target) []string {
	all, elsewhere := make([]string, len(rows)), make(map[string]bool)
	for i := range rows {
		of := target(&rows[i])
		if all[i] = Owner(of); all[i] != "" {
			elsewhere[of.Table] = true
		}
	}
	for i := range rows {
		if all[i] == "" && elsewhere[target(&rows[i]).Table] {
			all[i] = "account and Region unknown"
		}
	}
	return all
}
