package sketch

import (
	"slices"

	"github.com/keyheat/keyheat/sketch/internal/front"
	"github.com/keyheat/keyheat/sketch/internal/gather"
)

// sealCallers appends the callers of all tables, and forgets them.
func sealCallers(to []CallerLoad, all gather.Callers, t *front.Tables) []CallerLoad {
	for table, c := range all {
		to = append(to, CallerLoad{Target: t.Name(table), Writers: gather.TopOf(&c.Writers), Readers: gather.TopOf(&c.Readers)})
	}
	clear(all)
	slices.SortStableFunc(to, func(a, b CallerLoad) int { return a.Target.Compare(b.Target) })
	return to
}
