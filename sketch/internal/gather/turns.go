package gather

// Mix mixes bits, so that each depends on all bits of x (Steele, Lea and Flood's SplitMix64,
// 2014).
func Mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Turns grants places to keys in one second. The zero value has all places free.
type Turns struct{ taken int }

// The first firstTurns keys get a place at once, and as many more are drawn: one key in
// turnsAmong. So every key gets a place in some seconds.
const firstTurns, turnsAmong = 8, 16

// Take asks for a place for a key in a second. The caller asks no more once it is granted. The
// answer for a key does not change within a second while places are free.
func (k *Turns) Take(hash uint64, second int64) bool {
	if k.taken >= 2*firstTurns || k.taken >= firstTurns && Mix(hash^uint64(second)*0x9e3779b97f4a7c15)%turnsAmong != 0 {
		return false
	}
	k.taken++
	return true
}
