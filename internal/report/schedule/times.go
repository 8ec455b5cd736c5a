package schedule

import (
	"errors"
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // images without a system have no time zones

	"github.com/netresearch/go-cron"
)

// parser reads five fields as cron does, names of months and days, steps, @daily and
// the like, and L, # and W. Where both a day of the month and one of the week are
// given, either makes it due, as in cron.
var parser = cron.MustNewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow |
	cron.Descriptor | cron.Extended | cron.DowOrDom)

// Times are due times.
type Times struct {
	// wall is the calendar of a wall's clock: it is asked in UTC, where every time is
	// there once. The library's own way over daylight saving runs a time that comes
	// twice twice, and misses a midnight that is skipped.
	wall *cron.SpecSchedule
	zone *time.Location
}

// errZone is the fault of a time zone, as opposed to the expression's.
var errZone = errors.New("time zone")

// ParseTimes reads a cron expression in an IANA time zone, UTC when empty.
func ParseTimes(expression, zone string) (Times, error) {
	if strings.Contains(expression, "TZ=") {
		return Times{}, errors.New("a time zone within the expression: give it as time_zone")
	}
	parsed, err := parser.Parse(expression)
	if err != nil {
		return Times{}, fmt.Errorf("%q is no cron expression: write minute, hour, day of the month, month and day of the week, such as 0 8 * * MON: %w", expression, err)
	}
	wall, ok := parsed.(*cron.SpecSchedule)
	if !ok {
		return Times{}, fmt.Errorf("%q has no times of its own: write minute, hour, day of the month, month and day of the week, such as 0 8 * * MON", expression)
	}
	if zone == "Local" {
		return Times{}, fmt.Errorf(`%w "Local" differs between machines: give a name such as Europe/Berlin`, errZone)
	}
	location, err := time.LoadLocation(zone)
	if err != nil {
		return Times{}, fmt.Errorf("%w %q: give a name such as Europe/Berlin: %w", errZone, zone, err)
	}
	wall.Location = time.UTC
	t := Times{wall, location}
	if t.Next(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero() {
		return Times{}, fmt.Errorf("%q is never due: no month has such a day", expression)
	}
	return t, nil
}

// Next returns the first due time after an instant; the zero time when there is none
// for years.
func (t Times) Next(after time.Time) time.Time {
	// A time on the wall is due now or was before: a time that it shows the second time
	// was due the first time.
	for wall := t.wall.Next(t.localTime(after)); !wall.IsZero(); wall = t.wall.Next(wall) {
		if due := t.instant(wall); due.After(after) {
			return due
		}
	}
	return time.Time{}
}

// LastDue returns the last due time until an instant, inclusive; the zero time when there
// was none for years.
func (t Times) LastDue(until time.Time) time.Time {
	wall := t.wall.Prev(t.localTime(until).Add(time.Second))
	if wall.IsZero() {
		return time.Time{}
	}
	// When the wall shows times again, later ones were due the first time.
	last := t.instant(wall)
	for next := t.Next(last); !next.IsZero() && !next.After(until); next = t.Next(last) {
		last = next
	}
	return last
}

// localTime returns the wall clock's time, as a time in UTC, in whole seconds.
func (t Times) localTime(at time.Time) time.Time {
	at = at.In(t.zone)
	return time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), 0, time.UTC)
}

// instant returns when a wall's clock first shows a time, or when it skips it.
func (t Times) instant(wall time.Time) time.Time {
	guess := time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), wall.Second(), 0, t.zone)
	begin, end := guess.ZoneBounds()
	var first time.Time
	for _, beside := range []time.Time{guess, begin.Add(-time.Second), end} {
		if beside.IsZero() || beside.Year() < 1 {
			continue // the zone never changes on that side
		}
		_, offset := beside.In(t.zone).Zone()
		at := wall.Add(-time.Duration(offset) * time.Second)
		if t.localTime(at).Equal(wall) && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	switch {
	case !first.IsZero():
		return first
	case t.localTime(guess).After(wall): // the guess is after what was skipped
		return begin.UTC()
	}
	return end.UTC()
}
