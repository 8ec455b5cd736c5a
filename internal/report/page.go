package report

import (
	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/partition"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/internal/say/wording"
)

// maxListed is how many rows of a kind a page for people has. JSON has all.
const maxListed = 50

// maxDetailed is the number of incidents that a page describes in sentences.
const maxDetailed = 5

// page is a report in the words of a page for people, for HTML and Markdown.
type page struct {
	Request
	Title, Summary, Period, Zone, About, Made string
	// Top and WarmTop are the worst of Hot and of Warm, in sentences.
	Top        []incidentRow
	WarmTop    []incidentRow
	Hot        list[incidentRow]
	Warm       list[incidentRow]
	Partitions list[partition.View]
	// PartitionTime tells of when their loads are.
	PartitionTime string
	Stopped       string
	Wrote         string
	Problems      list[collectorProblem]
	Gaps          list[Gap]
	Coverage      list[Coverage]
	Cut           []string
}

// list is the rows that are shown, and how many more there are.
type list[T any] struct {
	Rows []T
	More int
}

func listOf[F, T any](from []F, row func(F) T) list[T] {
	var l list[T]
	for _, f := range from[:min(len(from), maxListed)] {
		l.Rows = append(l.Rows, row(f))
	}
	l.More = len(from) - len(l.Rows)
	return l
}

// listAll returns the list of rows that the templates read as they are.
func listAll[T any](from []T) list[T] { return listOf(from, func(row T) T { return row }) }

// Skip returns the rows after the first n.
func (l list[T]) Skip(n int) list[T] { return list[T]{l.Rows[min(n, len(l.Rows)):], l.More} }

type subject struct{ Key, Table, Where string }

type incidentRow struct {
	subject
	Cause, Load, Began, Until, Times, Why, Fix, Limits, Owner, CloudWatch string
	Severity                                                              detect.Severity
	State                                                                 detect.State
	// Silenced means that its notifications were held back for a while.
	Silenced bool
}

func (p *Report) page() page {
	v := page{
		Request: p.Request,
		Title:   p.title(), Summary: sentences(p.Summary), Period: p.Moment(p.From) + " to " + p.Moment(p.To),
		Zone: p.location().String(), About: p.subject(), Made: p.Moment(p.Made),
		Hot: listOf(p.Hot, p.incidentRow), Warm: listOf(p.Warm, p.incidentRow),
		Partitions: listAll(p.Partitions), PartitionTime: say.PartitionTime(p.Files != nil), Cut: p.NotSeen.Cut,
		Wrote: say.CollectorsWrote(p.NotSeen.Collectors), Problems: listAll(p.NotSeen.Problems), Gaps: listAll(p.NotSeen.Gaps), Coverage: listAll(p.NotSeen.Coverage),
	}
	v.Top = v.Hot.Rows[:min(len(v.Hot.Rows), maxDetailed)]
	v.WarmTop = v.Warm.Rows[:min(len(v.Warm.Rows), maxDetailed-len(v.Top))]
	if p.NotSeen.Stopped != nil {
		v.Stopped = say.CollectionStopped(p.Moment(*p.NotSeen.Stopped))
	}
	if p.Files != nil {
		v.Wrote = say.FileSamples(p.Files.Samples, p.Files.Bad, p.Files.Notes)
	}
	return v
}

func subjectOf(k detect.KeyRef) subject {
	if k == (detect.KeyRef{}) {
		return subject{Table: wording.Place(k.Target)}
	}
	s := subject{Table: short(k.Table)}
	if s.Key = short(k.Key); k.Key == "" {
		s.Key = "(whole table)"
		if k.Index != "" {
			s.Key = "(whole index)"
		}
	}
	if k.Index != "" {
		s.Table += " / " + short(k.Index)
	}
	switch {
	case k.Account != "" && k.Region != "":
		s.Where = short(k.Account) + ", " + short(k.Region)
	default:
		s.Where = short(k.Account + k.Region)
	}
	return s
}

func (p *Report) incidentRow(i Incident) incidentRow {
	r := incidentRow{
		subject: subjectOf(i.KeyRef), Cause: say.Name(i.Subject, i.Case), Severity: i.Severity, State: i.State,
		Load: orUnknown(i.Utilization, wording.WholePercent), Began: p.Moment(i.Began), Until: "still open", Times: orUnknown(i.Times, count),
		Why: sentences(i.Why), Fix: sentences(i.FirstFix), Limits: sentences(i.Limits), Owner: short(i.Owner), CloudWatch: say.CorroborationName(i.CloudWatch), Silenced: i.Silenced,
	}
	switch {
	case i.State != detect.Resolved:
	case i.Resolved != nil:
		r.Until = p.Moment(*i.Resolved)
	default:
		r.Until = "over"
	}
	return r
}

// functions are the words of the templates, with other people's texts made readable.
var functions = map[string]any{
	"empty": func() say.EmptyParts { return say.Empty },
	"short": short[string], "long": func(s string) string { return clip(s, maxLong) },
	"sentences": sentences, "part": part, "cut": say.Cut, "split": say.DescribeSplit, "splits": listAll[detect.PartitionSplit], "forecasts": say.ForecastScore,
	"fullest":    func(v partition.View) string { return sentences(say.FullestPartition(v.State, v.Partitions)) },
	"partitions": func(v partition.View) string { return sentences(say.Partitions(&v)) },
	"owner":      func(of detect.Target) subject { return subjectOf(detect.KeyRef{Target: of}) },
}
