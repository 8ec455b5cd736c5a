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
	// shownAfter is the longest delay after its write until a record appears in pages.
	shownAfter = 2 * time.Second
	// missedPages is a number of pages in a row, one more than may miss a visible record.
	missedPages = 5
)

// idleness judges whether the end of an open shard is reached.
//
// The log does not report its end. An empty page proves little: it may be a hole in the
// middle of the shard, whose iterator has moved past a range without records. But each
// page passes its range in one request, so that a reader crosses a hole at the rate of
// pages, however long it took to write. So the end counts as reached after ten empty
// pages in a row that took three seconds or more.
//
// That was the end three seconds ago, and two seconds before the last five pages. A
// record appears in pages up to two seconds after its write, and four pages in a row may
// still miss it. Only then are pages requested less often.
//
// A wrong verdict loses no record: late records are another delta for an older second.
// But that second may have been called complete.
type idleness struct {
	pages int       // empty pages in a row
	since time.Time // request time of the first empty page
	last  time.Time // request time of the last empty page
	// recent are the request times of the last empty pages, the oldest at
	// pages%missedPages.
	recent [missedPages]time.Time
}

// Add records a page, by when it was requested and how many records it had.
func (i *idleness) Add(asked time.Time, records int) {
	if records > 0 {
		*i = idleness{}
		return
	}
	if i.pages == 0 {
		i.since = asked
	}
	i.recent[i.pages%missedPages] = asked
	i.pages++
	i.last = asked
}

// End reports whether the end was reached, and the time up to which all records were read.
func (i *idleness) End() (bool, time.Time) {
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
func (i *idleness) interval(pageEvery time.Duration) time.Duration {
	if end, _ := i.End(); !end {
		return pageEvery
	}
	return max(pageEvery, min(idleEvery, pageEvery*time.Duration(max(1, i.pages-emptyPages))))
}
