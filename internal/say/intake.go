package say

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/intake"
	"github.com/keyheat/keyheat/internal/say/wording"
)

// IntakeShare describes the verdict's part of the lines; empty for all.
func IntakeShare(r *intake.Reading) string {
	if !r.Partial() {
		return ""
	}
	return fmt.Sprintf("This verdict covers %s of the %s. The others are unknown.", intakePercent(r), intakeLines(r))
}

// intakeLines names the input, in the plural.
func intakeLines(r *intake.Reading) string { return cmp.Or(r.Noun, "lines") }

// intakePercent writes the share, rounded down, so that an incomplete part is never 100%.
func intakePercent(r *intake.Reading) string {
	p := *r.Share * 100
	if p >= 1 {
		p = math.Floor(p)
	}
	return wording.Percent(p / 100)
}

// IntakeFailure explains a missing verdict; empty when there is one.
func IntakeFailure(r *intake.Reading) string {
	if r.Judged {
		return ""
	}
	return "Nothing could be judged: " + intakeWhy(r) + "."
}

// intakeWhy explains a missing verdict.
func intakeWhy(r *intake.Reading) string {
	all := r.Good
	for _, n := range r.Bad {
		all += n
	}
	switch {
	case all == 0 && r.UnreadFiles == 1:
		return filePlace(r.Unread[0]) + " holds no samples"
	case all == 0:
		return "there are no samples in the files"
	case all == 1 && r.Good == 0:
		return "the only line could not be counted"
	case r.Good == 0:
		return fmt.Sprintf("none of %s %s could be counted", wording.Count(all), intakeLines(r))
	}
	return fmt.Sprintf("only %s of %s %s could be counted", wording.Count(r.Good), wording.Count(all), intakeLines(r))
}

// RepeatedIDs warns that many samples were left out as repeated ones; empty if few were.
func RepeatedIDs(r *intake.Reading) string {
	if !r.RepeatsMuch() {
		return ""
	}
	repeats := r.Bad[intake.ReasonDuplicate]
	return fmt.Sprintf("%s of %s samples repeat an earlier one's id, table, key and operation, and were left out. Loads are too low unless these were delivered twice: give each record an id of its own, or leave ids out with --map id=.",
		wording.Count(repeats), wording.Count(r.Good+repeats))
}

// UnrepeatedKey tells that what was given as the partition key seems to be none; empty where it
// seems to be.
func UnrepeatedKey(r *intake.Reading) string {
	if r.Unrepeated == "" {
		return ""
	}
	return fmt.Sprintf("No hot keys, if %s is the partition key. But hardly two samples have the same value in it, as if it told requests apart: name the partition key with --map pk=FIELD.", wording.Printable(r.Unrepeated))
}

// RepeatedFiles tells of files with the same bytes as an earlier one; empty for none.
func RepeatedFiles(paths []string) string {
	const most = 5
	if len(paths) == 0 {
		return ""
	}
	names := wording.Names(paths[:min(len(paths), most)])
	for i := range names {
		names[i] = filePlace(names[i])
	}
	if len(paths) > most {
		names = append(names, fmt.Sprintf("%d more", len(paths)-most))
	}
	return "Counted once, because an earlier file has the same bytes: " + wording.List(names) + "."
}

// LastWrites limits the loads of an incremental export to S3.
const LastWrites = "An incremental export has only the last write of each item in its period: all loads are lower bounds."

// UnreadRefusals says that lines which could not be counted name refused requests; empty if none
// does.
func UnreadRefusals(r *intake.Reading) string {
	switch r.Refusing {
	case 0:
		return ""
	case 1:
		return "A line that could not be counted names an error of refused requests: which key it hit is unknown."
	}
	return wording.Count(r.Refusing) + " lines that could not be counted name an error of refused requests: which keys they hit is unknown."
}

// IntakeCount returns how many samples were counted, and how many were bad, by reason.
func IntakeCount(r *intake.Reading) string {
	text := wording.Count(r.Good) + " samples counted"
	if r.Means {
		text = wording.Plural(int(r.Good), "key", "keys") + " listed"
	}
	for _, reason := range slices.Sorted(maps.Keys(r.Bad)) {
		text += fmt.Sprintf(", %d bad (%s)", r.Bad[reason], reason)
	}
	return text
}

// UnsizedSamples returns the words for units that are not known and so the least; empty when they
// are.
func UnsizedSamples(r *intake.Reading) string {
	if r.Unsized == 0 {
		return ""
	}
	return fmt.Sprintf("%s of %s samples have neither units nor a size: each counts as the least it can cost, so a key may be hotter than it looks.",
		wording.Count(r.Unsized), wording.Count(r.Good))
}

// IntakeBound returns that figures of loads rest on such units; empty where few samples do.
func IntakeBound(r *intake.Reading) string {
	if !r.AtLeast() {
		return ""
	}
	return fmt.Sprintf("All loads are lower bounds: %s of the samples count as the least they can cost. Shards are a minimum, too.",
		wording.Percent(float64(r.Unsized)/float64(r.Good)))
}

// ComputedUnits reports that units are computed from sizes, and the direction of the
// possible error; empty if few are.
func ComputedUnits(r *intake.Reading) string {
	if r.Sized == 0 || float64(r.Sized) < intake.LeastShare*float64(r.Good) {
		return ""
	}
	return fmt.Sprintf("Units of %s of %s samples are computed from sizes. They are rather too low: unmarked strong reads and transactions cost more, and so does an update that shrinks an item. They are too high if a size is the whole request's.",
		wording.Count(r.Sized), wording.Count(r.Good))
}

// RateWarning returns that every line was taken for all that there was, where none states a rate
// below 1, and how to state one; empty where some do, and where lines are in a form that has no rate.
func RateWarning(r *intake.Reading) string {
	if r.Good == 0 || r.Unrated < r.Good {
		return ""
	}
	return "No line states a sampling rate below 1: each counts as all that there was. If 1 in 10 was sampled, say --map rate=const:0.1."
}

// IntakeCause explains a missing verdict in a sentence: the most frequent fault, or that there
// is no input.
func IntakeCause(r *intake.Reading) string {
	if len(r.Faults) > 0 {
		return DescribeFault(&r.Faults[0])
	}
	return intakeWhy(r)
}

// maxFaults is the number of printed first bad lines.
const maxFaults = 4

// Faults describe the uncounted lines: the first bad line of the most frequent
// reject reasons, and its remedy.
func Faults(r *intake.Reading) (all []string) {
	for i := range r.Faults {
		if f := &r.Faults[i]; len(all) < maxFaults && (r.Good == 0 || f.HasLoad()) {
			all = append(all, DescribeFault(f))
		}
	}
	if r.Good > 0 && r.UnreadFiles > 0 {
		s := wording.Count(int64(r.UnreadFiles)) + " files gave no sample: "
		if r.UnreadFiles == 1 {
			s = "One file gave no sample: "
		}
		names := make([]string, len(r.Unread))
		for i, name := range r.Unread {
			names[i] = filePlace(name)
		}
		if s += strings.Join(names, ", "); r.UnreadFiles > len(names) {
			s += ", …"
		}
		all = append(all, s)
	}
	return all
}

// DescribeFault gives a fault's place, its text and its remedy.
func DescribeFault(f *intake.Fault) string {
	s := filePlace(f.File)
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

// filePlace names a file.
func filePlace(file string) string {
	if file == "-" {
		return "standard input"
	}
	return wording.Printable(file)
}

// throttledFrom is the share of the seen requests from which throttling needs an
// explanation, and attemptsFrom the number from which it is reported.
const (
	throttledFrom = 0.01
	attemptsFrom  = 100
)

// OtherKeys names the tables and indexes with much throttling that no finding explains: the key in
// the samples may be another than DynamoDB's.
func OtherKeys(tables []detect.Table, findings []detect.Finding) (all []string) {
	for i := range tables {
		t := &tables[i]
		seen := t.Requests + t.Throttled.Requests
		found := slices.ContainsFunc(findings, func(f detect.Finding) bool {
			return f.Target == t.Target && f.Ground != detect.GroundNoReason
		})
		if found || t.Throttled.Requests < attemptsFrom || float64(t.Throttled.Requests) < throttledFrom*float64(seen) {
			continue
		}
		schema := "Table.KeySchema"
		if t.Index != "" {
			schema = "Table.GlobalSecondaryIndexes"
		}
		all = append(all, fmt.Sprintf("%s: %s of the requests seen were throttled, and no key is near a limit. Either it has too little capacity, or its partition key is another than the one that is given here; DynamoDB's own is HASH in aws dynamodb describe-table --table-name %s --query %s",
			wording.Printable(t.Name()), wording.Percent(float64(t.Throttled.Requests)/float64(seen)), wording.Printable(t.Table), schema))
	}
	return all
}
