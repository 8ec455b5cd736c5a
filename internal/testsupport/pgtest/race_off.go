//go:build !race

package pgtest

// UnderRace reports whether this is a build with the race detector.
const UnderRace = false
