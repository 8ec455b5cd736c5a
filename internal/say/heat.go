package say

import (
	"fmt"
	"time"

	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/sample"
)

// Heat is the worst key of a heatmap, for a sentence above the map.
type Heat struct {
	Key sample.Text
	// Share is its highest value, of a partition's limit.
	Share float64
	// At is when it was highest. From and To are the ends of its time over the limit; zero
	// if it was never over.
	At, From, To time.Time
	// Others is how many other keys were over the limit.
	Others int
	// Dated reports that the map is longer than a day, so that a time needs its date.
	Dated bool
}

// String returns the sentence.
func (h Heat) String() string {
	key, share := wording.Quote(wording.Shorten(h.Key, 40)), wording.Percent(h.Share)
	layout := "15:04:05"
	if h.Dated {
		layout = "2006-01-02 15:04"
	}
	if h.From.IsZero() {
		return fmt.Sprintf("No key was over the partition limit. %s came nearest, with %s at %s UTC.", key, share, h.At.Format(layout))
	}
	text := fmt.Sprintf("%s was over the partition limit from %s to %s UTC, %s at worst.", key, h.From.Format(layout), h.To.Format(layout), share)
	switch h.Others {
	case 0:
		return text
	case 1:
		return text + " One more key was over it."
	}
	return text + fmt.Sprintf(" %d more keys were over it.", h.Others)
}
