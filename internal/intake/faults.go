package intake

import (
	"cmp"
	"slices"
)

// lookedAt is the number of bad lines of a reject reason that are searched for a remedy.
// A file may begin with lines that are no requests at all.
const lookedAt = 500

// looksRight is from how many fields of a request on a line looks like one: a time, and a
// key or an operation.
const looksRight = 2

// faults are the bad lines of one reject reason, by remedy.
type faults []counted

// counted is the first of the lines that ask for the same.
type counted struct {
	Fault
	fits int // how many fields of a request it seems to have
	n    int
}

// add counts a line with the number of fields that fit.
func (f *faults) add(fault Fault, fits int) {
	at := slices.IndexFunc(*f, func(c counted) bool { return c.Remedy == fault.Remedy })
	if at < 0 {
		*f = append(*f, counted{fault, fits, 1})
		return
	}
	(*f)[at].n++
}

// best returns the line to tell of: the one most like a request, then with the most frequent
// remedy; of equal ones the first.
func (f faults) best() counted {
	return slices.MaxFunc(f, func(a, b counted) int { return cmp.Or(cmp.Compare(a.fits, b.fits), cmp.Compare(a.n, b.n)) })
}
