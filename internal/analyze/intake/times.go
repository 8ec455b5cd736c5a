package intake

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// digits are numbers as times are, whole or with a fraction.
var digits = regexp.MustCompile(`[0-9]{9,19}`)

// units are the units of numeric times, by their present number of digits.
var units = map[int][2]string{
	9: {"s", "seconds"}, 10: {"s", "seconds"}, 13: {"ms", "milliseconds"}, 16: {"us", "microseconds"}, 19: {"ns", "nanoseconds"},
}

// timeAdvice describes the fault of a time: its likely unit or layout.
func timeAdvice(g glimpse) advice {
	field, value := g.of.FieldName("ts"), strings.TrimSpace(g.of.Value(g.line, "ts"))
	if number, err := strconv.ParseFloat(strings.Replace(value, ",", ".", 1), 64); err == nil {
		value = strconv.FormatFloat(number, 'f', 0, 64)
	}
	if a, known := writtenAs(field, value); known {
		return a
	}
	from := g.line
	if at := bytes.Index(from, []byte(`"`+field+`"`)); at >= 0 {
		from = from[at:]
	}
	for _, of := range [][]byte{[]byte(value), from, g.line} {
		for _, number := range digits.FindAll(of, 8) {
			if u, known := units[len(number)]; known {
				return advice{text: fmt.Sprintf("%s looks like %s: --time-unit %s", field, u[1], u[0]), fits: 3}
			}
		}
	}
	return advice{text: field + " is no time that is known: write RFC 3339 such as 2026-11-21T12:00:00.123Z, Unix milliseconds or another --time-unit, " +
		"or say how it is written, as in --time-layout '%d.%m.%Y %H:%M:%S'", fits: 1}
}

// written matches dates and times as people write them: the date's three parts, the
// separator before the time, hour, seconds, half of the day, and zone.
var written = regexp.MustCompile(`^(\d{1,4})([./-])(\d{1,2})([./-])(\d{1,4})(?:(,? |T)(\d{1,2}):\d{2}(:\d{2}(?:([.,])\d+)?)?( ?)([AaPp][Mm])?( ?)(Z|[+-]\d{2}:?(?:\d{2})?)?)?$`)

// writtenAs names the layout of a time with days, months and years, if it is one.
func writtenAs(field, text string) (a advice, known bool) {
	m := written.FindStringSubmatch(text)
	if m == nil || m[2] != m[4] {
		return a, false
	}
	switch {
	case m[6] == "":
		return advice{text: field + " is a day without a time, and hot keys are judged by the second", fits: 1}, true
	case m[8] == "":
		return advice{text: field + " has no seconds, and hot keys are judged by the second: write it with them", fits: 1}, true
	}
	clock := m[6] + "%H:%M:%S"
	if m[11] != "" {
		clock = m[6] + "%I:%M:%S"
	}
	if m[9] != "" {
		clock += m[9] + "%f"
	}
	space := m[10] + m[12]
	if m[11] != "" {
		clock += m[10] + "%p"
		space = m[12]
	}
	if m[13] != "" {
		clock += space + "%z"
	}
	layout := func(parts ...string) string { return shellQuote(strings.Join(parts, m[2]) + clock) }
	year := "%Y"
	if len(m[5]) < 3 {
		year = "%y"
	}
	first, _ := strconv.Atoi(m[1]) // both are digits
	second, _ := strconv.Atoi(m[3])
	dayFirst, monthFirst := layout("%d", "%m", year), layout("%m", "%d", year)
	const say = " is a time whose layout must be said: --time-layout "
	switch {
	case len(m[1]) > 2:
		return advice{text: field + say + layout("%Y", "%m", "%d"), fits: 3}, true
	case m[2] == "." || first > 12:
		return advice{text: field + say + dayFirst, fits: 3}, true
	case second > 12:
		return advice{text: field + say + monthFirst, fits: 3}, true
	}
	return advice{text: fmt.Sprintf("%s may have the day or the month first: --time-layout %s or %s", field, dayFirst, monthFirst), fits: 2}, true
}
