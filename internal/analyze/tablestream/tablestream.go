// Package tablestream makes analyze read a table's DynamoDB stream in place of files. It
// looks the table up, and explains cost and progress to a person.
package tablestream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/analyze"
	"github.com/keyheat/keyheat/internal/aws/catalog"
	"github.com/keyheat/keyheat/internal/cli/terminal"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/internal/settings/options"
	"github.com/keyheat/keyheat/internal/settings/tables"
	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/internal/source/shards/streams"
	"github.com/keyheat/keyheat/sample/format"
)

// Options selects the stream, and how to read it.
type Options struct {
	Table string
	// Last is the length of the judged time, which ends now; at most [Longest].
	Last   time.Duration
	Follow bool
	// Rate is the number of GetRecords requests a second and shard; at most [MostRequests].
	Rate float64
	// Tables has the written settings of tables, for use where DescribeTable is denied.
	Tables tables.Tables
	Out    io.Writer
}

// Longest is how long a stream keeps its records.
const Longest = streams.Retention

// MostRequests is the most requests a second and shard: DynamoDB serves five, of all
// readers together.
const MostRequests = 4

// Source is a table's stream, read once. It implements [analyze.Source].
type Source struct {
	Options
	source *reading
	out    terminal.Progress
	notes  []string
	cut    bool // the reading was interrupted
}

// Open describes the table, sets it as analyze's source, and announces the reading.
func Open(ctx context.Context, settings aws.Config, options Options, o *analyze.Options) error {
	s := &Source{Options: options, out: terminal.Progress{Out: options.Out}}
	described, err := catalog.Describe(ctx, dynamodb.NewFromConfig(settings), s.Table)
	_, written := s.Tables.Schemas(settings.Region)[s.Table]
	switch {
	case errors.Is(err, catalog.ErrDenied) && written: // the file has the table's keys
		s.notes = append(s.notes, err.Error()+". The verdict lacks the table's capacity.")
	case errors.Is(err, catalog.ErrDenied):
		return fmt.Errorf("%s: %w, or write its keys into a file for --tables", s.Table, err)
	case err != nil:
		return fmt.Errorf("%s in %s: %w", s.Table, settings.Region, err)
	default:
		s.learn(o, &described)
	}
	s.source = &reading{
		Log: streams.NewLog(dynamodbstreams.NewFromConfig(settings)), table: s.Table, follow: s.Follow,
		since: time.Now().Add(-s.Last).Truncate(time.Second), pageEvery: time.Duration(float64(time.Second) / s.Rate),
	}
	if s.Follow {
		s.source.onListed = func(open int) { s.out.Paragraph(s.running(open)) }
	}
	o.Source = s
	s.out.Paragraph(s.warning(len(described.Facts.Replicas) > 0))
	return nil
}

// learn adds DynamoDB's description of the table to the options.
func (s *Source) learn(o *analyze.Options, d *catalog.Table) {
	all := make(format.Tables, len(o.Tables)+1)
	for name, table := range o.Tables {
		all[name] = table
	}
	all[s.Table] = format.Table{Schema: d.Schema}
	o.Tables = all
	facts, written := make(detect.FactsByTable), o.Facts
	facts.Add(d.Target, &d.Facts)
	o.Facts = func(target detect.Target) *detect.TableFacts {
		return written(target).Merge(facts.Find(target))
	}
	if d.Facts.Stream == "" {
		return // Run reports a missing stream
	}
	view, err := d.StreamView()
	if err != nil {
		view = err.Error()
	}
	s.notes = append(s.notes, s.Table+": "+view+".")
}

// warning explains, before the reading begins, how it affects other readers of the stream.
func (s *Source) warning(replicated bool) string {
	readers := "two readers of a shard at a time: this is one, so beside two Lambda triggers or other consumers all may be throttled"
	if replicated {
		readers = "one reader of a shard of a global table at a time: this is one, so beside a Lambda trigger or another consumer both may be throttled"
	}
	end := "Ctrl-C ends it with the verdict on what was read, a second one at once"
	if s.Follow {
		end = fmt.Sprintf("It goes on, at %s requests an hour for each open shard, until Ctrl-C, which ends it with the verdict on "+
			"what was read; a second one ends it at once", wording.Count(s.hourly(1)))
	} else {
		end += "; it ends by itself when everything is read"
	}
	return fmt.Sprintf("Reading the stream of %s, the last %s, with %s a second and shard. "+
		"DynamoDB serves %s. %s.",
		s.Table, options.FormatDuration(s.Last), perSecond(s.Rate), readers, end)
}

// hourly returns how many GetRecords requests an hour it takes to follow so many shards.
func (s *Source) hourly(open int) int64 {
	return int64(math.Round(float64(open) * s.Rate * float64(time.Hour/time.Second)))
}

// running explains the cost of following, once the number of shards is known.
func (s *Source) running(open int) string {
	requests, shards := s.hourly(open), wording.Count(int64(open))+" shards are open"
	if open == 1 {
		shards = "1 shard is open"
	}
	const hours = 24 * 30
	return fmt.Sprintf("%s: to follow them takes %s requests for records an hour, $%.3f in US East, or $%.2f in 30 days. "+
		"%s a month are free in an account and Region. A lower --requests costs less, and is as much later.",
		shards, wording.Count(requests), dollars(requests), hours*dollars(requests), wording.Count(freeRequests))
}

func perSecond(rate float64) string {
	if rate == 1 {
		return "one request"
	}
	return fmt.Sprintf("%g requests", rate)
}

// Name implements analyze.Source.
func (s *Source) Name() string { return "the stream of " + s.Table }

// Form implements analyze.Source.
func (s *Source) Form() format.Format { return format.Stream }

// Following implements analyze.Source.
func (s *Source) Following() time.Duration {
	if s.Follow {
		return s.Last
	}
	return 0
}

// Tell implements analyze.Source.
func (s *Source) Tell(line string) { s.out.Paragraph(line) }

// Notes implements analyze.Source.
func (s *Source) Notes() []string { return s.notes }

// enable returns the remedy for a table without a stream.
func (s *Source) enable() string {
	return "enable one with aws dynamodb update-table --table-name " + s.Table +
		" --stream-specification StreamEnabled=true,StreamViewType=NEW_AND_OLD_IMAGES, which shows what is written from then on"
}

// Run implements analyze.Source.
func (s *Source) Run(ctx context.Context, sink source.Sink) error {
	drawn := s.draw(ctx)
	err := s.source.run(ctx, sink)
	s.cut = ctx.Err() != nil && !s.Follow
	drawn()
	status := s.source.status()
	switch {
	case errors.Is(err, errNoStream):
		return fmt.Errorf("%s has no stream: %s", s.Table, s.enable())
	case err != nil:
		return fmt.Errorf("%s: %w", s.Table, err)
	case status.disabled && status.records == 0 && status.done == status.shards:
		return fmt.Errorf("the stream of %s is disabled, and holds nothing of the last %s: %s", s.Table, options.FormatDuration(s.Last), s.enable())
	case status.disabled:
		s.notes = append(s.notes, "The stream is disabled: later writes are not in it.")
	}
	s.notes = append([]string{s.account(&status), blind}, s.notes...)
	if s.cut {
		s.notes = append(s.notes, "Nothing of it is kept: the same command reads from the beginning again.")
	}
	return nil
}

// blind names the requests that no stream shows.
const blind = "A stream shows the writes that succeeded: reads, and what was throttled, are not in it."

// account describes the records read and their cost.
func (s *Source) account(a *status) string {
	read := wording.Count(a.records) + " changes"
	if a.records > 0 {
		read += ", written from " + a.from.UTC().Format(time.RFC3339) + " to " + a.to.UTC().Format(time.RFC3339)
	}
	price := fmt.Sprintf("$%.2f", dollars(a.requests))
	if dollars(a.requests) < 0.01 {
		price = "less than $0.01"
	}
	throttled := ""
	if a.throttled > 0 {
		throttled = fmt.Sprintf("; %s were throttled, and repeated", wording.Count(a.throttled))
	}
	return fmt.Sprintf("Read from the stream of %s: %s, in %s of %s shards. Requests: %s GetRecords, "+
		"which cost %s in US East unless they are among the %s of a month that are free, and %s others, which are free%s.",
		s.Table, read, wording.Count(int64(a.done)), wording.Count(int64(a.shards)), wording.Count(a.requests),
		price, wording.Count(freeRequests), wording.Count(a.others), throttled)
}

// followEvery is how often a log of lines shows the progress of an endless reading.
const followEvery = 10 * time.Minute

// draw shows how far the reading is until the returned function is called.
func (s *Source) draw(ctx context.Context) (stop func()) {
	elsewhere := terminal.TellEvery
	if s.Follow {
		elsewhere = followEvery
	}
	return s.out.Draw(ctx, elsewhere, func() string {
		status := s.source.status()
		return s.line(&status)
	})
}

// line describes the progress within the width of a line.
func (s *Source) line(a *status) string {
	line := "listing shards"
	if a.shards > 0 {
		line = fmt.Sprintf("%d%%", int(100*a.share))
	}
	if s.Follow {
		line = "following"
	}
	more := []string{
		fmt.Sprintf("%s of %s shards", wording.Count(int64(a.done)), wording.Count(int64(a.shards))),
		wording.Count(a.records) + " changes", wording.Count(a.requests) + " requests",
	}
	if s.Follow {
		more[0] = wording.Count(int64(a.shards)) + " shards"
	} else if a.left > 0 {
		more = append(more, "about "+wording.Span(a.left)+" left")
	}
	if a.throttled > 0 {
		more = append(more, wording.Count(a.throttled)+" throttled")
	}
	return terminal.Line(line, more)
}
