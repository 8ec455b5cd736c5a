package gather

// Mix returns bits of which each depends on all of x (Steele, Lea and Flood's
// SplitMix64, 2014).
func Mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Turns are places for keys in one second. The zero value has all of them free.
type Turns struct{ taken int }

// firstTurns keys take a place as they come, and as many are drawn, one in among: where there
// are more, each has its turn in some seconds.
const firstTurns, turnsAmong = 8, 16

// Take gives a key a place in a second, and reports whether it has one now. A key that
// has is not asked again; one that has not may be, with the same answer.
func (k *Turns) Take(hash uint64, second int64) bool {
	if k.taken >= 2*firstTurns || k.taken >= firstTurns && Mix(hash^uint64(second)*0x9e3779b97f4a7c15)%turnsAmong != 0 {
		return false
	}
	k.taken++
	return true
}
