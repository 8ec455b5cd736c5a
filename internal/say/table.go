package say

import (
	"fmt"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/say/wording"
)

// TableLoad returns the requests and the load of a table or index. Samples may not mark
// throttled requests: the others are known to be served only if some samples do.
func TableLoad(t *detect.Table) (all []Line) {
	seen := fmt.Sprintf("%s requests in %s, none marked as throttled", wording.Count(t.Requests), wording.Seconds(int(t.Seconds)))
	if t.Throttled.Requests > 0 {
		seen = fmt.Sprintf("%s served requests in %s", wording.Count(t.Requests), wording.Seconds(int(t.Seconds)))
	}
	all = append(all, Line{"seen", seen})
	about := ""
	if t.Provable.WCU > 0 || t.Provable.RCU > 0 { // each sample stands for some requests
		about = "about "
	}
	for _, l := range []struct {
		name, unit string
		sum        float64
	}{{"writes", "WCU", t.WCU}, {"reads", "RCU", t.RCU}} {
		text := "0 " + l.unit
		if l.sum > 0 {
			text = fmt.Sprintf("%s%s %s, on average %s %s/s", about, wording.About(l.sum), l.unit, wording.About(detect.Ratio(l.sum, float64(t.Seconds))), l.unit)
		}
		all = append(all, Line{l.name, text})
	}
	if n := t.Throttled; n.Requests > 0 {
		text := wording.Count(n.Requests) + " attempts"
		if n.WCU+n.RCU > 0 { // a request that was sent again has its units in its last attempt
			text += fmt.Sprintf(" of %s WCU and %s RCU", wording.About(n.WCU), wording.About(n.RCU))
		}
		all = append(all, Line{"throttled", text})
	}
	return all
}
