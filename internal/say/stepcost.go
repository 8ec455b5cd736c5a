package say

import (
	"fmt"
	"slices"
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/say/wording"
)

// efforts are the words for what a step takes.
var efforts = map[detect.Effort]string{
	detect.EffortNone:      "no change of the table or its keys",
	detect.EffortSetting:   "a setting of the table, client or job",
	detect.EffortCode:      "a change of the callers' code",
	detect.EffortComponent: "a new component",
	detect.EffortItems:     "items made anew",
	detect.EffortKeys:      "new keys, and a migration",
}

// Takes is the effort of a step.
func Takes(s *detect.Step) string {
	if s.Fix == detect.FixAccountQuota {
		return "a request to AWS"
	}
	if s.Effort == detect.EffortItems {
		switch s.Action {
		case detect.ActionProject:
			return "an index made anew"
		case detect.ActionIndex:
			return "items and an index made anew"
		}
	}
	return efforts[s.Effort]
}

// Leaves is the load that a step leaves; empty for a step for Keyheat itself.
func Leaves(s *detect.Step) string {
	switch {
	case s.Action == detect.ActionPipeline:
		return ""
	case s.After == nil:
		return "unknown"
	}
	a, bound := s.After, ""
	unit := strings.ToUpper(a.Unit) + "/s" + parts[s.Action]
	if s.Arguments.Units > 0 && slices.Contains([]string{detect.ActionShard, detect.ActionSplit, detect.ActionCopies}, s.Action) { // an item keeps it there
		unit = strings.ToUpper(a.Unit) + "/s on the fullest key"
	}
	switch {
	case a.High > 0 && wording.Significant(a.High) == "0":
		return "less than 1 " + unit
	case s.Arguments.AtLeast:
		return fmt.Sprintf("at least %s %s, %s of the limit", wording.Significant(a.Low), unit, wording.Percent(a.LowUtilization))
	case slices.Contains(divided, s.Action) && a.Low == a.High: // one part may have less
		bound = "at most "
	}
	return bound + fmt.Sprintf("%s %s, %s of the limit", span(a.Low, a.High, wording.Significant), unit, span(a.LowUtilization, a.HighUtilization, wording.Percent))
}

// divided are the actions that divide a load.
var divided = []string{detect.ActionShard, detect.ActionMigrate, detect.ActionRename, detect.ActionSplit, detect.ActionCopies}

// LeavesOfLimit is the load that a step leaves as a share of the limit, for a step that has one.
func LeavesOfLimit(s *detect.Step) string {
	return span(s.After.LowUtilization, s.After.HighUtilization, wording.Percent) + " of the limit" + eachPart.Replace(parts[s.Action])
}

// eachPart turns an amount for a part into a share of it: on each key shard.
var eachPart = strings.NewReplacer(" a ", " on each ", " an ", " on each ")

// parts name what the load after a step is about, if not the key.
var parts = map[string]string{
	detect.ActionShard: " a key shard", detect.ActionMigrate: " a key shard", detect.ActionRename: " a key", detect.ActionSplit: " an item", detect.ActionCopies: " a copy", detect.ActionCache: " a cache",
	detect.ActionWait: " on average", detect.ActionShuffle: " on average on the busiest key",
}

// span writes two amounts, or one if they look alike.
func span(low, high float64, write func(float64) string) string {
	if write(low) == write(high) {
		return write(high)
	}
	return write(low) + " to " + write(high)
}

// Capacity is the capacity of the table or index as a whole after a step; empty if it does not
// change or is unknown.
func Capacity(f *detect.Finding, s *detect.Step) string {
	n := s.Need
	if n == nil {
		return ""
	}
	text := fmt.Sprintf("about %s %s/s for the %s", span(n.Low, n.High, wording.Significant), strings.ToUpper(n.Unit), targetWord(f))
	switch {
	case n.NewIndex:
		text = strings.TrimSuffix(text, "for the index") + "for a new index, beside the old one"
	case wording.Significant(n.Low) == wording.Significant(n.Now) && n.Low == n.High:
		text += ", as now"
	default:
		text += ", now " + wording.Significant(n.Now)
	}
	quota := float64(detect.TableQuotaWrite)
	if n.Unit == "rcu" {
		quota = detect.TableQuotaRead
	}
	if n.High > quota {
		text += "; the default quota of a table is " + wording.About(quota)
	}
	if n.Provisioned > 0 && n.Provisioned < n.High && s.Fix != detect.FixProvisionedCapacity {
		text += fmt.Sprintf("; raise the provisioned %s first", wording.About(n.Provisioned))
	}
	return text
}

// Adds writes the request units that a step adds, with their price; empty for none.
func Adds(c *detect.Cost) string {
	if c == nil {
		return ""
	}
	priced := func(text, to string, price *float64) string {
		if price == nil {
			return text
		}
		return fmt.Sprintf("%s (%s %s)", text, wording.Dollars(*price), to)
	}
	var each, all []string
	if c.RCU > 0 {
		each = append(each, wording.About(c.RCU)+" RCU/s")
	}
	if c.WCU > 0 {
		each = append(each, wording.About(c.WCU)+" WCU/s")
	}
	if len(each) > 0 {
		all = append(all, priced("at least "+wording.List(each), "a day", c.DayUSD))
	}
	if c.ItemWCU > 0 {
		all = append(all, priced(fmt.Sprintf("at least %s WCU for each item that moves", wording.About(c.ItemWCU)), "for a million items", c.ItemsUSD))
	}
	for unit, units := range map[string]float64{"WCU": c.WarmWCU, "RCU": c.WarmRCU} {
		if units > 0 {
			all = append(all, priced(fmt.Sprintf("at most %s %s of warm throughput in each Region", wording.About(units), unit), "once", c.WarmUSD))
		}
	}
	return strings.Join(all, "; ")
}
