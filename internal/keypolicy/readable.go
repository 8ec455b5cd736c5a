package keypolicy

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/keyheat/keyheat/shardkey"
)

// separators stand between the components of keys. A hash covers the text between two
// hashSeparators; any separator may bound a readable part.
const (
	separators    = "#|:/_-., "
	hashSeparator = "#"
)

// nearby is how far a readable date may be from the request's: the day before and the
// day after, wherever on earth it is written.
const nearby = 2 * dayMillis

const dayMillis = 24 * 60 * 60 * 1000

// span is a part of a text that stays.
type span struct{ from, to int }

// readable returns the parts of a key that stay readable in a request of a time in
// Unix milliseconds, in order and apart from each other.
func (p *Policy) readable(text string, at int64) []span {
	var all []span
	for i := 0; i < len(text); {
		if n := p.readableAt(text, i, at); n > 0 {
			all = append(all, span{i, i + n})
			i += n
			continue
		}
		next := strings.IndexAny(text[i:], separators)
		if next < 0 {
			break
		}
		i += next + 1
	}
	if p.Shards != nil {
		return p.withNumber(text, all)
	}
	return all
}

// readableAt returns the length of the readable part at the beginning of a component, 0
// for none.
func (p *Policy) readableAt(text string, i int, at int64) int {
	rest := text[i:]
	if n := timeLength(rest, at); n > 0 && ends(rest, n) {
		return n
	}
	for _, mark := range shardMarks {
		if i == 0 || !strings.HasPrefix(text[i-1:], mark) {
			continue
		}
		n := len(mark) - 1
		digits := digitsAt(rest, n)
		if digits > 0 && digits <= maxShardDigits && ends(rest, n+digits) {
			return n + digits
		}
	}
	end := strings.IndexAny(rest, separators)
	if end < 0 {
		end = len(rest)
	}
	if slices.Contains(p.Words, rest[:end]) {
		return end
	}
	return 0
}

// withNumber adds the number of a shard where the policy's form finds one.
func (p *Policy) withNumber(text string, all []span) []span {
	base, shard, is := p.Shards.Parse(text)
	if !is {
		return all
	}
	number := span{0, len(text)}
	switch n := len(strconv.Itoa(shard)) + len(p.Shards.Before) + len(p.Shards.After); {
	case p.Shards.Alone:
	case p.Shards.Prefix:
		number.to = n
	default:
		number.from = len(base)
	}
	all = slices.DeleteFunc(all, func(s span) bool { return s.to > number.from && s.from < number.to })
	all = append(all, number)
	slices.SortFunc(all, func(a, b span) int { return a.from - b.from })
	return all
}

// shardMarks are the marks of shards that a word names.
var shardMarks = func() (all []string) {
	for _, f := range shardkey.Forms() {
		if len(f.Before) > 1 {
			all = append(all, f.Before)
		}
	}
	return all
}()

// maxShardDigits is of how many digits a shard's number is at most (see shardkey).
const maxShardDigits = 6

// ends reports whether a component ends behind so many bytes.
func ends(text string, n int) bool {
	return n == len(text) || strings.IndexByte(separators, text[n]) >= 0
}

func digitsAt(text string, i int) int {
	n := 0
	for i+n < len(text) && text[i+n] >= '0' && text[i+n] <= '9' {
		n++
	}
	return n
}

// dateForms are the ways of writing a day into a key, and clockForms the times that may
// follow, the longest first.
var (
	dateForms  = []string{"2006-01-02", "2006/01/02", "2006.01.02", "20060102"}
	clockForms = []string{"T15:04:05", " 15:04:05", "T15:04", "T15-04", " 15:04", "-15-04", "T1504", "T150405", "T15", "-15", " 15", "#15", "150405", "1504", "15"}
)

// stamp is a date or time that begins a text: its length there, and its span in Unix
// milliseconds.
type stamp struct {
	n        int
	from, to int64
}

// stampsOf returns the ways to read the beginning of a text as a date or time.
func stampsOf(text string) (all []stamp) {
	digits := digitsAt(text, 0)
	if digits < 4 {
		return nil // nearly every key
	}
	if digits == secondDigits || digits == milliDigits {
		if unix, err := strconv.ParseInt(text[:digits], 10, 64); err == nil {
			if digits == secondDigits {
				unix *= 1000
			}
			all = append(all, stamp{digits, unix, unix})
		}
	}
	if monday, n := weekAt(text); n > 0 {
		all = append(all, stamp{n, monday, monday + 7*dayMillis - 1})
	}
	for _, form := range dateForms {
		if len(text) < len(form) {
			continue
		}
		if day, err := time.Parse(form, text[:len(form)]); err == nil {
			n := len(form) + clockLength(text[len(form):])
			all = append(all, stamp{n, day.UnixMilli(), day.UnixMilli() + dayMillis - 1})
		}
	}
	return all
}

// timeLength returns the length of the date or time near a request's that begins a text.
func timeLength(text string, at int64) int {
	for _, s := range stampsOf(text) {
		if at >= s.from-nearby && at <= s.to+nearby {
			return s.n
		}
	}
	return 0
}

// clockLength returns the length of the time of day that follows a date, with its
// fraction and zone.
func clockLength(text string) int {
	for _, form := range clockForms {
		if len(text) < len(form) || digitsAt(text, len(form)) > 0 {
			continue
		}
		if _, err := time.Parse(form, text[:len(form)]); err != nil {
			continue
		}
		n := len(form)
		if strings.HasPrefix(text[n:], ".") {
			n += 1 + digitsAt(text, n+1)
		}
		if strings.HasPrefix(text[n:], "Z") {
			n++
		}
		return n
	}
	return 0
}

// Unix times have so many digits in seconds and in milliseconds from 2001 to 2286.
const secondDigits, milliDigits = 10, 13

// weekAt returns the Monday of the ISO week that begins a text, such as 2026-W47, and its
// length; 0 for none.
func weekAt(text string) (monday int64, n int) {
	for _, mark := range []string{"-W", "W", "-w", "w"} {
		if !strings.HasPrefix(text[4:], mark) || digitsAt(text, 4+len(mark)) != 2 {
			continue
		}
		n = 4 + len(mark) + 2
		year, _ := strconv.Atoi(text[:4])
		week, _ := strconv.Atoi(text[n-2 : n])
		// The fourth of January is in the first week.
		begin := time.Date(year, time.January, 4, 0, 0, 0, 0, time.UTC)
		begin = begin.AddDate(0, 0, 7*(week-1)-int(begin.Weekday()+6)%7)
		if y, w := begin.ISOWeek(); y == year && w == week {
			return begin.UnixMilli(), n
		}
	}
	return 0, 0
}

// timesIn returns request times at which a date or time in a text is readable, one for
// each day and each way of reading.
func timesIn(text string) (all []int64) {
	for i := 0; i < len(text); {
		for _, s := range stampsOf(text[i:]) {
			for at := s.from - nearby; at <= s.to+nearby; at += dayMillis {
				all = append(all, at)
			}
		}
		next := strings.IndexAny(text[i:], separators)
		if next < 0 {
			break
		}
		i += next + 1
	}
	return all
}
