package front

// Ways is the number of keys that a set has room for.
const Ways = 7

const (
	ones = 0x0101010101010101
	// tops has the highest bit of each place's byte. The eighth byte has no place.
	tops = 0x8080808080808080 >> 8
)

// Set is one set of the front: it finds a key by one byte of its hash. Two sets fit one cache
// line. The candidates are elsewhere, from First on.
type Set struct {
	// tags has one byte for each place: a byte of the key's hash, never zero, or zero without a
	// key.
	tags uint64
	// Turned is the largest weight that a key outside the set can have had. It is zero while
	// every key of the set has found a place.
	Turned uint64
	// Least is a lower bound of all upper bounds in a full set. Upper bounds only grow, so it
	// stays true.
	Least uint64
	// First is the index of the set's first candidate, and Keys the number of its keys.
	First, Keys uint32
}

// tag returns a key's byte. Its bits choose neither the key's set nor its counters.
func tag(hash uint64) uint64 { return max(hash>>48&0xff, 1) }

// Match returns the highest bit of the byte of each place that may have the key. The key's own
// place always matches; other places rarely do, and empty ones never.
func (s *Set) Match(hash uint64) uint64 {
	differ := s.tags ^ tag(hash)*ones
	return (differ - ones) &^ differ & tops
}

// Put assigns a place to a key.
func (s *Set) Put(place int, hash uint64) {
	s.tags = s.tags&^(0xff<<(8*place)) | tag(hash)<<(8*place)
}
