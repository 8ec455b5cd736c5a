package board

import (
	"cmp"
	"slices"

	"github.com/keyheat/keyheat/sketch"
)

// openSecond is the contribution to the sum by a second open to late data. It takes 24 bytes:
// a thousand tables have 900,000 of them.
type openSecond struct {
	second int64
	load   sketch.Load
}

// openSeconds are the open seconds of a table or index, the oldest first.
type openSeconds []openSecond

// openGrowth is how many seconds there is room for when all room is used: append would take up to
// twice the bytes.
const openGrowth = 16

func (s openSeconds) find(second int64) (at int, found bool) {
	return slices.BinarySearchFunc(s, second, func(o openSecond, second int64) int { return cmp.Compare(o.second, second) })
}

// has reports whether a second is open and was observed.
func (s openSeconds) has(second int64) bool {
	_, found := s.find(second)
	return found
}

// ensure returns a second to change, and adds it if it is not there. The result is valid
// until the next call.
func (s *openSeconds) ensure(second int64) *openSecond {
	at, found := s.find(second)
	if !found {
		if len(*s) == cap(*s) {
			*s = append(make(openSeconds, 0, len(*s)+openGrowth), *s...)
		}
		*s = slices.Insert(*s, at, openSecond{second: second})
	}
	return &(*s)[at]
}

// between returns the open seconds of a range, both ends included.
func (s openSeconds) between(from, to int64) openSeconds {
	first, _ := s.find(from)
	end, last := s.find(to)
	if last {
		end++
	}
	return s[first:max(first, end)]
}

// closeBefore closes the seconds before oldest, and calls each for every closed second.
func (s *openSeconds) closeBefore(oldest int64, each func(openSecond)) {
	n, _ := s.find(oldest)
	for _, o := range (*s)[:n] {
		each(o)
	}
	*s = slices.Delete(*s, 0, n)
}

// recentSeconds is the number of a table's newest seconds whose callers are kept apart: they
// are usually counted again, because some collector had more of them.
const recentSeconds = 16

// secondCallers are the weights of a second's callers.
type secondCallers struct {
	second  int64
	callers sketch.Top
}

// callerSums are the weights of a table's or index's callers: the sum, without the newest
// seconds, which may be replaced. More of an older second is not in it.
type callerSums struct {
	sum    sketch.Top
	recent []secondCallers // the oldest first
}

// observe adds a second's callers; known means that the second was observed before.
func (c *callerSums) observe(second int64, callers sketch.Top, known bool) {
	at, found := slices.BinarySearchFunc(c.recent, second, func(o secondCallers, second int64) int { return cmp.Compare(o.second, second) })
	switch {
	case found:
		c.recent[at].callers = callers
	case known: // it was recent once
	default:
		c.recent = slices.Insert(c.recent, at, secondCallers{second, callers})
	}
	if len(c.recent) > recentSeconds {
		c.sum = c.sum.Plus(c.recent[0].callers)
		c.recent = slices.Delete(c.recent, 0, 1)
	}
}

// total returns the weights of all seconds.
func (c *callerSums) total() sketch.Top {
	top := c.sum
	for _, o := range c.recent {
		top = top.Plus(o.callers)
	}
	return top
}
