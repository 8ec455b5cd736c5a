package say

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/say/wording"
)

// named tells the shape of an item.
var named = map[detect.Shape]string{
	detect.ShapeCounter: "named like a counter", detect.ShapeSequence: "named like a sequence", detect.ShapeName: "named like a unique name",
	detect.ShapeLock: "named like a lock or a lease", detect.ShapeRecord: "named like a session", detect.ShapeUnknown: "unknown",
}

// perSecondOf writes an amount of attempts or calls a second: there may be less than one.
func perSecondOf(n float64) string {
	if n < 10 {
		return strconv.FormatFloat(n, 'g', 2, 64)
	}
	return wording.Significant(n)
}

// contended are the facts about a contended item.
func contended(c *detect.Contention) []Line {
	var parts []string
	for _, part := range []struct {
		n    float64
		what string
	}{
		{c.Conflicts, "conflicts/s"}, {c.ConditionsFailed, "failed conditions/s"}, {c.Retried, "calls/s took effect only after retries"}, {c.Failed, "calls/s gave up"}, {c.WastedWCU, "WCU/s wasted at least"},
	} {
		if part.n > 0 {
			parts = append(parts, perSecondOf(part.n)+" "+part.what)
		}
	}
	lines := []Line{{"lost attempts", strings.Join(parts, ", ")}, {"item", named[c.Shape]}}
	if c.ShapeTold {
		lines[1].Text = strings.ReplaceAll(string(c.Shape), "_", " ") + ", by the settings of its table"
	}
	if c.Items > 1 {
		lines[1].Text += fmt.Sprintf("; %d items of the key are contended", c.Items)
	}
	for _, side := range []struct {
		name string
		all  []detect.Part
	}{{"lost by", c.Losers}, {"written by", c.Writers}} {
		if len(side.all) > 0 {
			lines = append(lines, Line{side.name, strings.TrimSuffix(strings.TrimSpace(listCallers("", callers(side.all))), ".")})
		}
	}
	return lines
}
