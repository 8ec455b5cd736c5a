package mapped

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/ncruces/go-strftime"
)

// knownTimes are the known layouts of times, in package time's notation. None can confuse day
// and month. Without a zone a time is UTC; the zone does not change which keys are hot. Any
// layout may have a fraction behind the seconds. No layout lacks seconds, because a minute's
// requests within one second would make any key hot.
var knownTimes = []string{
	time.RFC3339, "2006-01-02T15:04:05 MST", "2006-01-02 15:04:05Z0700", "2006-01-02 15:04:05 -0700 MST", "2006-01-02 15:04:05Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02 15:04:05 Z0700", "2006-01-02 15:04:05 MST",
	"2006-01-02 15:04:05 Z07:00", "2006-01-02 15:04:05Z07", "2006-01-02T15:04:05Z07", "20060102T150405Z07:00",
	"2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006/01/02 15:04:05", "02/Jan/2006:15:04:05 -0700",
	"2.1.2006 15:04:05", "2.1.2006, 15:04:05", "2.1.2006T15:04:05",
	"Jan 2, 2006 @ 15:04:05", "Jan 2, 2006 15:04:05", time.UnixDate, time.RFC1123, time.RFC1123Z, time.ANSIC,
}

// millis returns a time in Unix milliseconds.
func (d *Decoder) millis(text string) (int64, bool) {
	if text = strings.TrimSpace(text); d.mapping.Layout == "" {
		if ms, isNumber, ok := d.mapping.Unit.millis(d.number(text)); isNumber {
			return ms, ok
		}
	}
	text, _, _ = strings.Cut(text, "[") // Java adds the zone's name: +01:00[Europe/Berlin]
	for _, layout := range d.times {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UnixMilli(), true
		}
	}
	return 0, false
}

// begin marks a time that is in front of the object in its line.
const begin = "begin:"

// A time in front of an object has at most maxWords words, and at most maxSkipped words are before
// it, such as a level or the priority of syslog.
const maxWords, maxSkipped = 6, 3

// firstTime is before every request: DynamoDB began in 2012. The number of a process is no time.
var firstTime = time.Date(2012, time.January, 1, 0, 0, 0, 0, time.UTC).UnixMilli()

// timeBefore returns the time at the beginning of the object's line, perhaps in brackets, or
// nil.
func (d *Decoder) timeBefore() json.RawMessage {
	text := string(d.before[:min(len(d.before), 200)])
	if priority := syslogPriority.FindString(text); priority != "" {
		text = text[len(priority):]
	}
	words := strings.Fields(strings.TrimLeft(text, "["))
	for from := range min(len(words), maxSkipped+1) {
		for n := min(len(words)-from, maxWords); n > 0; n-- {
			text := strings.Trim(strings.Join(words[from:from+n], " "), "[]:,;|- ")
			if ms, ok := d.millis(text); ok && ms >= firstTime {
				return strconv.AppendInt(nil, ms, 10)
			}
			if at, err := time.Parse(time.Stamp, text); err == nil {
				return strconv.AppendInt(nil, withYear(at, time.Now().UTC()).UnixMilli(), 10)
			}
		}
	}
	return nil
}

// syslogPriority begins a line of syslog, with a version in RFC 5424.
var syslogPriority = regexp.MustCompile(`^<\d{1,3}>(?:1 )?`)

// withYear returns a time of syslog, which has no year, in the newest year that leaves it in the
// past, or within a day that clocks and zones may differ by.
func withYear(at, now time.Time) time.Time {
	at = at.AddDate(now.Year(), 0, 0)
	if at.After(now.AddDate(0, 0, 1)) {
		at = at.AddDate(-1, 0, 0)
	}
	return at
}

// millis converts a time that is a number of units to milliseconds. ok is false if it is too
// large for a time.
func (u Unit) millis(text string) (ms int64, isNumber, ok bool) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		switch u {
		case Seconds:
			return n * 1000, true, n < math.MaxInt64/1000 && n > math.MinInt64/1000
		case Microseconds:
			return n / 1000, true, true
		case Nanoseconds:
			return n / 1_000_000, true, true
		}
		return n, true, true
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, false, false
	}
	v *= map[Unit]float64{Seconds: 1e3, Microseconds: 1e-3, Nanoseconds: 1e-6, Milliseconds: 1, "": 1}[u]
	return int64(math.Round(v)), true, math.Abs(v) < 1e15
}

// lenient lets months, days and hours have one digit, a zone be Z, and seconds have any
// fraction, as package time reads them without being told.
var lenient = strings.NewReplacer("2006", "2006", "002", "002", "01", "1", "02", "2", "03", "3", "04", "4", "05", "5", "-0700", "Z0700",
	".000000000", "", ",000000000", "", ".000000", "", ",000000", "", ".000", "", ",000", "")

// compileLayout converts a layout of strftime to layouts of package time: several if a letter
// allows several notations.
func compileLayout(text string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	layout, err := strftime.Layout(text)
	switch {
	case !strings.Contains(text, "%"):
		return nil, fmt.Errorf("time layout %q: write it in the letters of strftime, such as %%d.%%m.%%Y %%H:%%M:%%S", text)
	case strings.Contains(text, "%s"):
		return nil, fmt.Errorf("time layout %q: times that count seconds need --time-unit s, and no layout", text)
	case err != nil:
		return nil, fmt.Errorf("time layout %q: %w", text, err)
	}
	layout = lenient.Replace(layout)
	return variants(layout), checkLayout(text, layout)
}

// variants returns a layout with every notation of zones and halves of the day.
func variants(layout string) []string {
	all := []string{layout}
	for _, notations := range [][]string{{"Z0700", "Z07:00", "Z07"}, {"PM", "pm"}} {
		for _, known := range all {
			for _, other := range notations[1:] {
				if strings.Contains(known, notations[0]) {
					all = append(all, strings.Replace(known, notations[0], other, 1))
				}
			}
		}
	}
	return all
}

// checkLayout returns an error unless a time survives writing and reading with the layout,
// except for fractions of a second.
func checkLayout(text, layout string) error {
	at := time.Date(2026, time.November, 20, 22, 44, 59, 0, time.UTC) // all of two digits
	read, err := time.Parse(layout, at.Format(layout))
	switch {
	case err == nil && read.Equal(at):
		return nil
	case err == nil && read.Equal(at.Truncate(time.Minute)):
		return fmt.Errorf("time layout %q: %w", text, errNoSeconds)
	}
	return fmt.Errorf("time layout %q: it needs the day, month and year, and the time with seconds (%%I with %%p), such as %%d.%%m.%%Y %%H:%%M:%%S", text)
}

var errNoSeconds = errors.New("it has no seconds, and hot keys are judged by the second")
