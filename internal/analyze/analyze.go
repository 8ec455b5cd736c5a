// Package analyze finds the hot keys in files of samples, or in another source such as a
// table's stream: one process, no server, nothing stored. It uses the daemons' decoders and
// sketch, and the part of the reporter's judge that knows no store ([verdict.Watch]). It
// recognises the format of a file from its content: Keyheat JSON, DynamoDB stream records,
// CloudTrail; or a mapping names the fields.
//
// Files need not be in the order of time. So every second is kept, packed, until all is read,
// and then judged in the order of time. Over a bound of memory seconds are trimmed to their
// hottest keys; proven loads stay true. If that is not enough, an error names a smaller part
// to read.
package analyze

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/board"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/detect/keydesign"
	"github.com/keyheat/keyheat/detect/partition"
	"github.com/keyheat/keyheat/detect/recipe"
	"github.com/keyheat/keyheat/detect/whatif"
	"github.com/keyheat/keyheat/internal/cli/terminal"
	"github.com/keyheat/keyheat/internal/intake"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/internal/settings/options"
	"github.com/keyheat/keyheat/internal/source/files"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/format"
	"github.com/keyheat/keyheat/sample/mapped"
)

// Format is an output format.
type Format string

// The output formats.
const (
	FormatTable Format = "table"
	FormatJSON  Format = "json"
	FormatCSV   Format = "csv"
	FormatHTML  Format = "html"
)

// Formats lists every format.
func Formats() []Format { return []Format{FormatTable, FormatJSON, FormatCSV, FormatHTML} }

// Options choose the input and the output.
type Options struct {
	// Paths are files: plain, gzip or zstd; "-" is In.
	Paths []string
	// Source, if set, is read in place of Paths.
	Source Source
	// Remote, if set, opens the Paths that belong to it.
	Remote Remote
	// In is standard input, Out takes the result. Err takes warnings and, if it is a
	// terminal, the progress.
	In  io.Reader
	Out io.Writer
	Err io.Writer
	// Format is FormatTable when empty.
	Format Format
	// Top is the most findings that FormatTable shows, 40 when 0.
	Top int
	// Policy returns the policy of a table or index; nil is detect's default
	// for all.
	Policy func(detect.Target) detect.Policy
	// Tables complete stream records and CloudTrail events. Nil suffices for tables
	// without a sort key, but hides their indexes.
	Tables format.Tables
	// Names are the settings that name a table or index: each gets a warning if no sample
	// has its name.
	Names []options.NamedSetting
	// Mapping names the fields of samples in formats other than Keyheat JSON. It must be
	// valid.
	Mapping mapped.Mapping
	// Facts returns the known facts of a table beside its traffic; nil is none.
	Facts func(detect.Target) *detect.TableFacts
	// Hide replaces hidden keys of a record before it is counted; nil hides nothing.
	Hide func(*sample.Record)
	// Candidates are other partition keys to compare with the present ones.
	Candidates []Candidate
	// Explain lists keys, or patterns of several keys, to explain. Verbose adds the
	// evidence, the bounds and the steps in full.
	Explain []string
	Verbose bool
	// Code lists the languages of the code for explained keys' shards.
	Code []recipe.Language
	// WhatIf are questions about other numbers of shards.
	WhatIf []whatif.Question
	// FailOn is the severity from which findings are an error; empty for none. The
	// verdict must then cover all input: a gap is an error too, and so are a doubt, a
	// verdict on less than half of the lines, and many samples with repeated ids.
	FailOn detect.Severity
	// Memory is the number of bytes that the seconds may take; DefaultMemory when 0. The
	// process takes some 300 MB beside it.
	Memory int64
}

// DefaultMemory holds a day of 100 tables with some keys in every second.
const DefaultMemory = 1 << 30

// ErrNothingJudged is the error of [Run] when too little could be read for a verdict. Run
// still writes the result.
var ErrNothingJudged = errors.New("nothing could be judged")

// ErrFound is the error of [Run] when a finding is as severe as FailOn.
var ErrFound = errors.New("found")

// ErrUnknownKey is the error of [Run] for a key of Explain or WhatIf without a kept sample. Run
// still writes the result.
var ErrUnknownKey = errors.New("no samples")

// Run reads the files and writes the result. Bad samples beside good ones are no error.
// An unreadable file is an error, and so are [ErrNothingJudged], [ErrFound] and
// [ErrUnknownKey].
func Run(ctx context.Context, o Options) error {
	if o.Format == "" {
		o.Format = FormatTable
	}
	if !slices.Contains(Formats(), o.Format) {
		return fmt.Errorf("format %q: give one of %v", o.Format, Formats())
	}
	if o.Facts == nil {
		o.Facts = func(detect.Target) *detect.TableFacts { return nil }
	}
	if o.Source == nil && len(o.Paths) == 0 {
		return errors.New(`no files: name some, or "-" for standard input`)
	}
	f, err := read(ctx, o)
	if err != nil {
		return err
	}
	o.Facts = f.facts(o.Facts)
	result, err := f.result(o)
	if err != nil {
		return err
	}
	seen := make([]sample.Target, len(result.Tables))
	for i := range result.Tables {
		seen[i] = result.Tables[i].Target
	}
	for _, warning := range options.CheckSettings(o.Names, seen) {
		_, _ = fmt.Fprintf(o.Err, "warning: --tables: %v\n", warning) // the result stands
	}
	unknown, err := f.write(result, o)
	if err != nil {
		return err
	}
	return cmp.Or(result.fail(o.FailOn), f.rejectUnknown(unknown))
}

// fail returns the error of findings from a severity on.
func (r *Result) fail(on detect.Severity) error {
	s := &r.Samples
	if !s.Judged {
		why := say.IntakeCause(s)
		if len(r.Gaps) > 0 {
			why = printable(r.Gaps[0].Partition) + ": " + printable(r.Gaps[0].Reason)
		}
		return fmt.Errorf("%w: %s", ErrNothingJudged, why)
	}
	if on == "" {
		return nil
	}
	n := 0
	for i := range r.Findings {
		if detect.Rank(r.Findings[i].Severity) >= detect.Rank(on) {
			n++
		}
	}
	switch {
	case n > 0:
		return fmt.Errorf("%w: findings of severity %s or worse: %d", ErrFound, on, n)
	case len(r.Doubts) > 0:
		return fmt.Errorf("no finding of %s or worse, but keys may have been over a limit: %d", on, len(r.Doubts))
	case len(r.Gaps) > 0:
		return fmt.Errorf("no finding of %s or worse, but not all could be read. %s", on, notCounted(&r.Gaps[0]))
	case s.AtLeast():
		return fmt.Errorf("no finding of %s or worse, but keys may have been over a limit. %s", on, say.IntakeBound(s))
	case say.Sums(r.Tables) != "":
		return fmt.Errorf("no finding of %s or worse is proven, but single seconds are not seen. %s", on, say.Sums(r.Tables))
	case s.Refusing > 0:
		return fmt.Errorf("no finding of %s or worse, but requests were refused. %s", on, say.UnreadRefusals(s))
	case *s.Share < failBelow, s.RepeatsMuch(), s.Unrepeated != "":
		return fmt.Errorf("no finding of %s or worse, but much was not judged. %s", on, cmp.Or(say.RepeatedIDs(s), say.UnrepeatedKey(s), say.IntakeShare(s)))
	}
	return nil
}

// failBelow is the share of the lines that a verdict must cover for a pipeline to pass.
const failBelow = 0.5

// write writes the result, or the answers to the questions about it. It returns the keys that
// are asked for and not in the samples.
func (f *samples) write(result *Result, o Options) (unknown []sample.Text, err error) {
	unknown = result.listUnknown(o.WhatIf)
	if o.Format != FormatTable || len(o.Explain)+len(o.WhatIf) == 0 {
		return unknown, result.write(o.Out, &o)
	}
	for i, key := range o.Explain {
		if i > 0 {
			_, _ = io.WriteString(o.Out, "\n\n") // the next write returns the error
		}
		e := f.explain(key, result, o)
		if err := e.write(o.Out); err != nil {
			return nil, fmt.Errorf("write the explanation: %w", err)
		}
		if e.isUnknown() {
			unknown = append(unknown, sample.Text(key))
		}
	}
	if len(o.WhatIf) > 0 {
		if len(o.Explain) > 0 {
			_, _ = io.WriteString(o.Out, "\n\n")
		}
		if err := result.writeWhatIf(o.Out, o.WhatIf); err != nil {
			return nil, fmt.Errorf("write the answers: %w", err)
		}
	}
	return unknown, nil
}

// rejectUnknown returns the error of a key without samples, with the nearest key that has
// some: a misspelt key must not look calm.
func (f *samples) rejectUnknown(keys []sample.Text) error {
	if len(keys) == 0 {
		return nil
	}
	hint := ""
	if nearest := f.nearestKey(keys[0]); nearest != "" {
		hint = fmt.Sprintf(": did you mean %q?", nearest)
	}
	return fmt.Errorf("%w of %q%s", ErrUnknownKey, keys[0], hint)
}

func read(ctx context.Context, o Options) (*samples, error) {
	if err := config().Validate(); err != nil {
		return nil, err
	}
	f := newSamples(o)
	if o.Source != nil {
		return f, f.readSource(ctx, o)
	}
	src := files.Source{Paths: o.Paths, In: o.In}
	if terminal.Is(o.Err) {
		src.Progress = o.Err
	}
	if o.Remote != nil {
		src.Remote = o.Remote
	}
	f.overlap = intake.NewOverlap()
	if err := src.Run(ctx, f); err != nil {
		return nil, err
	}
	if o.Remote != nil {
		f.notes = o.Remote.Notes()
	}
	if repeated := say.RepeatedFiles(src.Repeated()); repeated != "" {
		f.notes = append(f.notes, repeated)
	}
	if f.files.HasExports() {
		f.notes = append(f.notes, say.LastWrites)
	}
	f.notes = append(append(f.notes, f.overlap.Notes()...), f.types.notes()...)
	return f, nil
}

// Result is the verdict. Its JSON form is documented in docs/findings.schema.json.
type Result struct {
	// Incidents are the findings' incidents, the most severe first.
	Incidents []say.Incident `json:"incidents"`
	// Findings are ordered by severity, and then by utilisation.
	Findings []detect.Finding `json:"findings"`
	// Doubts are loads that may have been over a limit, the highest first.
	Doubts []detect.Doubt `json:"doubts"`
	Tables []detect.Table `json:"tables"`
	// Candidates are ordered by table, the best key first.
	Candidates []CandidateView `json:"candidates"`
	// WhatIf are the answers to questions about other numbers of shards.
	WhatIf  []whatif.Answer `json:"what_if"`
	Gaps    []sample.Gap    `json:"gaps"`
	Samples intake.Reading  `json:"samples"`
	// Partitions are a table's partitions; null unless a stream was read.
	Partitions *partition.View `json:"partitions"`
	// Notes are a Source's sentences about its reading.
	Notes []string `json:"notes"`
}

// CandidateView is the view of a table under another partition key.
type CandidateView struct {
	// Target is the table; its index is empty.
	detect.Target
	// Candidate is the key as the user wrote it.
	Candidate string `json:"candidate"`
	// Without counts the samples that lack a part of the key. The view leaves them out.
	Without int64 `json:"without"`
	// WithoutShare is their share of the table's load on keys. Above maxWithout the key is
	// not judged.
	WithoutShare float64 `json:"without_share"`
	// View is null when every sample lacks a part.
	View *detect.View `json:"view"`
}

func (f *samples) result(o Options) (*Result, error) {
	options, reading := o.board(), f.tally.Reading()
	options.RefusalsUnread = reading.Refusing > 0
	parts, ranges := f.inferPartitions(o)
	if parts != nil && parts.State.IsCertain() {
		options.Partitions = func(t detect.Target) *partition.Map {
			if t == parts.Target {
				return ranges
			}
			return nil
		}
	}
	judged, err := f.judge(options, f.views)
	if err != nil {
		return nil, err
	}
	r := &Result{
		Findings: append([]detect.Finding{}, judged.findings...),
		Doubts:   append([]detect.Doubt{}, judged.doubts...),
		Tables:   append([]detect.Table{}, judged.tables...),
		Gaps:     append([]sample.Gap{}, f.gaps...),
		Samples:  reading,
		Notes:    append([]string{}, f.notes...),
	}
	r.tell()
	r.Candidates = f.candidateViews()
	r.WhatIf = f.answers(o, r.Findings, options.Policy)
	if r.Partitions = parts; parts != nil {
		if parts.State.IsKnown() {
			f.addLoads(parts, ranges)
		} else {
			parts.AddShardLoads(f.delivered)
		}
	}
	return r, nil
}

// tell gives the findings their words and their incidents.
func (r *Result) tell() {
	for i := range r.Findings {
		r.Findings[i].Quality.Gaps = r.Gaps
		say.Tell(&r.Findings[i])
	}
	r.Incidents = say.Incidents(casebook.Incidents(r.Findings), r.Findings)
}

// WriteMinutes writes what was found in the mean loads of some keys' minutes, in place of
// samples. Its errors are those of [Run].
func WriteMinutes(r *Result, keys int, o Options) error {
	r.Samples = intake.Reading{Good: int64(keys), Bad: map[sample.RejectReason]int64{}, Judged: true, Share: new(1.0), Faults: []intake.Fault{}, Unread: []string{}, Means: true}
	r.Tables, r.Candidates, r.WhatIf = []detect.Table{}, []CandidateView{}, []whatif.Answer{}
	r.tell()
	for i := range r.Findings {
		for _, l := range say.RefusedKeys(r.Findings[i].RefusedKeys) {
			r.Notes = append(r.Notes, "Refused: "+l.Text)
		}
	}
	if err := r.write(o.Out, &o); err != nil {
		return err
	}
	return r.fail(o.FailOn)
}

// inferPartitions returns the partitions of the table whose stream was read, and the map
// behind them; nil for other sources.
func (f *samples) inferPartitions(o Options) (*partition.View, *partition.Map) {
	source, sharded := o.Source.(Sharded)
	if !sharded || f.delivered == nil {
		return nil, nil
	}
	m, target := partition.Infer(source.Shards(), f.delivered, o.Facts, time.Now())
	if m == nil {
		return nil, nil
	}
	v := m.View(target, time.Now())
	return &v, m
}

func (o *Options) board() board.Options {
	return board.Options{Policy: o.policy(), Facts: o.Facts, Partitions: func(detect.Target) *partition.Map { return nil }}
}

func (o *Options) policy() func(detect.Target) detect.Policy {
	if o.Policy != nil {
		return o.Policy
	}
	return func(detect.Target) detect.Policy { return detect.DefaultPolicy() }
}

// maxWithout is the share of a table's load that a judged candidate may leave out. The rest
// may hold the hot key.
const maxWithout = 0.01

// candidateViews returns the views of every table that has the parts of the key in some
// sample, or lacks them in all.
func (f *samples) candidateViews() []CandidateView {
	all := []CandidateView{}
	for _, c := range f.candidates {
		for _, table := range c.look() {
			p := c.parts[table.Target]
			v := CandidateView{
				Target: table.Target, Candidate: c.String(), Without: p.without,
				WithoutShare: detect.Ratio(p.lacking, p.load), View: table.View,
			}
			if v.View != nil && v.WithoutShare > maxWithout {
				v.View.Design = detect.Design{Verdict: detect.DesignUnjudged, Rule: detect.RuleIncomplete}
			}
			all = append(all, v)
			delete(c.parts, table.Target)
		}
		for table, p := range c.parts { // no record has every part
			all = append(all, CandidateView{Target: table, Candidate: c.String(), Without: p.without, WithoutShare: 1})
		}
	}
	slices.SortFunc(all, func(a, b CandidateView) int {
		return cmp.Or(compareTargets(a.Target, b.Target), keydesign.CompareViews(a.View, b.View), cmp.Compare(a.Candidate, b.Candidate))
	})
	return all
}
