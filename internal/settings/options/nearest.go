package options

import (
	"fmt"
	"strings"
)

// listed is how many known names an error lists.
const listed = 10

// Suggest ends an error about a name that is not known with the nearest one that is; with
// the known ones when none is near.
func Suggest(name string, known []string) string {
	if nearest := Nearest(name, known); nearest != "" {
		return fmt.Sprintf(": did you mean %q?", nearest)
	}
	if len(known) > listed {
		return fmt.Sprintf("; known are %s and %d more", strings.Join(known[:listed], ", "), len(known)-listed)
	}
	return "; known are " + strings.Join(known, ", ")
}

// Nearest returns the known name that is nearest to a misspelt one; empty when none is near.
func Nearest[T ~string](name T, known []T) (nearest T) {
	distance := len(name)/2 + 1
	for _, k := range known {
		if d := edits(string(name), string(k)); d < distance {
			nearest, distance = k, d
		}
	}
	return nearest
}

// edits returns how many letters have to be put in, taken out or changed, or two
// neighbours swapped, to make b of a.
func edits(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := last[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			row[j] = min(change, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
