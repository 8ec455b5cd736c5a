package options

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

// maxDays is about the longest time.Duration.
const maxDays = 106_000

// ParseDuration reads a length of time as operators write it: Go's notation, with days in
// front, such as 500ms, 2s, 24h, 7d or 1d12h. A day has 24 hours. A number needs a unit,
// zero too.
func ParseDuration(text string) (time.Duration, error) {
	days, rest, found := strings.Cut(text, "d")
	if !found {
		days, rest = "", text
	}
	var d time.Duration
	if found {
		n, err := strconv.ParseUint(days, 10, 32)
		if err != nil || n > maxDays {
			return 0, fmt.Errorf("%.40q is no duration: write 2s, 10m, 24h or 7d", text)
		}
		d = time.Duration(n) * day
	}
	if rest == "" && found {
		return d, nil
	}
	if found && strings.ContainsAny(rest, "+-") || rest == "0" {
		return 0, fmt.Errorf("%.40q is no duration: write 2s, 10m, 24h or 7d", text)
	}
	more, err := time.ParseDuration(rest)
	if err != nil || d+more < d && more > 0 {
		return 0, fmt.Errorf("%.40q is no duration: write 2s, 10m, 24h or 7d", text)
	}
	return d + more, nil
}

// FormatDuration writes a duration for [ParseDuration], without zeros at its end, and in
// days from two whole days on.
func FormatDuration(d time.Duration) string {
	if d >= 2*day && d%day == 0 {
		return fmt.Sprint(int64(d/day), "d")
	}
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// DurationFlag is a duration that the command line sets; it implements pflag.Value.
type DurationFlag time.Duration

// Set reads the flag's text.
func (f *DurationFlag) Set(text string) error {
	d, err := ParseDuration(text)
	if err != nil {
		return errors.New("write 2s, 10m, 24h or 7d")
	}
	*f = DurationFlag(d)
	return nil
}

// String returns the text that sets the flag.
func (f *DurationFlag) String() string { return FormatDuration(time.Duration(*f)) }

// Type names the value in help texts.
func (f *DurationFlag) Type() string { return "duration" }
