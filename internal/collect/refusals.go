package collect

import (
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/keyheat/keyheat/sample"
)

// TablesRemedy is what helps when samples name more tables than a collector keeps apart.
const TablesRemedy = "raise collect.tables of the collectors, or look for a producer that makes up table names"

// refusal are the samples of a table that a collector has no room for.
type refusal struct {
	// sender is who sent them, table the hash of the table's name.
	sender, table string
}

// otherTables counts the refused samples beyond the first maxNames tables.
const otherTables = "others"

// tableHash identifies a refused table where its name may be anything: FNV-1a of
// [sample.Target.Name], 64 bits.
func tableHash(name string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // it never fails
	return fmt.Sprintf("%016x", h.Sum64())
}

// refuse counts a sample of a table without room.
func (t *counters) refuse(sender string, target sample.Target) {
	if t.refused == nil {
		t.refused, t.refusals = make(map[string]bool), make(map[refusal]int64)
	}
	name := target.Name()
	if len(t.refused) < maxNames {
		t.refused[strings.Clone(name)] = true // the text may be a record's
	}
	t.addRefusals(refusal{sender, tableHash(name)}, 1)
}

func (t *counters) addRefusals(of refusal, n int64) {
	if _, known := t.refusals[of]; !known && len(t.refusals) >= maxNames {
		of.table = otherTables
		if _, known := t.refusals[of]; !known && len(t.refusals) >= 2*maxNames {
			of.sender = otherTables
		}
	}
	t.refusals[of] += n
}

// onlyRefused reports whether there are samples, and all are of tables without room.
func (t *counters) onlyRefused() bool {
	return t.good == 0 && len(t.bad) == 1 && t.bad[reasonTooManyTables] != nil
}
