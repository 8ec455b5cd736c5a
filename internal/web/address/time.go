// Package address reads and writes the parameters of pages' addresses: the time that a page
// shows, with its control, and the place at which a list continues.
package address

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/keyheat/keyheat/internal/settings/options"
)

// Range is the time that a page shows.
type Range struct {
	From, To time.Time
	// Span is the length if the address names one; zero otherwise.
	Span time.Duration
	// Chosen reports that the address names a time; Live, that the range ends now and
	// goes on.
	Chosen, Live bool
}

const (
	defaultSpan = time.Hour
	// MaxSpan is the longest range, and minSpan the shortest.
	MaxSpan = 400 * time.Hour
	minSpan = 10 * time.Second
)

// presets are the lengths that the time control offers: in steps of a second, ten, and so
// on.
var presets = []struct {
	word string
	time.Duration
}{{"5 min", 5 * time.Minute}, {"1 h", time.Hour}, {"6 h", 6 * time.Hour}, {"2 days", 48 * time.Hour}, {"14 days", 14 * 24 * time.Hour}}

var timeParameters = []string{"span", "from", "to"}

// TimeValues returns the parameters of an address that choose a time.
func TimeValues(values url.Values) url.Values {
	chosen := make(url.Values)
	for _, name := range timeParameters {
		if value := values.Get(name); value != "" {
			chosen.Set(name, value)
		}
	}
	return chosen
}

// CarryTime returns a link with the time of an address; as it is if the link chooses a time
// of its own.
func CarryTime(link string, chosen url.Values) string {
	u, err := url.Parse(link)
	if err != nil || len(chosen) == 0 {
		return link
	}
	values := u.Query()
	if len(TimeValues(values)) > 0 {
		return link
	}
	maps.Copy(values, chosen)
	u.RawQuery = values.Encode()
	return u.String()
}

// ParseRange reads span, from and to from an address. An address without a time
// chooses the default range. A span without to ends with the default range, or now if
// that has no end; to=now names the present. An error is for who wrote the address.
func ParseRange(values url.Values, now time.Time, byDefault Range) (r Range, err error) {
	r = byDefault
	from, to := values.Get("from"), values.Get("to")
	if r.Chosen = from+to+values.Get("span") != ""; !r.Chosen {
		return r, nil
	}
	if r.To.IsZero() {
		r.To, r.Live = now.UTC(), true
	}
	span := defaultSpan
	if text := values.Get("span"); text != "" {
		if span, err = options.ParseDuration(text); err != nil {
			return r, BadRequest{Err: fmt.Errorf("span %q: give a duration such as 1h", text)}
		}
		r.Span = span
	}
	switch {
	case to == "now":
		r.To, r.Live = now.UTC(), true
	case to != "":
		r.Live = false
		if r.To, err = parseTime("to", to); err != nil {
			return r, err
		}
	}
	r.From = r.To.Add(-span)
	if from != "" {
		r.Span = 0
		if r.From, err = parseTime("from", from); err != nil {
			return r, err
		}
	}
	return r, r.validate(now)
}

func (r Range) validate(now time.Time) error {
	from, to := r.From.Format(time.RFC3339), r.To.Format(time.RFC3339)
	switch length := r.To.Sub(r.From); {
	case length <= 0:
		return BadRequest{Err: fmt.Errorf("from %s to %s: give a beginning before the end", from, to)}
	case length < minSpan || length > MaxSpan:
		return BadRequest{Err: fmt.Errorf("from %s to %s: give from %s to %d days", from, to, minSpan, MaxSpan/(24*time.Hour))}
	case r.From.After(now):
		return BadRequest{Err: fmt.Errorf("from %s: give a beginning in the past", from)}
	}
	return nil
}

// parseTime reads a time of an address or of a form's field, in UTC.
func parseTime(name, text string) (at time.Time, err error) {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04"} {
		if at, err = time.Parse(layout, text); err == nil && at.Year() >= 1971 && at.Year() <= 9000 {
			return at.UTC(), nil
		}
	}
	return at, BadRequest{Err: fmt.Errorf("%s %q: give a time such as 2026-11-22T12:00:00Z", name, text)}
}

// LastHour is the hour before now.
func LastHour(now time.Time) Range {
	return Range{From: now.Add(-defaultSpan).UTC(), To: now.UTC(), Live: true}
}

// Window writes the range, with seconds if it is short and does not consist of minutes.
func (r Range) Window() string {
	if r.From.IsZero() {
		return "Other time"
	}
	day, clock := "2 Jan ", "15:04"
	if whole := r.From.Second() == 0 && r.To.Second() == 0; r.To.Sub(r.From) < 6*time.Hour && !whole {
		clock = "15:04:05"
	}
	from, to := r.From.UTC(), r.To.UTC()
	end := clock
	if from.Format(day) != to.Format(day) {
		end = day + clock
	}
	return from.Format(day+clock) + " – " + to.Format(end) + " UTC"
}

// Choice is a link among others, of which one is chosen.
type Choice struct {
	Word, Link string
	Chosen     bool
}

// Parameter is a parameter that a form keeps.
type Parameter struct{ Name, Value string }

// Parameters returns the parameters of an address in the order of their names.
func Parameters(of url.Values) (all []Parameter) {
	for _, name := range slices.Sorted(maps.Keys(of)) {
		all = append(all, Parameter{name, of.Get(name)})
	}
	return all
}

// TimeControl is the time control of a page, for the template of that name.
type TimeControl struct {
	Range
	// Path is where the form leads, and Kept are its other parameters.
	Path string
	Kept []Parameter
	// Spans choose a length.
	Spans []Choice
	// Back, Later and Now lead to another time of the same length; they are empty for a
	// page without bounds.
	Back, Later, Now string
}

// NewTimeControl returns the time control of a page. of are the page's other parameters,
// asked the address's. byDefault names the range of an address without a time.
func NewTimeControl(path string, of, asked url.Values, r Range, byDefault string, now time.Time) TimeControl {
	c := TimeControl{Range: r, Path: path, Kept: Parameters(of)}
	if r.Live && r.To.Sub(r.From) >= presets[0].Duration { // a page that is followed would change every second
		c.From, c.To = r.From.Truncate(time.Minute), r.To.Truncate(time.Minute)
	}
	link := func(span, to string) string {
		values := make(url.Values)
		maps.Copy(values, of)
		for _, p := range []Parameter{{"span", span}, {"to", to}} {
			if p.Value != "" {
				values.Set(p.Name, p.Value)
			}
		}
		return strings.TrimSuffix(path+"?"+values.Encode(), "?")
	}
	c.Spans = []Choice{{byDefault, link("", ""), !r.Chosen}}
	for _, p := range presets {
		c.Spans = append(c.Spans, Choice{p.word, link(options.FormatDuration(p.Duration), asked.Get("to")), r.Span == p.Duration})
	}
	if r.From.IsZero() {
		return c
	}
	length := r.To.Sub(r.From).Round(time.Second)
	moved := func(by time.Duration) string {
		to := "now"
		if at := r.To.Add(by).Truncate(time.Second); at.Before(now) {
			to = at.Format(time.RFC3339)
		}
		return link(options.FormatDuration(length), to)
	}
	c.Back, c.Later, c.Now = moved(-length/2), moved(length/2), moved(now.Sub(r.To)+time.Second)
	return c
}
