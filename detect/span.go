package detect

import (
	"cmp"
	"slices"
)

// Span is a range of seconds, both ends included.
type Span struct{ From, To int64 }

// maxSpans is the most ranges of seconds that a finding keeps.
const maxSpans = 64

// AddSecond adds a second to the ranges. The second must not precede their last start. If
// there is no room, the ranges stay unchanged.
func AddSecond(in []Span, second int64) []Span {
	switch n := len(in); {
	case n > 0 && second <= in[n-1].To+1:
		in[n-1].To = max(in[n-1].To, second)
	case n < maxSpans:
		in = append(in, Span{second, second})
	}
	return in
}

func countSeconds(in []Span) (n int) {
	for _, s := range in {
		n += int(s.To - s.From + 1)
	}
	return n
}

// SecondsOver returns the number of seconds proven above the limit; 0 if unknown.
func (f *Finding) SecondsOver() int {
	if f.OverSeconds == nil {
		return 0
	}
	return *f.OverSeconds
}

// AnyOver returns the number of seconds in which any finding's key was proven above its
// limit, and these seconds. Both are nil if they are unknown for one finding.
func AnyOver(all []*Finding) (seconds *int, in []Span) {
	for _, f := range all {
		if f.OverSeconds == nil || *f.OverSeconds != countSeconds(f.OverIn) {
			return nil, nil
		}
		in = append(in, f.OverIn...)
	}
	slices.SortFunc(in, func(x, y Span) int { return cmp.Compare(x.From, y.From) })
	joined := in[:0]
	for _, s := range in {
		if n := len(joined); n > 0 && s.From <= joined[n-1].To+1 {
			joined[n-1].To = max(joined[n-1].To, s.To)
			continue
		}
		joined = append(joined, s)
	}
	n := countSeconds(joined)
	return &n, joined
}
