package intake

// lookedAt is the number of bad lines of a reject reason that are searched for a remedy.
// A file may begin with lines that are no requests at all.
const lookedAt = 500

// maxDiffering is how many differing remedies are kept of a reason.
const maxDiffering = 16

// looksRight is from how many fields of a request on a line looks like one: a time, and a
// key or an operation.
const looksRight = 2

// faults are the bad lines of one reject reason, by remedy.
type faults struct{ all []counted }

// counted is the first of the lines that ask for the same.
type counted struct {
	Fault
	fits int // how many fields of a request it seems to have
	n    int
}

// add counts a line with the number of fields that fit. Of more than maxDiffering remedies
// the worst is given up.
func (f *faults) add(fault Fault, fits int) {
	for i := range f.all {
		if f.all[i].Remedy == fault.Remedy {
			f.all[i].n++
			return
		}
	}
	one := counted{fault, fits, 1}
	if len(f.all) < maxDiffering {
		f.all = append(f.all, one)
		return
	}
	worst := 0
	for i := range f.all {
		if f.all[worst].better(&f.all[i]) {
			worst = i
		}
	}
	if one.better(&f.all[worst]) {
		f.all[worst] = one
	}
}

// better reports whether a line explains more than another: a line like a request, or
// more lines with the same remedy.
func (c *counted) better(than *counted) bool {
	if c.fits != than.fits {
		return c.fits > than.fits
	}
	return c.n > than.n
}

// best returns the line to tell of: of equal ones the first.
func (f *faults) best() *counted {
	best := &f.all[0]
	for i := range f.all[1:] {
		if f.all[1+i].better(best) {
			best = &f.all[1+i]
		}
	}
	return best
}
