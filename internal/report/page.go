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
	// Facts are four numbers with a name.
	Facts []fact
	// Top and WarmTop are the worst of Hot and of Warm, in sentences.
	Top     []incidentRow
	WarmTop []incidentRow
	Hot     list[incidentRow]
	Warm    list[incidentRow]
	// Partitions are tables with the evidence for their partitions.
	Partitions list[partitionsRow]
	// PartitionTime tells of when their loads are.
	PartitionTime string
	Stopped       string
	Wrote         string
	Problems      list[collectorProblem]
	Gaps          list[Gap]
	Coverage      list[Coverage]
	Cut           []string
}

type fact struct{ Name, Value string }

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

// partitionsRow is a table's partitions in sentences.
type partitionsRow struct {
	subject
	// Fullest and Forecasts are empty if nothing is known of them.
	Fullest, Forecasts, Evidence string
	Splits                       list[detect.PartitionSplit]
}

func (p *Report) page() page {
	v := page{
		Request: p.Request,
		Title:   p.title(), Summary: sentences(p.Summary), Period: p.Moment(p.From) + " to " + p.Moment(p.To),
		Zone: p.location().String(), About: p.subject(), Made: p.Moment(p.Made),
		Hot: listOf(p.Hot, p.incidentRow), Warm: listOf(p.Warm, p.incidentRow),
		Partitions: listOf(p.Partitions, p.partitionsRow), Cut: p.NotSeen.Cut,
	}
	ended := make(map[detect.State]int)
	for _, i := range p.Hot {
		ended[i.State]++
	}
	v.Facts = []fact{{"fired", count(len(p.Hot))}, {"firing at the end", count(ended[detect.Firing])}, {"over at the end", count(ended[detect.Resolved])},
		{"gaps", count(len(p.NotSeen.Gaps))}}
	v.PartitionTime = say.PartitionTime(p.Files != nil)
	if p.blind() {
		for i := range v.Facts {
			v.Facts[i].Value = "not known"
		}
	}
	v.Top = v.Hot.Rows[:min(len(v.Hot.Rows), maxDetailed)]
	v.WarmTop = v.Warm.Rows[:min(len(v.Warm.Rows), maxDetailed-len(v.Top))]
	p.addNotSeen(&v)
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
		subject: subjectOf(i.KeyRef), Cause: say.CauseName(i.Cause), Severity: i.Severity, State: i.State,
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

func (p *Report) partitionsRow(v partition.View) partitionsRow {
	return partitionsRow{
		subject: subjectOf(detect.KeyRef{Target: v.Target}),
		Fullest: sentences(say.FullestPartition(v.State, v.Partitions)), Forecasts: say.ForecastScore(v.Splits), Evidence: sentences(say.Partitions(&v)),
		Splits: listAll(v.Splits),
	}
}

func (p *Report) addNotSeen(v *page) {
	n := &p.NotSeen
	if n.Stopped != nil {
		v.Stopped = say.CollectionStopped(p.Moment(*n.Stopped))
	}
	v.Wrote = say.CollectorsWrote(n.Collectors)
	if p.Files != nil {
		v.Wrote = say.FileSamples(p.Files.Samples, p.Files.Bad, p.Files.Notes)
	}
	v.Problems, v.Gaps, v.Coverage = listAll(n.Problems), listAll(n.Gaps), listAll(n.Coverage)
}

// functions are the words of the templates, with other people's texts made readable.
var functions = map[string]any{
	"empty": func() say.EmptyParts { return say.Empty },
	"short": short[string], "long": func(s string) string { return clip(s, maxLong) },
	"sentences": sentences, "part": part, "split": say.DescribeSplit,
	"owner": func(of detect.Target) subject { return subjectOf(detect.KeyRef{Target: of}) },
}
