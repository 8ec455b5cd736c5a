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
	{ShapeSequence, []string{"seq", "sequence", "nextid", "autoincrement", "serial"}},
	{ShapeLock, []string{"lock", "locks", "lease", "leases", "mutex", "semaphore", "leader"}},
	{ShapeRecord, []string{"session", "sessions"}},
	{ShapeCounter, []string{"count", "counts", "counter", "counters", "total", "totals", "stats", "views", "likes"}},
	{ShapeName, []string{"unique", "uniq", "username", "email", "handle"}},
}

// NamedShape returns what the name of an item tells of its shape. Failed conditions tell none: a
// lock that is taken and a version that has changed fail alike.
func NamedShape(name string) Shape {
	words := wordsOf(name)
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
