package contention

import (
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/keyheat/keyheat/detect"
)

// shapeWords are words in the names of items that tell their shape.
var shapeWords = []struct {
	shape detect.Shape
	words []string
}{
	{detect.ShapeSequence, []string{"seq", "sequence", "nextid", "autoincrement", "serial"}},
	{detect.ShapeLock, []string{"lock", "locks", "lease", "leases", "mutex", "semaphore", "leader"}},
	{detect.ShapeCounter, []string{"count", "counts", "counter", "counters", "total", "totals", "stats", "views", "likes"}},
	{detect.ShapeName, []string{"unique", "uniq", "username", "email", "handle"}},
}

// mostlyFail is the part of an item's attempts from which their conditions mostly fail.
const mostlyFail = 0.5

// ShapeOf returns what an item seems to be: by its name or, without one that tells, a lock where
// the conditions of updates mostly fail. Those of puts may be idempotent. Samples have no
// expressions, so most items are unknown.
func ShapeOf(c *detect.Contention, key string) detect.Shape {
	words := wordsOf(string(c.Item) + " " + key)
	for _, named := range shapeWords {
		if slices.ContainsFunc(words, func(word string) bool { return slices.Contains(named.words, word) }) {
			return named.shape
		}
	}
	if detect.Ratio(c.ConditionsFailed, c.Attempts.Value) >= mostlyFail && c.Updates >= mostlyFail {
		return detect.ShapeLock
	}
	return detect.ShapeUnknown
}

// wordsOf returns the words of a name in lower case: of ORDER#viewCount, order, view and count.
func wordsOf(name string) (words []string) {
	var b strings.Builder
	lower := false
	for _, c := range name {
		if unicode.IsUpper(c) && lower {
			b.WriteByte(' ')
		}
		lower = unicode.IsLower(c)
		b.WriteRune(unicode.ToLower(c))
	}
	return strings.FieldsFunc(b.String(), func(c rune) bool { return !unicode.IsLetter(c) })
}

// restShare is the part of the attempts that is still lost on a divided counter.
const restShare = 0.05

// Steps returns the steps for a contended item, in order. A step that may lose data is never first.
func Steps(c *detect.Contention) []detect.Step {
	var fixes []detect.Fix
	switch c.Shape {
	case detect.ShapeCounter:
		fixes = []detect.Fix{detect.FixDividedCounter, detect.FixCountFromStream}
	case detect.ShapeLock:
		fixes = []detect.Fix{detect.FixLease, detect.FixWorkQueue}
	case detect.ShapeSequence:
		fixes = []detect.Fix{detect.FixNumberBlocks}
	case detect.ShapeName:
		fixes = []detect.Fix{detect.FixConditionAlone}
	default:
		if c.Transactions > 0 && c.Conflicts > 0 {
			fixes = []detect.Fix{detect.FixShorterTransactions}
		}
	}
	if c.Conflicts > 0 || c.Failed > 0 { // a condition that fails by design is not sent again
		fixes = append(fixes, detect.FixRetryConflicts)
	}
	steps := []detect.Step{}
	for _, fix := range fixes {
		step := detect.NewStep(fix)
		if c.ShapeTold && (fix == detect.FixLease || fix == detect.FixDividedCounter) {
			step.Arguments.Shape = c.Shape
		}
		if fix == detect.FixDividedCounter {
			step.Arguments.Count = parts(c.Share)
		}
		if fix == detect.FixRetryConflicts {
			step.Arguments.Caller = c.MainLoser()
		}
		steps = append(steps, step)
	}
	return steps
}

// parts returns how many keys a counter takes so that few attempts are lost. Attempts that come
// independently of each other lose with the probability 1 − exp(−x), where x is their rate times
// how long one holds the item; and n keys divide x.
func parts(lost float64) int {
	x := -math.Log1p(-min(lost, 0.99))
	return max(2, int(math.Ceil(x/-math.Log1p(-restShare))))
}
