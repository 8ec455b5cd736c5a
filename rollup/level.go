package rollup

import (
	"slices"
	"time"
)

// Level is a roll-up's length in seconds.
type Level int64

// The levels that something besides the next level is made of.
const (
	TenSeconds Level = 10
	Minute     Level = 60
)

const day = 24 * time.Hour

// Table describes all levels, each made of the one before it. A new level is a line here,
// and a setting of its retention under its Name.
var Table = []struct {
	Level Level
	Name  string        // of the setting retention.heat.NAME
	Words string        // the length, for a person
	Keep  time.Duration // since the last writing, by default
}{
	{TenSeconds, "ten_seconds", "10 seconds", day},
	{Minute, "minutes", "a minute", 7 * day},
	{600, "ten_minutes", "10 minutes", 30 * day},
	{3600, "hours", "an hour", 400 * day},
}

// Levels are the levels of [Table].
var Levels = func() (all []Level) {
	for _, l := range Table {
		all = append(all, l.Level)
	}
	return all
}()

// Lengths are the levels' lengths in seconds, as the store has them.
var Lengths = func() (all []int64) {
	for _, l := range Levels {
		all = append(all, int64(l))
	}
	return all
}()

// Retention returns how long the roll-ups of each level are kept by default.
func Retention() map[int64]time.Duration {
	all := make(map[int64]time.Duration)
	for _, l := range Table {
		all[int64(l.Level)] = l.Keep
	}
	return all
}

// String returns the level's length in words. Level 1 is a second.
func (l Level) String() string {
	if i := slices.Index(Levels, l); i >= 0 {
		return Table[i].Words
	}
	return "a second"
}

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
