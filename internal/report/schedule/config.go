package schedule

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/keyheat/keyheat/internal/report"
	"github.com/keyheat/keyheat/internal/settings/options"
)

// Schedule is a report's times and content.
type Schedule struct {
	// Name is unique; it is in the names of files.
	Name string
	// Cron holds the times, in Zone, an IANA time zone; UTC when empty.
	Cron, Zone string
	// Tables are the report's tables; see [report.Request].
	Tables []string
	// Period is how long before the due time the report begins. When 0 it begins where
	// the one before ended, at first at the due time before.
	Period time.Duration
	// Folder is where its files are written; none are when empty. Formats are their
	// formats, HTML when empty.
	Folder  string
	Formats []report.Format
	// Routes get each report.
	Routes []string
}

// named are names that are safe in a file's name and in a URL.
var named = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// Faults returns everything that is wrong with a schedule.
func (s Schedule) Faults() (all []options.Fault) {
	fault := func(field, format string, args ...any) {
		all = append(all, options.Fault{Field: field, Err: fmt.Errorf(format, args...)})
	}
	if !named.MatchString(s.Name) {
		fault("name", "the name %q: give up to 64 letters, digits, dots, dashes and underscores, a letter or digit first", s.Name)
	}
	if _, err := ParseTimes(s.Cron, s.Zone); errors.Is(err, errZone) {
		fault("time_zone", "%w", err)
	} else if err != nil {
		fault("cron", "%w", err)
	}
	if s.Period != 0 && s.Period < time.Hour {
		fault("period", "a period of %s: give an hour or more, or 0 for all time since the report before", s.Period)
	}
	for _, f := range s.Formats {
		if !slices.Contains(report.Formats(), f) {
			fault("formats", "format %q: give one of %s", f, strings.Join(report.FormatNames(), ", "))
		}
	}
	return all
}

// spec is when the schedule is due, as the store compares it.
func (s Schedule) spec() string { return s.Cron + " " + s.Zone }

func (s Schedule) formats() []report.Format {
	if len(s.Formats) == 0 {
		return []report.Format{report.HTML}
	}
	return s.Formats
}

// The defaults and bounds of a [Maker].
const (
	// defaultPoll is how often it is looked whether a report is due.
	defaultPoll = 15 * time.Second
	// settleTime is how long after its due time a report is made: the last seconds of its
	// period have to be stored and judged.
	settleTime = time.Minute
	// lease is how long other reporters wait for one that does not renew it.
	lease = 2 * time.Minute
	// maxFiled is how many reports a pass writes to a folder that could not be written
	// for a while.
	maxFiled = 20
)
