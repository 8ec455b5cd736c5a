package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/wording"
	"github.com/keyheat/keyheat/internal/analyze"
	"github.com/keyheat/keyheat/internal/catalog"
	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/form"
	"github.com/keyheat/keyheat/internal/retry"
	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/internal/source/shards/history"
	"github.com/keyheat/keyheat/internal/source/shards/streams"
	"github.com/keyheat/keyheat/internal/tables"
	"github.com/keyheat/keyheat/internal/terminal"
)

// streamFlags say which table's stream analyze reads, and how.
type streamFlags struct {
	table  *string
	last   *time.Duration
	follow *bool
	rate   *float64
}

func newStreamFlags(c *cobra.Command) *streamFlags {
	f := &streamFlags{
		table:  c.Flags().String("stream", "", "read the DynamoDB stream of this `table` in the place of files"),
		last:   c.Flags().Duration("last", streams.Retention, "with --stream: the `time` up to now that is judged"),
		follow: c.Flags().Bool("follow", false, "with --stream: go on until Ctrl-C, and tell of hot keys as they begin"),
		rate:   c.Flags().Float64("requests", 1, "with --stream: GetRecords requests a `second` and shard, up to 4"),
	}
	return f
}

// maxRequests is the most requests a second and shard: DynamoDB serves five, of all
// readers together.
const maxRequests = 4

// apply lets analyze read the stream, if one is named.
func (f *streamFlags) apply(c *cobra.Command, o *analyze.Options, known tables.Tables) error {
	if *f.table == "" {
		for _, of := range []string{"stream", "last", "follow", "requests"} {
			if c.Flags().Changed(of) {
				return cli.Wrong(fmt.Errorf("--%s: name a table with --stream", of))
			}
		}
		return nil
	}
	for _, of := range []string{"map", "map-file", "time-unit", "table"} {
		if c.Flags().Changed(of) {
			return cli.Wrong(fmt.Errorf("--%s is for files: a stream's records have one form", of))
		}
	}
	switch {
	case len(o.Paths) > 0:
		return cli.Wrong(fmt.Errorf("--stream %s is read in the place of files: leave out %s", *f.table, o.Paths[0]))
	case *f.last < time.Second || *f.last > streams.Retention:
		return cli.Wrong(fmt.Errorf("--last %s: a stream keeps 24 hours: give 1s to 24h", span(*f.last)))
	case *f.rate < 0.01 || *f.rate > maxRequests:
		return cli.Wrong(fmt.Errorf("--requests %g: give 0.01 to %d", *f.rate, maxRequests))
	}
	context.AfterFunc(c.Context(), func() { signal.Reset(os.Interrupt, syscall.SIGTERM) }) // the second ends the process
	settings, err := cli.AWSWithCredentials(c.Context())
	if err != nil {
		return cli.Wrong(err)
	}
	s := &stream{name: *f.table, last: *f.last, follow: *f.follow, rate: *f.rate, out: progress{out: c.ErrOrStderr()}}
	return s.open(c.Context(), settings, o, known)
}

// open describes the table, lets analyze read the stream, and says what is going to be
// read.
func (s *stream) open(ctx context.Context, settings aws.Config, o *analyze.Options, known tables.Tables) error {
	described, err := catalog.Describe(ctx, dynamodb.NewFromConfig(settings), s.name)
	_, written := known.Schemas(settings.Region)[s.name]
	switch {
	case errors.Is(err, catalog.ErrDenied) && written: // the file says which keys it has
		s.notes = append(s.notes, err.Error()+". The verdict lacks the table's capacity.")
	case errors.Is(err, catalog.ErrDenied):
		return fmt.Errorf("%s: %w, or write its keys into a file for --tables", s.name, err)
	case err != nil:
		return fmt.Errorf("%s in %s: %w", s.name, settings.Region, err)
	default:
		s.learn(o, &described)
	}
	s.source = history.New(history.Config{
		Table: s.name, Since: time.Now().Add(-s.last).Truncate(time.Second), Follow: s.follow,
		PageEvery: time.Duration(float64(time.Second) / s.rate),
	}, streams.NewLog(dynamodbstreams.NewFromConfig(settings)))
	o.Source = s
	s.out.paragraph(s.warning(len(described.Facts.Replicas) > 0))
	return nil
}

// learn takes over what DynamoDB says of the table.
func (s *stream) learn(o *analyze.Options, d *catalog.Table) {
	all := make(form.Tables, len(o.Tables)+1)
	for name, table := range o.Tables {
		all[name] = table
	}
	all[s.name] = form.Table{Schema: d.Schema}
	o.Tables = all
	facts, written := make(detect.FactsByTable), o.Facts
	facts.Add(d.Target, &d.Facts)
	o.Facts = func(of detect.Target) *detect.TableFacts { return written(of).Over(facts.Of(of)) }
	if d.Facts.Stream == "" {
		return // said when its streams are listed
	}
	view, err := d.StreamView()
	if err != nil {
		view = err.Error()
	}
	s.notes = append(s.notes, s.name+": "+view+".")
}

// stream is a table's stream, read once. It implements analyze.Source.
type stream struct {
	name   string
	last   time.Duration
	follow bool
	rate   float64 // of requests a second and shard
	source *history.Source
	out    progress
	notes  []string
	cut    bool // the reading was interrupted
}

// warning says before anything is read what that means to other readers.
func (s *stream) warning(replicated bool) string {
	readers := "two readers of a shard at a time: this is one, so beside two Lambda triggers or other consumers all may be throttled"
	if replicated {
		readers = "one reader of a shard of a global table at a time: this is one, so beside a Lambda trigger or another consumer both may be throttled"
	}
	end := "Ctrl-C ends it with the verdict on what was read"
	if !s.follow {
		end += ", and it ends by itself when everything is read"
	}
	return fmt.Sprintf("Reading the stream of %s, the last %s, with %s a second and shard. "+
		"DynamoDB serves %s. %s.",
		s.name, span(s.last), perSecond(s.rate), readers, end)
}

// span writes a time without its zeros: 3h, and not 3h0m0s.
func span(d time.Duration) string {
	text := d.Round(time.Second).String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

func perSecond(rate float64) string {
	if rate == 1 {
		return "one request"
	}
	return fmt.Sprintf("%g requests", rate)
}

// Name implements analyze.Source.
func (s *stream) Name() string { return "the stream of " + s.name }

// Form implements analyze.Source.
func (s *stream) Form() form.Form { return form.Stream }

// Follow implements analyze.Source.
func (s *stream) Follow() time.Duration {
	if s.follow {
		return s.last
	}
	return 0
}

// Tell implements analyze.Source.
func (s *stream) Tell(line string) { s.out.paragraph(line) }

// Notes implements analyze.Source.
func (s *stream) Notes() []string { return s.notes }

// enable is how a table gets a stream that shows all that is needed.
func (s *stream) enable() string {
	return "enable one with aws dynamodb update-table --table-name " + s.name +
		" --stream-specification StreamEnabled=true,StreamViewType=NEW_AND_OLD_IMAGES, which shows what is written from then on"
}

// Run implements analyze.Source.
func (s *stream) Run(ctx context.Context, sink source.Sink) error {
	drawn := s.draw(ctx)
	err := s.source.Run(ctx, sink)
	s.cut = ctx.Err() != nil && !s.follow
	drawn()
	status := s.source.Status()
	switch {
	case errors.Is(err, history.ErrNoStream):
		return fmt.Errorf("%s has no stream: %s", s.name, s.enable())
	case err != nil:
		return fmt.Errorf("%s: %w", s.name, err)
	case status.Disabled && status.Records == 0 && status.Done == status.Shards:
		return fmt.Errorf("the stream of %s is disabled, and holds nothing of the last %s: %s", s.name, span(s.last), s.enable())
	case status.Disabled:
		s.notes = append(s.notes, "The stream is disabled: later writes are not in it.")
	}
	s.notes = append([]string{s.account(&status), blind}, s.notes...)
	if s.cut {
		s.notes = append(s.notes, "Nothing of it is kept: the same command reads from the beginning again.")
	}
	return nil
}

// blind is what no stream shows.
const blind = "A stream shows the writes that succeeded: reads, and what was throttled, are not in it."

// account says what was read, and what that cost.
func (s *stream) account(a *history.Status) string {
	read := wording.Count(a.Records) + " changes"
	if a.Records > 0 {
		read += ", written from " + a.From.UTC().Format(time.RFC3339) + " to " + a.To.UTC().Format(time.RFC3339)
	}
	price := fmt.Sprintf("$%.2f", history.Dollars(a.Requests))
	if history.Dollars(a.Requests) < 0.01 {
		price = "less than $0.01"
	}
	throttled := ""
	if a.Throttled > 0 {
		throttled = fmt.Sprintf("; %s were throttled, and repeated", wording.Count(a.Throttled))
	}
	return fmt.Sprintf("Read from the stream of %s: %s, in %s of %s shards. Requests: %s GetRecords, "+
		"which cost %s in US East unless they are among the %s of a month that are free, and %s others, which are free%s.",
		s.name, read, wording.Count(int64(a.Done)), wording.Count(int64(a.Shards)), wording.Count(a.Requests),
		price, wording.Count(history.FreeRequests), wording.Count(a.Others), throttled)
}

// How often progress is drawn on a terminal, and told elsewhere.
const (
	drawEvery   = time.Second
	tellEvery   = 30 * time.Second
	followEvery = 10 * time.Minute
)

// draw shows how far the reading is until the returned function is called.
func (s *stream) draw(ctx context.Context) (stop func()) {
	every := tellEvery
	switch {
	case s.out.live():
		every = drawEvery
	case s.follow:
		every = followEvery
	}
	drawing, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var drawn sync.WaitGroup
	drawn.Go(func() {
		for retry.Pause(drawing, every); drawing.Err() == nil; retry.Pause(drawing, every) {
			status := s.source.Status()
			s.out.show(s.line(&status))
		}
		s.out.clear()
	})
	return func() { cancel(); drawn.Wait() }
}

// width is what a terminal of 80 columns shows in one line.
const width = 79

// line says how far the reading is, in as many words as a line has room for.
func (s *stream) line(a *history.Status) string {
	line := "listing shards"
	if a.Shards > 0 {
		line = fmt.Sprintf("%d%%", int(100*a.Share))
	}
	if s.follow {
		line = "following"
	}
	more := []string{
		fmt.Sprintf("%s of %s shards", wording.Count(int64(a.Done)), wording.Count(int64(a.Shards))),
		wording.Count(a.Records) + " changes", wording.Count(a.Requests) + " requests",
	}
	if s.follow {
		more[0] = wording.Count(int64(a.Shards)) + " shards"
	} else if a.Left > 0 {
		more = append(more, "about "+span(a.Left.Round(max(time.Second, a.Left/50).Round(time.Second)))+" left")
	}
	if a.Throttled > 0 {
		more = append(more, wording.Count(a.Throttled)+" throttled")
	}
	for _, part := range more {
		if next := line + ", " + part; utf8.RuneCountInString(next) <= width {
			line = next
		}
	}
	return line
}

// progress is where a person reads what is going on: a terminal, in which the last line
// changes, or a log of lines.
type progress struct {
	out io.Writer

	mu    sync.Mutex
	shown bool // the last line is to be replaced
}

func (p *progress) live() bool { return terminal.Is(p.out) }

// show shows a line in the place of the one that it showed before.
func (p *progress) show(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.live() {
		fmt.Fprintln(p.out, line)
		return
	}
	p.erase()
	fmt.Fprint(p.out, line)
	p.shown = true
}

// paragraph writes sentences that stay.
func (p *progress) paragraph(sentences string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
	for line := range strings.Lines(text.WrapSoft(sentences, width) + "\n") {
		fmt.Fprintln(p.out, strings.TrimRight(line, " \n"))
	}
}

// clear takes the shown line away.
func (p *progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
}

// erase empties the last line, if it is to be replaced. The lock is held.
func (p *progress) erase() {
	if p.shown {
		fmt.Fprint(p.out, "\r\x1b[K")
		p.shown = false
	}
}
