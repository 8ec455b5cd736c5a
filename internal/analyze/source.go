package analyze

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/detect/partition"
	"github.com/keyheat/keyheat/internal/daemon"
	"github.com/keyheat/keyheat/internal/judge/fold"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/internal/source/files"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/format"
)

// Source is an input other than files, such as a table's stream.
type Source interface {
	// Run passes all records to the sink, from any number of partitions at once. When ctx
	// ends it returns without an error, and the verdict covers the passed records.
	Run(ctx context.Context, sink source.Sink) error
	Name() string
	// Format is the format of its messages.
	Form() format.Format
	// Notes are sentences about the reading, once Run has returned.
	Notes() []string
	// Following returns how long load counts while Run goes on until ctx ends: findings
	// are printed meanwhile. 0 if Run ends by itself.
	Following() time.Duration
	// Tell receives a line for each incident that begins meanwhile.
	Tell(line string)
}

// Sharded is a Source whose partitions are the stream shards of one table.
type Sharded interface {
	Source
	// Shards returns all shards of the table, once Run has returned.
	Shards() []partition.Listed
}

// Remote opens files that are not on this machine, such as objects of S3.
type Remote interface {
	files.Remote
	// Notes are sentences about the reading, once it is over.
	Notes() []string
}

func (f *samples) readSource(ctx context.Context, o Options) error {
	f.tally.Begin(o.Source.Name())
	s := &sharedSamples{samples: f, source: string(o.Source.Form())}
	telling, stop := context.WithCancel(ctx)
	var told sync.WaitGroup
	if o.Source.Following() > 0 {
		told.Go(func() { s.tellIncidents(telling, o) })
	}
	err := o.Source.Run(ctx, s)
	stop()
	told.Wait()
	f.notes = o.Source.Notes()
	return err
}

// sharedSamples are samples whose partitions are read concurrently.
type sharedSamples struct {
	mu      sync.Mutex
	samples *samples
	source  string
}

func (s *sharedSamples) Claim(_ context.Context, c source.Claim) (source.Partition, error) {
	return &sharedPart{file: file{into: s.samples, source: s.source, path: c.Partition, position: c.First}, shared: s}, nil
}

// sharedPart is a sharedSamples's source.Partition.
type sharedPart struct {
	file
	shared *sharedSamples
}

func (p *sharedPart) Fold(ctx context.Context, b source.Batch) error {
	p.shared.mu.Lock()
	defer p.shared.mu.Unlock()
	f := p.into
	if f.delivered != nil {
		if f.delivered[p.path] == nil {
			f.delivered[p.path] = &partition.Delivered{}
		}
		f.from = f.delivered[p.path]
	}
	return p.file.Fold(ctx, b)
}

func (p *sharedPart) Gap(ctx context.Context, g sample.Gap) error {
	p.shared.mu.Lock()
	defer p.shared.mu.Unlock()
	return p.file.Gap(ctx, g)
}

// tellEvery is the interval between two looks for incidents while a source is followed.
// Each look judges all seconds that count again.
const tellEvery = time.Minute

// tellIncidents prints incidents as they begin, until ctx ends.
func (s *sharedSamples) tellIncidents(ctx context.Context, o Options) {
	told := make(map[string]bool)
	for daemon.Pause(ctx, tellEvery); ctx.Err() == nil; daemon.Pause(ctx, tellEvery) {
		incidents := s.incidents(o)
		open := make(map[string]bool, len(incidents))
		for i := range incidents {
			in := &incidents[i]
			if in.Severity == detect.Info {
				continue
			}
			if open[in.ID] = true; !told[in.ID] {
				o.Source.Tell(fmt.Sprintf("%s  %s  %s", in.OpenedAt.UTC().Format(time.RFC3339), in.Severity, wording.Printable(in.Title)))
			}
		}
		told = open // a forgotten incident may be printed again
	}
}

// incidents judges the samples so far, as long as they count.
func (s *sharedSamples) incidents(o Options) []say.Incident {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.samples.windows.Forget(time.Now().Add(-o.Source.Following()).Unix())
	options := o.board()
	judged, err := s.samples.judge(options, fold.NewViewsOfAll(options.Policy))
	if err != nil {
		return nil // the result has the same error
	}
	return say.Incidents(casebook.Incidents(judged.findings), judged.findings)
}
