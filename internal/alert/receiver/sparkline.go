package receiver

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/say/wording"
)

// bars are the heights of a sparkline, the lowest first. unseen stands for a second with
// unknown load.
var bars = []rune("▁▂▃▄▅▆▇█")

const unseen = '·'

// sparkline draws a key's load of a few seconds in characters, and explains its ends and
// heights in words. The full height is the highest second, or the limit if no second
// exceeds it. It is empty without any known load.
func sparkline(r *detect.Recent) string {
	if r == nil || len(r.Loads) == 0 || !(r.Limit > 0) {
		return ""
	}
	top, known := r.Limit, 0
	for _, load := range r.Loads {
		if load != nil {
			top, known = max(top, *load), known+1
		}
	}
	if known == 0 {
		return ""
	}
	var b strings.Builder
	for _, load := range r.Loads {
		if load == nil {
			b.WriteRune(unseen)
		} else {
			b.WriteRune(bar(*load, top))
		}
	}
	to := r.From.Add(time.Duration(len(r.Loads)-1) * time.Second)
	unit := strings.ToUpper(wording.Printable(r.Unit))
	fmt.Fprintf(&b, " from %s to %s UTC; ", r.From.UTC().Format(time.TimeOnly), to.UTC().Format(time.TimeOnly))
	if limit := bar(r.Limit, top); top > r.Limit {
		fmt.Fprintf(&b, "%c is %s %s/s, the limit of %s is %c", bars[len(bars)-1], wording.About(top), unit, wording.About(r.Limit), limit)
	} else {
		fmt.Fprintf(&b, "%c is the limit, %s %s/s", limit, wording.About(top), unit)
	}
	if known < len(r.Loads) {
		fmt.Fprintf(&b, ", %c was not seen", unseen)
	}
	return b.String()
}

// bar returns the character of a load: a full one for top, the lowest one for an eighth
// of it and less.
func bar(load, top float64) rune {
	n := int(math.Ceil(load/top*float64(len(bars)))) - 1
	return bars[min(max(n, 0), len(bars)-1)]
}
