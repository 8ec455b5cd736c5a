package analyze

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/partition"
	"github.com/keyheat/keyheat/internal/intake"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/format"
	"github.com/keyheat/keyheat/sketch"
)

// samples gathers files into seconds, for the tables as they are and again for each
// candidate key. It is the source's sink.
type samples struct {
	*sketches
	decoder    format.Decoder
	files      *format.FileDecoder // the decoder, of files; else nil
	tally      *intake.Tally
	gaps       []sample.Gap
	notes      []string
	candidates []*candidate
	recent     *sample.Recent       // finds samples that the input has twice
	hide       func(*sample.Record) // nil hides nothing
	hidden     sample.Record        // the record at hand, where keys are hidden
	unsorted   map[string]bool      // the tables whose items have a partition key alone, by name
	overlap    *intake.Overlap      // nil for a single file
	types      keyTypes
	// delivered are the changes of each stream shard; nil if the source has none, or keys
	// are hidden: an edge of a partition is a key's position. from is the shard at hand.
	delivered map[string]*partition.Delivered
	from      *partition.Delivered
}

// candidate is the traffic under another partition key.
type candidate struct {
	Candidate
	*sketches
	// parts counts the records of each table; bounded by the shard's tables.
	parts map[sample.Target]*parts
}

// parts counts the records that lack a part of a candidate, their weight, and the weight of
// all records with a key.
type parts struct {
	without       int64
	lacking, load float64
}

// recentIDs is the room for samples with an ID, to find repeated ones: 8 MiB.
const recentIDs = 1 << 20

func newSamples(o Options) *samples {
	memory := cmp.Or(o.Memory, DefaultMemory) / int64(1+len(o.Candidates))
	_, sharded := o.Source.(Sharded)
	sharded = sharded && o.Hide == nil
	f := &samples{sketches: newSeconds(memory, sharded, o.policy()), tally: &intake.Tally{Hidden: o.Hide != nil, Table: o.Mapping.Table}, recent: sample.NewRecent(recentIDs), hide: o.Hide, unsorted: map[string]bool{}}
	if o.Source != nil {
		f.decoder = format.NewDecoder(o.Source.Form(), o.Tables)
	} else {
		f.files, f.grids = format.NewFileDecoder(o.Tables, o.Mapping), map[detect.Target]*grid{}
		f.decoder, f.tally.Fields = f.files, f.files
	}
	if sharded {
		f.delivered = map[string]*partition.Delivered{}
	}
	for _, c := range o.Candidates {
		f.candidates = append(f.candidates, &candidate{Candidate: c, sketches: newSeconds(memory, false, o.policy()), parts: map[sample.Target]*parts{}})
	}
	return f
}

func (f *samples) Record(r *sample.Record) {
	if f.recent.Repeats(r) {
		f.tally.Bad(intake.ReasonDuplicate, nil)
		return
	}
	if f.hide != nil {
		f.hidden = *r // the decoder's own record stays as it is
		r = &f.hidden
		f.hide(r)
	}
	if err := f.shard.Add(r); err != nil { // the shard has only one error
		f.tally.Bad(intake.ReasonTooManyTables, nil)
		return
	}
	f.tally.Good(r)
	f.types.add(r)
	if f.files != nil && f.files.HasWholeKeys(r) && !f.unsorted[r.Table] && r.SK.IsZero() {
		f.unsorted[strings.Clone(r.Table)] = true
	}
	if f.from != nil && r.Index == "" {
		f.from.Add(r)
	}
	for _, c := range f.candidates {
		c.add(r)
	}
}

// add counts a record under the candidate's key. It leaves out requests of indexes,
// because the candidate is the table's key.
func (c *candidate) add(r *sample.Record) {
	if r.Index != "" || r.PK.IsZero() {
		return
	}
	var l sketch.Load
	l.Read, l.Write = r.Load()
	weight := float64(detect.Weight(l))
	p := c.parts[r.Target()]
	if p == nil {
		kept := r.Clone()
		p = &parts{}
		c.parts[kept.Target()] = p
	}
	p.load += weight
	key, ok := c.Key(r)
	if !ok {
		p.without++
		p.lacking += weight
		return
	}
	again := *r
	again.PK = key
	_ = c.shard.Add(&again) // the shard has room for its table
}

// keyTypes finds tables whose keys come in several types. DynamoDB's have one.
type keyTypes struct {
	of    map[string]string // by table
	mixed []string
}

func (k *keyTypes) add(r *sample.Record) {
	kind, known := k.of[r.Table]
	switch {
	case r.Index != "" || r.PK.IsZero():
	case !known:
		if k.of == nil {
			k.of = map[string]string{}
		}
		k.of[strings.Clone(r.Table)] = strings.Clone(r.PK.Type)
	case kind != r.PK.Type && !slices.Contains(k.mixed, r.Table):
		k.mixed = append(k.mixed, strings.Clone(r.Table))
	}
}

func (k *keyTypes) notes() (all []string) {
	for _, table := range k.mixed {
		all = append(all, printable(table)+": keys come as texts and as numbers, or as bytes, but a table's keys have one type. 42 and \"42\" count as two keys: write them alike.")
	}
	return all
}

// facts adds what the samples themselves show of their tables, where it is not known otherwise.
func (f *samples) facts(known func(detect.Target) *detect.TableFacts) func(detect.Target) *detect.TableFacts {
	return func(t detect.Target) *detect.TableFacts {
		facts := known(t)
		if !f.unsorted[t.Table] || facts != nil && facts.SortKey != nil {
			return facts
		}
		var own detect.TableFacts
		if facts != nil {
			own = *facts
		}
		own.SortKey = []string{}
		return &own
	}
}

func (f *samples) Bad(reason sample.RejectReason, excerpt []byte) { f.tally.Bad(reason, excerpt) }

func (f *samples) message(m source.Message) error {
	f.tally.Message(m.Value, m.Line)
	if m.Fault != "" {
		f.tally.Bad(intake.ReasonUnreadable, m.Value)
		return nil
	}
	if f.overlap != nil {
		f.overlap.Message(m.Value)
	}
	f.decoder.Decode(m.Value, m.Time, f)
	err := f.sealIfFull()
	for _, c := range f.candidates {
		err = errors.Join(err, c.sealIfFull())
	}
	if errors.Is(err, errFull) {
		return fmt.Errorf("%w, after %s samples: read a shorter time, the lines of one table, or allow more with --memory", errFull, wording.Count(f.tally.GoodRecords()))
	}
	return err
}

func (f *samples) Claim(_ context.Context, c source.Claim) (source.Partition, error) {
	f.tally.Begin(c.Partition)
	f.files.Begin()
	if f.overlap != nil {
		f.overlap.Begin(c.Partition)
	}
	return &file{into: f, source: "file", path: c.Partition, position: c.First}, nil
}

// file is one file, or another partition of a source, while it is read.
type file struct {
	into                   *samples
	source, path, position string
}

func (f *file) Position() string { return f.position }

func (f *file) Mark() string { return "" }

// CommittedPosition implements source.Partition: nothing is ever durable here.
func (f *file) CommittedPosition() string { return "" }

func (f *file) Release(context.Context) error { return nil }

func (f *file) Fold(ctx context.Context, b source.Batch) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if b.Messages != nil {
		for m := range b.Messages {
			if err := f.into.message(m); err != nil {
				return err
			}
		}
	}
	f.position = b.Next
	return nil
}

func (f *file) Gap(_ context.Context, g sample.Gap) error {
	f.into.gaps = append(f.into.gaps, sample.Gap{
		Source: f.source, Partition: f.path, From: g.From, To: g.To,
		Since: g.Since, Until: g.Until, Reason: g.Reason,
	})
	f.position = g.To
	return nil
}
