package web

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/detect/partition"
	"github.com/keyheat/keyheat/internal/chart"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/internal/web/fleet"
	"github.com/keyheat/keyheat/internal/web/heatmap"
	"github.com/keyheat/keyheat/internal/web/status"
	"github.com/keyheat/keyheat/sample"
)

// percent writes a share; of an unknown share, nothing.
func percent(share any) string {
	switch v := share.(type) {
	case float64:
		return wording.WholePercent(v)
	case *float64:
		if v != nil {
			return percent(*v)
		}
	}
	return ""
}

var stateWords = map[detect.State]string{detect.Firing: "Firing", detect.Pending: "Pending", detect.Resolved: "Resolved"}

// shownKey is how much of a key a list shows, in characters: keys may have 2 KB.
const shownKey = 120

// subject names what a finding is about.
func subject(s detect.Subject, c detect.Case, key sample.Text) string {
	switch {
	case c == casebook.SamplesStopped:
		return "Samples"
	case s.OfPipeline():
		return "Keyheat itself"
	case s.OfTable(), s == detect.SubjectSamples, c == casebook.FewValues, c == casebook.MovingSpot:
		return "All keys"
	}
	return keytext(key)
}

// keytext quotes a key with spaces at its ends or unprintable characters, which a page
// would not show.
func keytext[T ~string](key T) string {
	shown := wording.Printable(key)
	switch {
	case key == "":
		return "(empty)"
	case T(shown) != key || strings.TrimSpace(shown) != shown:
		return "“" + shown + "”"
	}
	return shown
}

// templateKeytext is [keytext] for templates, whose values are strings or text of the
// monitored system.
func templateKeytext(key any) string {
	if text, is := key.(sample.Text); is {
		return keytext(text)
	}
	return keytext(fmt.Sprint(key))
}

// ofLimit returns the ratio of a finding's load to a partition's limit; empty for a
// finding about a whole table or about Keyheat itself.
func ofLimit(f detect.Finding) string {
	if f.Subject.OfPipeline() {
		return ""
	}
	_, of := wording.Load(&f)
	return of
}

func verdictClass(v detect.DesignVerdict) string {
	switch v {
	case detect.DesignExcellent, detect.DesignGood:
		return "calm"
	case detect.DesignWatch:
		return "warning"
	case detect.DesignUnjudged:
		return "plain"
	}
	return "critical"
}

func tableLink(of detect.Target) string { return "/table?" + indexValues(of).Encode() }

func partitionsLink(of detect.Target) string { return "/partitions?" + targetValues(of).Encode() }

func mapClass(s partition.State) string {
	switch s {
	case partition.Withdrawn, partition.Doubtful:
		return "warning"
	case partition.Learning:
		return "plain"
	}
	return "calm"
}

func heatLink(of detect.Target) string { return "/heat?" + indexValues(of).Encode() }

func findingHeatLink(f detect.Finding) string {
	around := max(f.LastSeen.Sub(f.FirstSeen)/4, 30*time.Second)
	return heatmap.LinkTo(indexValues(f.Target), detect.SideOf(&f, chart.Write, chart.Read), f.FirstSeen.Add(-around), f.LastSeen.Add(around))
}

func findingsLink(of detect.Target) string { return "/?" + targetValues(of).Encode() }

func indexValues(of detect.Target) url.Values {
	values := targetValues(of)
	values.Set("index", of.Index)
	return values
}

// targetValues returns the filters that choose a table; its unknown parts match any
// value.
func targetValues(of detect.Target) url.Values {
	values := url.Values{"table": {of.Table}}
	if of.Account != "" {
		values.Set("account", of.Account)
	}
	if of.Region != "" {
		values.Set("region", of.Region)
	}
	return values
}

// sharePercent writes a share with enough digits to tell small ones apart.
func sharePercent(share float64) string {
	if share < 0.1 {
		return fmt.Sprintf("%.2g%%", 100*share)
	}
	return percent(share)
}

// tablePageLink returns where a row's page is, or its findings if it has none.
func tablePageLink(r fleet.Row) string {
	if r.View != nil || r.Past != nil {
		return tableLink(r.Target)
	}
	return findingsLink(r.Target)
}

// hotLink returns where a table's hottest key is: its finding, or the heat around it.
func hotLink(r fleet.Row) string {
	if r.Hot == nil {
		return ""
	}
	if r.Hot.Finding != "" {
		return "/findings/" + r.Hot.Finding
	}
	what := chart.Read
	if r.Hot.Writes {
		what = chart.Write
	}
	const around = 5 * time.Minute
	return heatmap.LinkTo(indexValues(r.Target), what, r.Hot.At.Add(-around), r.Hot.At.Add(around))
}

// health is the link to the status page: a dot with its text.
type health struct{ Class, Text string }

func newHealth(s status.Status) health {
	worst, problems := s.Health()
	switch {
	case problems > 0:
		return health{string(worst), wording.Plural(problems, "problem", "problems")}
	case worst == status.Well:
		return health{string(worst), "Running"}
	case s.NoSamples() != "":
		return health{"unknown", s.NoSamples()}
	case !s.Clock.IsZero() && s.LastSample().IsZero():
		return health{"unknown", "No samples yet"}
	}
	return health{"unknown", "Status unknown"}
}
