package keypatterns

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
)

// The periods of time in keys, the finest first.
const (
	second = "second"
	minute = "minute"
	hour   = "hour"
	day    = "day"
	week   = "week"
)

var periods = []string{second, minute, hour, day, week}

// finerPeriod returns the finer of two periods. The key of a second that begins a minute looks
// like the minute's key.
func finerPeriod(a, b string) string {
	if slices.Index(periods, a) <= slices.Index(periods, b) {
		return a
	}
	return b
}

type timeFormat struct {
	layout, period, placeholder string
}

// timeFormats are the formats found in the field, finer ones first: an hour's name
// contains a day's.
var timeFormats = []timeFormat{
	{"2006-01-02T15:04:05", second, "<second>"},
	{"2006-01-02 15:04:05", second, "<second>"},
	{"20060102150405", second, "<second>"},
	{"2006-01-02T15:04", minute, "<minute>"},
	{"2006-01-02T15-04", minute, "<minute>"},
	{"2006-01-02 15:04", minute, "<minute>"},
	{"2006-01-02-15-04", minute, "<minute>"},
	{"20060102T1504", minute, "<minute>"},
	{"200601021504", minute, "<minute>"},
	{"2006-01-02T15", hour, "<hour>"},
	{"2006-01-02-15", hour, "<hour>"},
	{"2006-01-02 15", hour, "<hour>"},
	{"2006-01-02#15", hour, "<hour>"},
	{"20060102T15", hour, "<hour>"},
	{"2006010215", hour, "<hour>"},
	{"2006-01-02", day, "<date>"},
	{"2006/01/02", day, "<date>"},
	{"2006.01.02", day, "<date>"},
	{"20060102", day, "<date>"},
}

// weekFormats write the year and the number of an ISO week.
var weekFormats = []string{"%d-W%02d", "%dW%02d", "%d-w%02d", "%dw%02d"}

// maxClockShift is the largest offset of a writer's clock from UTC, since a key's date is
// local to its writer. Offsets are whole hours but for a few, of half an hour.
const (
	maxClockShift  = 14 * time.Hour
	clockShiftStep = 30 * time.Minute
)

// MatchTime returns the pattern of a key that is named after the time in which it was
// hot, so that its successor will be as hot. It is nil for other keys.
func MatchTime(key string, at time.Time) *detect.Rolling {
	if r := matchEpoch(key, at); r != nil {
		return r
	}
	if !strings.Contains(key, strconv.Itoa(at.Add(-maxClockShift).Year())) && !strings.Contains(key, strconv.Itoa(at.Add(maxClockShift).Year())) {
		return nil // true for nearly every key
	}
	for _, n := range timeFormats {
		for shift := -maxClockShift; shift <= maxClockShift; shift += clockShiftStep {
			if r := newRolling(key, at.Add(shift).Format(n.layout), n.period, n.placeholder); r != nil {
				return r
			}
		}
	}
	for _, form := range weekFormats {
		for _, shift := range []time.Duration{-maxClockShift, 0, maxClockShift} {
			year, number := at.Add(shift).ISOWeek()
			if r := newRolling(key, fmt.Sprintf(form, year, number), week, "<week>"); r != nil {
				return r
			}
		}
	}
	return nil
}

// newRolling returns the pattern of a key that contains a written time, or nil.
func newRolling(key, text, period, placeholder string) *detect.Rolling {
	i := strings.Index(key, text)
	if i < 0 || digitAt(key, i-1) || digitAt(key, i+len(text)) {
		return nil
	}
	return &detect.Rolling{Period: period, Template: sample.Text(key[:i] + placeholder + key[i+len(text):]), Keys: []sample.Text{}}
}

func digitAt(s string, i int) bool { return i >= 0 && i < len(s) && s[i] >= '0' && s[i] <= '9' }

// epochs are the periods whose beginnings are written as Unix times, the longest first,
// since a day's beginning also begins an hour.
var epochs = []struct {
	period  string
	seconds int64
}{{day, 24 * 3600}, {hour, 3600}, {minute, 60}, {second, 1}}

// epochDigits and milliDigits are the digits of a Unix time in seconds and in
// milliseconds, from 2001 to 2286. epochShift is the largest error of a writer's clock,
// in seconds.
const (
	epochDigits, milliDigits = 10, 13
	epochShift               = 2
)

// matchEpoch returns the pattern of a key that contains the Unix time in which it was
// hot, or the beginning of its minute, hour or day. It is nil for other keys.
func matchEpoch(key string, at time.Time) *detect.Rolling {
	for i := 0; i < len(key); i++ {
		if !digitAt(key, i) || digitAt(key, i-1) {
			continue
		}
		end := i
		for digitAt(key, end) {
			end++
		}
		if n := end - i; n != epochDigits && n != milliDigits {
			continue
		}
		unix, err := strconv.ParseInt(key[i:i+epochDigits], 10, 64)
		if err != nil {
			continue
		}
		for _, e := range epochs {
			if since := at.Unix() - unix; unix%e.seconds == 0 && since >= -epochShift && since < e.seconds+epochShift {
				return &detect.Rolling{Period: e.period, Template: sample.Text(key[:i] + "<epoch>" + key[end:]), Keys: []sample.Text{}}
			}
		}
	}
	return nil
}
