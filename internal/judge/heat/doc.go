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

import "github.com/keyheat/keyheat/sample"

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
