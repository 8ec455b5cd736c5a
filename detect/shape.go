package detect

import (
	"slices"
	"strings"
	"unicode"
)

// Shape is what an item is, by its owner's word, or seems to be.
type Shape string

// The shapes. Samples have no expressions, so without the owner's word only a name
// tells one.
const (
	ShapeCounter  Shape = "counter"
	ShapeLock     Shape = "lock"
	ShapeSequence Shape = "sequence"
	ShapeName     Shape = "unique_name"
	ShapeQueue    Shape = "queue"
	// ShapeRecord is an item that means something as a whole: a session, a configuration, the
	// record of a request. It cannot be divided.
	ShapeRecord  Shape = "record"
	ShapeUnknown Shape = "unknown"
)

// Shapes lists the shapes that an owner can name.
func Shapes() []Shape {
	return []Shape{ShapeCounter, ShapeLock, ShapeSequence, ShapeName, ShapeQueue, ShapeRecord}
}

// shapeWords are words in the names of items that tell their shape.
var shapeWords = []struct {
	shape Shape
	words []string
}{
	{ShapeSequence, []string{"seq", "sequence", "sequences", "nextid", "autoincrement", "serial"}},
	{ShapeLock, []string{"lock", "locks", "lease", "leases", "mutex", "semaphore", "leader"}},
	{ShapeRecord, []string{"session", "sessions"}},
	{ShapeCounter, []string{"count", "counts", "counter", "counters", "total", "totals", "stats", "views", "likes"}},
	{ShapeName, []string{"unique", "uniq", "username", "email", "handle"}},
}

// environments are words that a table's name may end with, after the word for its items.
var environments = []string{"dev", "development", "test", "staging", "prod", "production", "table", "v"}

// NamedShape returns what the names of an item and of its table tell of its shape. Failed conditions
// tell none: a lock that is taken and a version that has changed fail alike. A table's name ends
// with the word for its items, and tells only of what cannot be divided: orders-locks holds locks,
// and orders-lock-service may hold anything.
func NamedShape(name, table string) Shape {
	if shape := shapeOf(wordsOf(name)); shape != ShapeUnknown {
		return shape
	}
	words := wordsOf(table)
	for len(words) > 0 && slices.Contains(environments, words[len(words)-1]) {
		words = words[:len(words)-1]
	}
	if len(words) == 0 {
		return ShapeUnknown
	}
	last := words[len(words)-1:]
	if last[0] == "idempotency" {
		return ShapeRecord
	}
	if shape := shapeOf(last); shape == ShapeLock || shape == ShapeSequence || shape == ShapeRecord {
		return shape
	}
	return ShapeUnknown
}

func shapeOf(words []string) Shape {
	for _, named := range shapeWords {
		if slices.ContainsFunc(words, func(word string) bool { return slices.Contains(named.words, word) }) {
			return named.shape
		}
	}
	return ShapeUnknown
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
