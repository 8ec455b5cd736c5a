//go:build !race

package pgtest

const underRace = false
