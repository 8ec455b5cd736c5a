//go:build race

package pgtest

const underRace = true
