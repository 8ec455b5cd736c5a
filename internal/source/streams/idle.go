package streams

import (
	"time"

	"github.com/keyheat/keyheat/internal/source/streams/api"
)

const (
	// pageEvery is the least time between two pages of a shard: AWS allows five
	// a second.
	pageEvery = 220 * time.Millisecond
	// idleEvery is the most.
	idleEvery = time.Second
	// believed is how many empty pages in a row, over at least settled, are taken
	// for the end of an open shard.
	believed = 10
	settled  = 3 * time.Second
	// missed is how many pages in a row may miss a record that was there.
	missed = 5
)

// idleness judges whether the end of an open shard is reached.
//
// GetRecords does not say. An empty page alone proves nothing: it may be a hole
// in the middle of the shard, and its iterator stands behind a stretch without
// records. But each page passes its stretch in one request, so that a hole is
// crossed at the pace of pages, whatever time it took to write. So an end is
// believed after ten empty pages in a row that took three seconds or more. It is
// the end as it was three seconds and five pages ago, because a record may be
// seen that much after it was written. Only then are pages asked for less often.
//
// Were it believed too early, nothing would be lost: late records are another
// delta for an older second. But that second may have been called complete.
type idleness struct {
	pages int       // empty ones in a row
	since time.Time // when the first of them was asked for
	last  time.Time // when the last one was
	// recent are when the last ones were asked for, the oldest at pages%missed.
	recent [missed]time.Time
}

// note takes a page into account.
func (i *idleness) note(p api.Page) {
	if len(p.Records) > 0 {
		*i = idleness{}
		return
	}
	if i.pages == 0 {
		i.since = p.Asked
	}
	i.recent[i.pages%missed] = p.Asked
	i.pages++
	i.last = p.Asked
}

// end says whether the end was reached, and at what time everything that there
// was had been read.
func (i *idleness) end() (bool, time.Time) {
	if i.pages < believed || i.last.Sub(i.since) < settled {
		return false, time.Time{}
	}
	read := i.last.Add(-settled)
	if oldest := i.recent[i.pages%missed]; oldest.Before(read) {
		read = oldest
	}
	return true, read
}

// pace is how long to wait between this page and the next.
func (i *idleness) pace() time.Duration {
	if end, _ := i.end(); !end {
		return pageEvery
	}
	return min(idleEvery, pageEvery*time.Duration(max(1, i.pages-believed)))
}
