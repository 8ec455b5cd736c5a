package intake

import (
	"cmp"
	"slices"
)

// lookedAt is the number of bad lines of a reject reason that are searched for a remedy.
// A file may begin with lines that are no requests at all.
const lookedAt = 500

// faults are the bad lines of one reject reason, by remedy.
type faults []counted

// counted is the first of the lines that ask for the same.
type counted struct {
	Fault
	n int
}

func (f *faults) add(fault Fault) {
	at := slices.IndexFunc(*f, func(c counted) bool { return c.Remedy == fault.Remedy })
	if at < 0 {
		*f = append(*f, counted{fault, 1})
		return
	}
	(*f)[at].n++
}

// best returns the line to tell of: the one with the most frequent remedy; of equal ones the first.
func (f faults) best() counted {
	return slices.MaxFunc(f, func(a, b counted) int { return cmp.Compare(a.n, b.n) })
}
