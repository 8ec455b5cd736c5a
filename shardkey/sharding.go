package shardkey

import (
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// ErrBase is returned for an empty base.
var ErrBase = errors.New("shardkey: the base is empty")

// Sharding is a number of shards and the form of their names. Make one with New; the zero value
// is not usable.
type Sharding struct {
	n     int
	form  Form
	apart *pieces // nil for the numbers 0 to n-1
}

// New returns a sharding into n shards, 1 to MaxShards, with this form of names.
func New(n int, form Form) (Sharding, error) {
	if n < 1 || n > MaxShards {
		return Sharding{}, fmt.Errorf("shardkey: %d shards: give 1 to %d", n, MaxShards)
	}
	if err := form.check(); err != nil {
		return Sharding{}, err
	}
	return Sharding{n: n, form: form}, nil
}

// Shards returns the number of shards.
func (s Sharding) Shards() int { return s.n }

// Form returns the form of the names.
func (s Sharding) Form() Form { return s.form }

// Name returns the partition key of one shard of a base. Shards count from 0.
func (s Sharding) Name(base string, shard int) (string, error) {
	switch {
	case s.n == 0:
		return "", errors.New("shardkey: a sharding is made by New")
	case base == "":
		return "", ErrBase
	case shard < 0 || shard >= s.n:
		return "", fmt.Errorf("shardkey: shard %d of %d: they count from 0", shard, s.n)
	}
	if s.apart != nil {
		shard = s.numbers(base)[shard]
	}
	return s.form.name(base, shard), nil
}

// Random returns the partition key of a random shard. Use it only for items that are always
// read all together.
func (s Sharding) Random(base string) (string, error) {
	if s.n == 0 {
		return s.Name(base, 0)
	}
	return s.Name(base, rand.IntN(s.n))
}

// Pick returns the partition key of an attribute's shard. It is always the same for the same
// base, attribute and number of shards, and evenly spread over attributes. Use an attribute
// that the reader of a single item knows, such as an order's number.
func (s Sharding) Pick(base, attribute string) (string, error) {
	if s.n == 0 || attribute == "" {
		if attribute == "" {
			return "", errors.New("shardkey: the attribute is empty: every such item would share a shard")
		}
		return s.Name(base, 0)
	}
	return s.Name(base, s.shard(base, attribute))
}

// shard returns FNV-1a over base, a zero byte and attribute, mixed by the finalizer of
// MurmurHash3 and scaled to the number of shards. It never changes, because stored items depend
// on it.
func (s Sharding) shard(base, attribute string) int {
	const offset, prime = 14695981039346656037, 1099511628211
	h := uint64(offset)
	for i := range len(base) {
		h = (h ^ uint64(base[i])) * prime
	}
	h *= prime // a zero byte
	for i := range len(attribute) {
		h = (h ^ uint64(attribute[i])) * prime
	}
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	h ^= h >> 33
	scaled, _ := bits.Mul64(h, uint64(s.n))
	return int(scaled)
}

// All returns the partition keys of all shards of a base, in order. Query all of them to read
// the whole key.
func (s Sharding) All(base string) ([]string, error) {
	names := make([]string, 0, s.n)
	for i := range max(s.n, 1) {
		name, err := s.Name(base, i)
		if err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}

// Growth is a change of the number of shards that keeps older items readable.
type Growth struct{ from, to Sharding }

// Grow changes a sharding to a larger one of the same form. Without PlaceApart every old shard is
// also a shard of the new sharding, so All of the new one finds everything.
func Grow(from, to Sharding) (Growth, error) {
	switch {
	case from.n == 0 || to.n == 0:
		return Growth{}, errors.New("shardkey: a sharding is made by New")
	case from.form != to.form:
		return Growth{}, fmt.Errorf("shardkey: from %q to %q is another form: copy the items instead", from.form, to.form)
	case to.n < from.n:
		return Growth{}, fmt.Errorf("shardkey: from %d to %d shards: shards %d and up would not be read any more", from.n, to.n, to.n)
	}
	return Growth{from, to}, nil
}

// Write returns the sharding for new items.
func (g Growth) Write() Sharding { return g.to }

// All returns the partition keys of all items of the base, old and new.
func (g Growth) All(base string) ([]string, error) {
	all, err := g.to.All(base)
	if err != nil {
		return nil, err
	}
	before, err := g.from.All(base)
	for _, name := range before {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all, err
}

// Find returns the partition keys that may hold the item with this attribute: its new shard,
// and its old shard if it differs.
func (g Growth) Find(base, attribute string) ([]string, error) {
	now, err := g.to.Pick(base, attribute)
	if err != nil {
		return nil, err
	}
	before, err := g.from.Pick(base, attribute)
	if err != nil || before == now {
		return []string{now}, err
	}
	return []string{now, before}, nil
}
