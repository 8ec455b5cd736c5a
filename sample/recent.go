package sample

import (
	"hash/maphash"
	"math/bits"
)

// recentWays is the number of samples that compete for a place in a [Recent].
const recentWays = 8

// Recent remembers the newest samples with an ID in bounded memory, to find the ones that
// were delivered again. A log delivers at least once, and so may a producer. Recent knows
// nearly every sample until a quarter as many others with an ID as it has room for followed
// it, and most until half as many did. It stores hashes of 64 bits.
type Recent struct {
	seed  maphash.Seed
	sets  [][recentWays]uint64 // each the newest first; nil before the first ID
	limit int
}

// NewRecent returns a memory of about so many samples. It takes 8 bytes for each, from the
// first ID on.
func NewRecent(samples int) *Recent { return &Recent{seed: maphash.MakeSeed(), limit: samples} }

// Repeats remembers the sample, and reports whether it repeats an earlier one: with its ID,
// table, key and operation, and the same kind of attempt. The items of one call may share an
// ID, and so may the load of a change on several indexes. A sample without an ID repeats none.
func (s *Recent) Repeats(r *Record) bool {
	if r.ID == "" {
		return false
	}
	if s.sets == nil {
		s.sets = make([][recentWays]uint64, 1<<bits.Len(uint(max(1, s.limit/recentWays)-1)))
	}
	hash := s.hash(r)
	set := &s.sets[hash&uint64(len(s.sets)-1)]
	for _, known := range set {
		if known == hash {
			return true
		}
	}
	copy(set[1:], set[:])
	set[0] = hash
	return false
}

// Forget forgets a sample, so that it repeats none when it comes again.
func (s *Recent) Forget(r *Record) {
	if r.ID == "" || s.sets == nil {
		return
	}
	hash := s.hash(r)
	set := &s.sets[hash&uint64(len(s.sets)-1)]
	for i := range set {
		if set[i] == hash {
			set[i] = 0
		}
	}
}

func (s *Recent) hash(r *Record) uint64 {
	hash := maphash.String(s.seed, r.ID) ^ uint64(r.Op)<<8 ^ uint64(r.Attempts)
	for _, part := range [...]string{r.PK.Text, r.SK.Text, r.Table, r.Index, r.Region, r.Account, r.Throttle} {
		hash = bits.RotateLeft64(hash, 29) * 0x9e3779b97f4a7c15 // the order of parts counts
		if part != "" {
			hash ^= maphash.String(s.seed, part)
		}
	}
	return max(hash^hash>>32, 1) // 0 is an empty place
}
