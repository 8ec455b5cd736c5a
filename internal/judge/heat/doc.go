// Package heat holds roll-ups: the hot keys of a table or index in ten seconds, a minute,
// ten minutes or an hour. Each is made of the ones below it, and ten-second roll-ups of
// whole seconds.
//
// A roll-up lists the [Keys] keys with the highest second, by utilization of a
// partition's limits. So the highest second of a listed key is exact, through all levels:
// a key that is among the highest of an hour is among the highest of the ten seconds of
// its own highest second. A sum is a lower bound for a key that was not listed in a part:
// there it had at most [Rollup.Unlisted] a second.
//
// The package also chooses the warm keys whose growth is followed, and turns their hourly
// peaks, from files or from the store, into a [forecast.New].
package heat

import (
	"time"

	"github.com/keyheat/keyheat/sample"
)

// Level is how many seconds a roll-up is of.
type Level int64

// The levels.
const (
	TenSeconds Level = 10
	Minute     Level = 60
	TenMinutes Level = 600
	Hour       Level = 3600
)

// Levels are all, each made of the one before it.
var Levels = []Level{TenSeconds, Minute, TenMinutes, Hour}

// Begin returns the beginning of the level's bucket that holds a second, in Unix
// seconds.
func (l Level) Begin(second int64) int64 {
	n := second % int64(l)
	if n < 0 {
		n += int64(l)
	}
	return second - n
}

// Duration returns the level's length.
func (l Level) Duration() time.Duration { return time.Duration(l) * time.Second }

// PartLevel returns the level that this one is made of, and 1, a second, for the lowest.
func (l Level) PartLevel() Level {
	below := Level(1)
	for _, level := range Levels {
		if level >= l {
			break
		}
		below = level
	}
	return below
}

// Keys is how many keys a roll-up lists at most.
const Keys = 150

// Reasons are the throttle reasons of a key's requests, a bit for each
// [sample.ThrottleReason].
type Reasons uint16

// Words returns the causes in AWS's words.
func (r Reasons) Words() []string {
	words := []string{}
	for c := range sample.ThrottleReason(sample.ThrottleReasons) {
		if r&(1<<c) != 0 {
			words = append(words, c.String())
		}
	}
	return words
}
