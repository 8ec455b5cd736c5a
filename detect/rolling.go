package detect

import (
	"strings"
	"time"
)

// named is a way of writing a time into a key.
type named struct {
	layout, period, placeholder string
}

// names are the ways found in the field, the finer ones first: an hour's name
// holds a day's.
var names = []named{
	{"2006-01-02T15", "hour", "<hour>"},
	{"2006-01-02-15", "hour", "<hour>"},
	{"2006-01-02 15", "hour", "<hour>"},
	{"2006-01-02#15", "hour", "<hour>"},
	{"2006010215", "hour", "<hour>"},
	{"2006-01-02", "day", "<date>"},
	{"2006/01/02", "day", "<date>"},
	{"2006.01.02", "day", "<date>"},
	{"20060102", "day", "<date>"},
}

// farthest is how far a writer's clock may stand from UTC, since a key's date is
// the one where the writer is.
const farthest = 14 * time.Hour

// rolling says whether a key is named after the time in which it was hot: then
// its successor will be as hot. period is hour or day, template the key with a
// placeholder for the time.
func rolling(key string, at time.Time) (period, template string, ok bool) {
	for _, n := range names {
		for shift := -farthest; shift <= farthest; shift += time.Hour {
			text := at.Add(shift).Format(n.layout)
			if i := strings.Index(key, text); i >= 0 && !digitAt(key, i-1) && !digitAt(key, i+len(text)) {
				return n.period, key[:i] + n.placeholder + key[i+len(text):], true
			}
		}
	}
	return "", "", false
}

func digitAt(s string, i int) bool { return i >= 0 && i < len(s) && s[i] >= '0' && s[i] <= '9' }
