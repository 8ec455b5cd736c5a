package shards

import (
	"time"
)

const (
	// idleEvery is the most time between two pages of a shard.
	idleEvery = time.Second
	// emptyPages is how many empty pages in a row, over at least settleTime, count
	// as the end of an open shard.
	emptyPages = 10
	settleTime = 3 * time.Second
	// shownAfter is how long after its write a record is there for pages to show.
	shownAfter = 2 * time.Second
	// missedPages is how many pages in a row, one more than may miss a record that is
	// there.
	missedPages = 5
)

// Idleness judges whether the end of an open shard is reached.
//
// The log does not report it. An empty page alone proves nothing: it may be a hole
// in the middle of the shard, and its iterator has moved past a range without
// records. But each page passes its range in one request, so that a hole is
// crossed at the rate of pages, whatever time it took to write. So the end
// counts as reached after ten empty pages in a row that took three seconds or more. It is
// the end as it was three seconds ago, and two seconds before the last five pages,
// because a record is there for pages up to two seconds after it was written, and
// four in a row may still miss it. Only then are pages requested less often.
//
// If that came too early, nothing would be lost: late records are another delta for
// an older second. But that second may have been called complete.
type Idleness struct {
	pages int       // empty ones in a row
	since time.Time // when the first of them was requested
	last  time.Time // when the last one was
	// recent are when the last ones were requested, the oldest at pages%missed.
	recent [missedPages]time.Time
}

// Add records a page, by when it was requested and how many records it had.
func (i *Idleness) Add(asked time.Time, records int) {
	if records > 0 {
		*i = Idleness{}
		return
	}
	if i.pages == 0 {
		i.since = asked
	}
	i.recent[i.pages%missedPages] = asked
	i.pages++
	i.last = asked
}

// End reports whether the end was reached, and at what time everything that there
// was had been read.
func (i *Idleness) End() (bool, time.Time) {
	if i.pages < emptyPages || i.last.Sub(i.since) < settleTime {
		return false, time.Time{}
	}
	read := i.last.Add(-settleTime)
	if oldest := i.recent[i.pages%missedPages].Add(-shownAfter); oldest.Before(read) {
		read = oldest
	}
	return true, read
}

// interval returns how long to wait between this page and the next, pageEvery at
// least.
func (i *Idleness) interval(pageEvery time.Duration) time.Duration {
	if end, _ := i.End(); !end {
		return pageEvery
	}
	return min(idleEvery, pageEvery*time.Duration(max(1, i.pages-emptyPages)))
}
