package intake

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/keyheat/keyheat/internal/say/wording"
)

// whole is the share from which a verdict counts as one over all lines: the number of
// uncounted lines is printed in any case.
const whole = 0.995

// Partial reports whether the verdict covers so little less than all lines that it has to
// be said.
func (r *Reading) Partial() bool { return r.Judged && *r.Share < whole }

// Covers describes the verdict's part of the lines; empty for all.
func (r *Reading) Covers() string {
	if !r.Partial() {
		return ""
	}
	return fmt.Sprintf("This verdict covers %s of the %s. The others are unknown.", r.percent(), r.lines())
}

// lines names the input, in the plural.
func (r *Reading) lines() string { return cmp.Or(r.noun, "lines") }

// percent writes the share, rounded down, so that an incomplete part is never 100%.
func (r *Reading) percent() string {
	p := *r.Share * 100
	if p >= 1 {
		p = math.Floor(p)
	}
	return wording.Percent(p / 100)
}

// UnjudgedText explains a missing verdict; empty when there is one.
func (r *Reading) UnjudgedText() string {
	if r.Judged {
		return ""
	}
	return "Nothing could be judged: " + r.why() + "."
}

// why explains a missing verdict.
func (r *Reading) why() string {
	all := r.Good
	for _, n := range r.Bad {
		all += n
	}
	switch {
	case all == 0 && r.UnreadFiles == 1:
		return place(r.Unread[0]) + " holds no samples"
	case all == 0:
		return "there are no samples in the files"
	case all == 1 && r.Good == 0:
		return "the only line could not be counted"
	case r.Good == 0:
		return fmt.Sprintf("none of %s %s could be counted", wording.Count(all), r.lines())
	}
	return fmt.Sprintf("only %s of %s %s could be counted", wording.Count(r.Good), wording.Count(all), r.lines())
}

// CountedText returns how many samples were counted, and how many were bad, by reason.
func (r *Reading) CountedText() string {
	text := wording.Count(r.Good) + " samples counted"
	for _, reason := range slices.Sorted(maps.Keys(r.Bad)) {
		text += fmt.Sprintf(", %d bad (%s)", r.Bad[reason], reason)
	}
	return text
}

// LowerBoundText returns the words for units that are not known and so the least; empty when they
// are.
func (r *Reading) LowerBoundText() string {
	if r.Unsized == 0 {
		return ""
	}
	return fmt.Sprintf("%s of %s samples have neither units nor a size: each counts as the least it can cost, so a key may be hotter than it looks.",
		wording.Count(r.Unsized), wording.Count(r.Good))
}

// LowerBound returns that figures of loads rest on such units; empty where few samples do.
func (r *Reading) LowerBound() string {
	if !r.AtLeast() {
		return ""
	}
	return fmt.Sprintf("All loads are lower bounds: %s of the samples count as the least they can cost. Shards are a minimum, too.",
		wording.Percent(float64(r.Unsized)/float64(r.Good)))
}

// ComputedText reports that units are computed from sizes, and the direction of the
// possible error; empty if few are.
func (r *Reading) ComputedText() string {
	if r.sized == 0 || float64(r.sized) < leastFrom*float64(r.Good) {
		return ""
	}
	return fmt.Sprintf("Units of %s of %s samples are computed from sizes. They are rather too low: unmarked strong reads and transactions cost more, and so does an update that shrinks an item. They are too high if a size is the whole request's.",
		wording.Count(r.sized), wording.Count(r.Good))
}

// OfPeak returns the reliability of a peak with computed units.
func (r *Reading) OfPeak() string {
	if bound := r.LowerBound(); bound != "" {
		return bound
	}
	text := "Every sample was counted, and none states a rate below 1, but some units were computed and not reported by DynamoDB: the peak is an estimate."
	if how := r.ComputedText(); how != "" {
		text += " " + how
	}
	return text
}

// RateWarning returns that every line was taken for all that there was, where none states a rate
// below 1, and how to state one; empty where some do, and where lines are in a form that has no rate.
func (r *Reading) RateWarning() string {
	if r.Good == 0 || r.unrated < r.Good {
		return ""
	}
	return "No line states a sampling rate below 1: each counts as all that there was. If 1 in 10 was sampled, say --map rate=const:0.1."
}

// Cause explains a missing verdict in a sentence: the most frequent fault, or that there
// is no input.
func (r *Reading) Cause() string {
	if len(r.Faults) > 0 {
		return r.Faults[0].String()
	}
	return r.why()
}

// leastFrom is the share of samples without units and size from which a verdict mentions
// them first.
const leastFrom = 0.01

// AtLeast reports whether the figures of a good part of the samples are the least that
// these can have cost.
func (r *Reading) AtLeast() bool {
	return float64(r.Unsized) >= leastFrom*float64(r.Good) && r.Unsized > 0
}

// maxFaults is the number of printed first bad lines.
const maxFaults = 4

// FaultSentences describe the uncounted lines: the first bad line of the most frequent
// reject reasons, and its remedy.
func (r *Reading) FaultSentences() (all []string) {
	for i := range r.Faults {
		if f := &r.Faults[i]; len(all) < maxFaults && (r.Good == 0 || !noLoad[f.Reason]) {
			all = append(all, f.String())
		}
	}
	if r.Good > 0 && r.UnreadFiles > 0 {
		s := wording.Count(int64(r.UnreadFiles)) + " files gave no sample: "
		if r.UnreadFiles == 1 {
			s = "One file gave no sample: "
		}
		names := make([]string, len(r.Unread))
		for i, name := range r.Unread {
			names[i] = place(name)
		}
		if s += strings.Join(names, ", "); r.UnreadFiles > len(names) {
			s += ", …"
		}
		all = append(all, s)
	}
	return all
}

// String gives the fault's place, its text and its remedy.
func (f *Fault) String() string {
	s := place(f.File)
	if f.Line > 0 {
		s += fmt.Sprintf(", line %d", f.Line)
	}
	if f.Record > 0 {
		s += ", record " + wording.Count(f.Record)
	}
	if f.Text != "" {
		s += ": " + wording.Quote(f.Text)
	}
	return s + ": " + f.Remedy
}

// place names a file.
func place(file string) string {
	if file == "-" {
		return "standard input"
	}
	return wording.Printable(file)
}
