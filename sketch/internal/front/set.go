package front

// Ways is how many keys a set has room for.
const Ways = 7

const (
	ones = 0x0101010101010101
	// tops are the highest bits of the bytes of all places; there is none behind them.
	tops = 0x8080808080808080 >> 8
)

// Set is one set. What is known of its keys is elsewhere, from First on.
type Set struct {
	// tags has a byte for each place: that of its key's hash, never zero, and zero
	// where there is no key.
	tags uint64
	// Turned is the largest weight that a key outside the set can have had;
	// zero as long as every key of the set found a place.
	Turned uint64
	// Least is no larger than any upper bound of a key in a full set. Upper bounds
	// only grow, so that it stays true when they do.
	Least uint64
	// First is where the set's candidates begin, once it has one; Keys how many it has.
	First, Keys uint32
}

// tag returns a key's byte, of bits that neither choose its set nor its counters.
func tag(hash uint64) uint64 { return max(hash>>48&0xff, 1) }

// Match returns a bit for each place that may have the key, in the highest bit of its
// byte: always where the key is, and seldom where it is not. Of a set without a key there
// is none.
func (s *Set) Match(hash uint64) uint64 {
	differ := s.tags ^ tag(hash)*ones
	return (differ - ones) &^ differ & tops
}

// Put makes a key that of a place.
func (s *Set) Put(place int, hash uint64) {
	s.tags = s.tags&^(0xff<<(8*place)) | tag(hash)<<(8*place)
}
