package sketch

import (
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/keyheat/keyheat/sample"
)

// CallerLoad holds the callers of a table or index that the requests without a key named: see
// [sample.Record.IsCallerOnly]. Their load is in no window, so it counts nowhere twice.
type CallerLoad struct {
	sample.Target
	// Writers and Readers are the weights of the callers' writes and reads.
	Writers, Readers Top
}

// Plus adds another part's callers of the same table or index, at most 64 of each kind.
func (c CallerLoad) Plus(o CallerLoad) CallerLoad {
	return CallerLoad{Target: c.Target, Writers: c.Writers.Plus(o.Writers), Readers: c.Readers.Plus(o.Readers)}
}

// callerSums gather a CallerLoad.
type callerSums struct{ writers, readers texts }

// AddCaller counts a record that only names its caller. Its only error is ErrTooManyTables.
func (s *Shard) AddCaller(r *sample.Record) error {
	table, seed, ok := s.tables.Number(r)
	if !ok {
		return ErrTooManyTables
	}
	sums := s.callers[table]
	if sums == nil {
		sums = &callerSums{writers: texts{Most: tableCallersKept}, readers: texts{Most: tableCallersKept}}
		s.callers[table] = sums
	}
	read, write := r.Load()
	hash := xxh3.HashStringSeed(r.Caller, seed)
	sums.writers.Add(hash, r.Caller, uint64(write))
	sums.readers.Add(hash, r.Caller, uint64(read))
	return nil
}

// sealCallers appends the callers of all tables, and forgets them.
func (s *Shard) sealCallers(to []CallerLoad) []CallerLoad {
	for table, sums := range s.callers {
		to = append(to, CallerLoad{Target: s.tables.Name(table), Writers: topOf(&sums.writers), Readers: topOf(&sums.readers)})
	}
	clear(s.callers)
	slices.SortStableFunc(to, func(a, b CallerLoad) int { return a.Target.Compare(b.Target) })
	return to
}
