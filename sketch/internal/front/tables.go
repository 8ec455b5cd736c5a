package front

import (
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/keyheat/keyheat/sample"
)

// Tables numbers the tables and indexes of recent requests.
type Tables struct {
	numbers map[sample.Target]uint16
	names   []sample.Target
	seeds   []uint64
	// used is the round in which each table was last counted. Each Evict begins a round.
	used  []uint64
	round uint64
	free  []uint16 // numbers without a name
	most  int
	seed  uint64
	last  uint16 // most records share the table of the record before
	// senders has who sent each table first. It is checked for a new name alone.
	senders []string
	quotas  quotas
	// recent caches the numbers of recent tables.
	recent [256]uint16
}

// NewTables returns an empty numbering for at most `most` tables and indexes at a time. seed is
// the seed of all keys.
func NewTables(most int, seed uint64) Tables {
	return Tables{numbers: map[sample.Target]uint16{}, most: most, seed: seed, quotas: newQuotas(most)}
}

// Name returns the table or index of a number.
func (t *Tables) Name(number uint16) sample.Target { return t.names[number] }

// Len returns the largest number plus one.
func (t *Tables) Len() int { return len(t.names) }

// Number returns the number of a record's table or index and the seed of its keys. It returns
// false for a new table if all numbers are taken.
func (t *Tables) Number(r *sample.Record) (number uint16, seed uint64, ok bool) {
	if int(t.last) < len(t.names) {
		if isTarget(&t.names[t.last], r) {
			return t.last, t.seeds[t.last], true
		}
	}
	recent := &t.recent[recentSlot(r)]
	number = *recent
	if int(number) >= len(t.names) || !isTarget(&t.names[number], r) {
		if number, ok = t.numbers[r.Target()]; !ok {
			if !t.quotas.take(r.Target(), len(t.numbers)) {
				return 0, 0, false
			}
			number = t.add(sample.Target{
				Account: strings.Clone(r.Account), Region: strings.Clone(r.Region),
				Table: strings.Clone(r.Table), Index: strings.Clone(r.Index),
			})
		}
		*recent = number
	}
	t.used[t.last] = t.round // the fast path above does not note its use
	t.last = number
	t.used[number] = t.round
	return number, t.seeds[number], true
}

// isTarget reports whether a record belongs to the table or index. Most records name only a
// table.
func isTarget(n *sample.Target, r *sample.Record) bool {
	if len(n.Index)|len(r.Index)|len(n.Region)|len(r.Region)|len(n.Account)|len(r.Account) != 0 &&
		(n.Index != r.Index || n.Region != r.Region || n.Account != r.Account) {
		return false
	}
	return n.Table == r.Table
}

// recentSlot returns the slot of a record's table in Tables.recent, from a few letters in which
// names differ.
func recentSlot(r *sample.Record) uint8 {
	h := uint8(len(r.Table)) + 3*uint8(len(r.Index))
	if n := len(r.Table); n > 2 {
		h += 5*r.Table[n-1] + 59*r.Table[n-2] + 131*r.Table[n/2]
	}
	if n := len(r.Index); n > 0 {
		h += 37 * r.Index[n-1]
	}
	return h
}

func (t *Tables) add(n sample.Target) uint16 {
	number := uint16(len(t.names))
	if last := len(t.free) - 1; last >= 0 {
		number, t.free = t.free[last], t.free[:last]
	} else {
		t.names, t.seeds, t.used, t.senders = append(t.names, n), append(t.seeds, 0), append(t.used, 0), append(t.senders, "")
	}
	t.senders[number] = t.quotas.sender
	t.numbers[n] = number
	t.names[number], t.seeds[number] = n, TargetSeed(n, t.seed)
	return number
}

// Know chooses the tables that keep their place.
func (t *Tables) Know(tables map[sample.Target]bool) { t.quotas.known = tables }

// SetSender names the sender of the next records.
func (t *Tables) SetSender(sender string) { t.quotas.setSender(sender) }

// Evict frees the numbers of tables without load since the last Evict, if more than half of the
// numbers are taken. Otherwise a job that creates a table every hour would use up all numbers.
// It also frees the numbers of new tables beyond their sender's part of the room.
// The caller must forget the freed numbers that it returns.
func (t *Tables) Evict() (evicted map[uint16]bool) {
	if int(t.last) < len(t.used) {
		t.used[t.last] = t.round // it may have been the only table
	}
	evicted = map[uint16]bool{}
	crowded := len(t.numbers) > t.most/2
	t.quotas.share()
	for number, name := range t.names {
		number := uint16(number)
		if at, is := t.numbers[name]; !is || at != number {
			continue // it is free
		}
		if crowded && t.used[number] < t.round || !t.quotas.keep(name, t.senders[number]) {
			evicted[number] = true
			delete(t.numbers, name)
			t.names[number] = sample.Target{}
			t.free = append(t.free, number)
		}
	}
	t.round++
	return evicted
}

// TargetSeed returns the seed for the hashes of a table's or index's keys. It hashes twice, so
// that ("ab","c") differs from ("a","bc"). An unknown account and Region do not change the
// seed, so keys keep their hashes.
func TargetSeed(n sample.Target, seed uint64) uint64 {
	seed = xxh3.HashStringSeed(n.Index, xxh3.HashStringSeed(n.Table, seed))
	if n.Account == "" && n.Region == "" {
		return seed
	}
	return xxh3.HashStringSeed(n.Region, xxh3.HashStringSeed(n.Account, seed))
}
