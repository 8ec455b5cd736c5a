//go:build race

package judge_test

// underRace reports whether this is a build with the race detector, which makes SQLite,
// pure Go, some twenty times slower and leaves Postgres as it is.
const underRace = true
