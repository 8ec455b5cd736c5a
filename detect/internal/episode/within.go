package episode

// pushWithin puts a second before the newest ones, and reports whether all of them lie
// within the given seconds.
func pushWithin(newest []int64, second, seconds int64) bool {
	copy(newest[1:], newest)
	newest[0] = second
	earliest := newest[len(newest)-1]
	return earliest != 0 && second-earliest < seconds
}
