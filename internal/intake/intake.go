// Package intake keeps account of files: the counted part, the rejected part with its
// reasons, and the remedies. A verdict over no data is none, so that this account stands
// beside every verdict.
package intake

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"regexp"
	"slices"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/keypolicy"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/change"
	"github.com/keyheat/keyheat/sample/cloudtrail"
	"github.com/keyheat/keyheat/sample/format"
	"github.com/keyheat/keyheat/sample/mapped"
)

// Reading is the account of the input.
type Reading struct {
	// Good were counted; Bad were not, by reason.
	Good int64                         `json:"good"`
	Bad  map[sample.RejectReason]int64 `json:"bad"`
	// Judged reports whether there is a verdict: false when nothing was counted, or
	// too little to say that no key is hot.
	Judged bool `json:"judged"`
	// Share is the part of the lines that the verdict covers, 0 to 1; nil when no line
	// could have been counted. Lines that are no load are not among them, such as another
	// service's events.
	Share *float64 `json:"share"`
	// Unsized counts the samples that tell neither units nor a size: each counts as the
	// least that its operation costs.
	Unsized int64 `json:"unsized"`
	// Faults are a bad line of each reject reason: the first line with the most common
	// remedy among the first bad lines. The most frequent reason is first; if little was
	// counted, one that a mapping was found for.
	Faults []Fault `json:"faults"`
	// Unread are files without a counted record, up to maxUnread; UnreadFiles is their
	// number.
	Unread      []string `json:"unread"`
	UnreadFiles int      `json:"unread_files"`
	// Refusing counts the bad lines that name an error of refused requests. The samples then do not
	// show which requests were refused.
	Refusing int64 `json:"refusing"`
	// Unrated counts the samples that could state a sampling rate below 1, and state neither
	// that nor the calls that they come from.
	Unrated int64 `json:"-"`
	// Sized counts the samples that have a size and no units.
	Sized int64 `json:"-"`
	// Unrepeated is the field that was given as the partition key, if hardly two samples have the
	// same value in it: it identifies requests, and no key.
	Unrepeated string `json:"-"`
	// Noun names most of the input, in the plural; lines when empty.
	Noun string `json:"-"`
	// Means reports that the input are keys with the mean loads of minutes, and no samples:
	// they never show that no key is hot.
	Means bool `json:"-"`
}

// HasLoad reports whether the table carried the load of the line, though it was not counted.
func (f *Fault) HasLoad() bool { return !noLoad[f.Reason] }

// Fault is a line that could not be counted for a reason.
type Fault struct {
	File string `json:"file"`
	// Line is the line's number, from 1; 0 when it is not known.
	Line int64 `json:"line"`
	// Record is the number of the object in its list, from 1, if a line has several; 0 if
	// the line identifies it.
	Record int64               `json:"record"`
	Reason sample.RejectReason `json:"reason"`
	// Text is the beginning of the line; where keys are hidden, its structure.
	Text string `json:"text"`
	// Remedy is the remedy, or a guess at the line's nature; never empty.
	Remedy string `json:"remedy"`
}

// Reject reasons beside the decoders'.
const (
	// ReasonUnreadable is a sample that the source could not read completely.
	ReasonUnreadable sample.RejectReason = "unreadable"
	// ReasonDuplicate is a sample whose ID was counted before.
	ReasonDuplicate sample.RejectReason = "duplicate"
	// ReasonTooManyTables is a sample of one table or index too many.
	ReasonTooManyTables sample.RejectReason = "too_many_tables"
)

// The bounds of a reading, for files of any size.
const (
	maxUnread = 5
	maxText   = 80
)

// enough is the share of the lines from which "no hot keys" means something. Below it the
// counted lines may be the odd lines of a file in another format.
const enough = 0.01

// noLoad are the reject reasons of requests without cost, whose load on the table was
// counted all the same, or that repeat a counted one.
var noLoad = map[sample.RejectReason]bool{
	cloudtrail.RejectNotRequest: true, cloudtrail.RejectFailed: true, change.RejectNoImages: true, ReasonDuplicate: true,
}

// Fields returns a file's names of the fields of Keyheat JSON.
type Fields interface {
	// FieldName returns the file's name of a field.
	FieldName(field string) string
	// Columns returns the file's columns; none for JSON.
	Columns() mapped.Columns
	// Value returns the text that a line has for a field; empty for none.
	Value(line []byte, field string) string
	// HasRates reports whether samples in the form of the message at hand may state a sampling
	// rate, and a mapping can state one for them.
	HasRates() bool
}

// own are the names of Keyheat JSON.
type own struct{}

func (own) FieldName(field string) string { return field }
func (own) Columns() mapped.Columns       { return mapped.Columns{} }
func (own) HasRates() bool                { return false }

func (own) Value(line []byte, field string) string { return mapped.Value(line, field) }

// Tally counts the input. It is for one goroutine.
type Tally struct {
	// Hidden reports that keys must not be shown: a fault's text is its structure.
	Hidden bool
	// Table is the table of lines that name none; empty if none was said.
	Table string
	// Fields returns the present file's names of its fields; nil for Keyheat JSON's
	// names, which no mapping can change.
	Fields Fields

	good, unsized, unrated, sized int64
	refusing                      int64
	bad                           map[sample.RejectReason]int64
	faults                        map[sample.RejectReason]faults
	unread                        []string
	unreadFiles                   int
	kept                          kept
	keys                          keysSeen

	file    string
	open    bool
	atOpen  int64  // how many were good before the file
	noun    string // of what was read in lists of one line; empty for lines
	message []byte // at hand
	records records
	line    int64 // of its first byte
}

// Begin begins a file.
func (t *Tally) Begin(file string) {
	t.End()
	t.file, t.open, t.atOpen, t.records = file, true, t.good, records{}
}

// End ends the file at hand, if there is one.
func (t *Tally) End() {
	if t.open && t.good == t.atOpen {
		t.unreadFiles++
		if len(t.unread) < maxUnread {
			t.unread = append(t.unread, t.file)
		}
	}
	t.open = false
}

// Message notes the message that is decoded next: the lines of a file from that one on.
// The message must stay as it is until the next one.
func (t *Tally) Message(value []byte, line int64) {
	t.message, t.line = value, line
	t.records.begin(value)
}

// Good counts a sample.
func (t *Tally) Good(r *sample.Record) {
	t.good++
	if t.keys.n < manyKeys && t.Fields != nil {
		t.keys.add(r, t.Fields.FieldName("pk"))
	}
	if r.Rate >= 1 && r.Calls == 0 && t.Fields != nil && t.Fields.HasRates() {
		t.unrated++
	}
	switch {
	case r.Estimated && r.Bytes == 0:
		t.unsized++
	case r.Estimated:
		t.sized++
	}
}

// GoodRecords returns how many samples were counted so far.
func (t *Tally) GoodRecords() int64 { return t.good }

// Bad counts a line, or an element of an array, that could not be counted. Its excerpt is
// a part of the message at hand, or its content.
func (t *Tally) Bad(reason sample.RejectReason, excerpt []byte) {
	if t.bad == nil {
		t.bad, t.faults = map[sample.RejectReason]int64{}, map[sample.RejectReason]faults{}
	}
	if !noLoad[reason] && refusals.Match(excerpt[:min(len(excerpt), maxLine)]) {
		t.refusing++
	}
	t.bad[reason]++
	if mappable[reason] && !t.Hidden {
		t.keep(reason, excerpt)
	}
	if t.bad[reason] > lookedAt {
		return
	}
	number, whole := t.locate(excerpt)
	fault := Fault{File: t.file, Line: number, Record: t.record(excerpt), Reason: reason, Text: shorten(whole, maxText)}
	if fault.Record > 0 {
		t.noun = "records"
		if bytes.Contains(whole, []byte(`"eventSource"`)) {
			t.noun = "events"
		}
	}
	g := glimpse{line: whole, named: !t.Hidden, fields: t.Fields}
	if g.fields == nil {
		g.fields = own{}
	}
	fault.Remedy = g.advise(reason)
	if t.Hidden {
		fault.Text = keypolicy.Excerpt(whole)
	}
	f := t.faults[reason]
	f.add(fault)
	t.faults[reason] = f
}

// refusals are the names of DynamoDB's errors, and of its throttle reasons, for refused requests.
var refusals = regexp.MustCompile(`ThroughputExceeded|ThrottlingException|RequestLimitExceeded`)

// record returns the number of the object that an excerpt begins in its list, where its line has
// others; 0 where it has not.
func (t *Tally) record(excerpt []byte) int64 {
	number := t.records.number(excerpt)
	at := offset(t.message, excerpt)
	if number == 0 || at < 0 {
		return 0
	}
	before := t.message[bytes.LastIndexByte(t.message[:at], '\n')+1 : at]
	behind, _, _ := bytes.Cut(t.message[at:min(len(t.message), at+maxLine)], []byte("\n"))
	if len(bytes.Trim(before, "[ \t")) == 0 && len(behind) < maxLine && !besides.Match(behind) {
		return 0
	}
	return number
}

// besides is the text between two objects of a list.
var besides = regexp.MustCompile(`\}\s*,\s*\{`)

// maxLine bounds the part of a line that is searched.
const maxLine = 8 << 10

// keep keeps a line to try mappings on.
func (t *Tally) keep(reason sample.RejectReason, excerpt []byte) {
	at := offset(t.message, excerpt)
	if at < 0 {
		return
	}
	place := t.kept.place(t.file)
	if place < 0 {
		return
	}
	whole := t.message[at:]
	var object json.RawMessage
	if d := json.NewDecoder(bytes.NewReader(whole)); whole[0] == '{' && d.Decode(&object) == nil {
		whole = object
	} else if whole, _, _ = bytes.Cut(whole, []byte("\n")); whole[0] == '{' {
		return // its JSON is broken
	}
	if format.Detect(whole) != format.Keyheat {
		return // its fields are known
	}
	number, _ := t.locate(excerpt)
	var columns mapped.Columns
	if t.Fields != nil {
		columns = t.Fields.Columns()
	}
	t.kept.put(place, keptLine{bytes.Clone(whole), number, reason}, columns)
}

// locate returns the number of the line with an excerpt, 0 when unknown, and the line from
// the excerpt on.
func (t *Tally) locate(excerpt []byte) (number int64, whole []byte) {
	at := offset(t.message, excerpt)
	if at < 0 {
		return 0, excerpt
	}
	if t.line > 0 {
		number = t.line + int64(bytes.Count(t.message[:at], []byte("\n")))
	}
	whole = t.message[at:min(len(t.message), at+maxLine)]
	if end := bytes.IndexByte(whole, '\n'); end >= len(excerpt) { // an object may span lines
		whole = whole[:end]
	}
	if before := t.message[bytes.LastIndexByte(t.message[:at], '\n')+1 : at]; excerpt[0] != '{' && len(bytes.Trim(before, "[ \t")) == 0 {
		whole = t.message[at-len(before) : at+len(whole)] // a bracket that begins a line
	}
	return number, bytes.TrimRight(whole, "\r\n")
}

// offset returns where a part begins in a text: by where it lies in memory, since a
// line may come again, or else by its content; -1 when it is not there.
func offset(text, part []byte) int {
	if len(part) == 0 || len(text) == 0 {
		return -1
	}
	if at := cap(text) - cap(part); at >= 0 && at < len(text) && &text[at] == &part[0] {
		return at
	}
	return bytes.Index(text, part)
}

// shorten returns the beginning of a line, or of lines as one, of so many bytes at most.
func shorten(line []byte, limit int) string {
	if bytes.IndexByte(line, '\n') >= 0 {
		line = bytes.Join(bytes.Fields(line), []byte(" "))
	}
	if len(line) <= limit {
		return string(line)
	}
	return string(bytes.ToValidUTF8(line[:limit], nil)) + "…"
}

// Reading returns the account so far. Nothing may be added afterwards.
func (t *Tally) Reading() Reading {
	t.End()
	r := Reading{
		Good: t.good, Bad: t.bad, Unsized: t.unsized, Unrated: t.unrated, Sized: t.sized, Refusing: t.refusing, Noun: t.noun, Faults: []Fault{},
		Unread: append([]string{}, t.unread...), UnreadFiles: t.unreadFiles,
	}
	if r.Bad == nil {
		r.Bad = map[sample.RejectReason]int64{}
	}
	if all := r.Good + r.missedRequests(); all > 0 {
		r.Share = new(float64(r.Good) / float64(all))
	}
	r.Unrepeated = t.keys.unrepeated()
	r.Judged = r.Good > 0 && *r.Share >= enough
	for _, reason := range slices.SortedFunc(maps.Keys(t.faults), func(a, b sample.RejectReason) int {
		noLoads := 0 // they tell the least, where nothing was counted
		if r.Good == 0 {
			noLoads = cmp.Compare(detect.BoolToInt(noLoad[a]), detect.BoolToInt(noLoad[b]))
		}
		return cmp.Or(noLoads, cmp.Compare(t.bad[b], t.bad[a]), cmp.Compare(a, b))
	}) {
		r.Faults = append(r.Faults, t.faults[reason].best().Fault)
	}
	if r.Good < r.missedRequests() {
		r.propose(&t.kept, t.Table)
	}
	return r
}

// missedRequests returns how many lines may have been load that was not counted.
func (r *Reading) missedRequests() (n int64) {
	for reason, bad := range r.Bad {
		if !noLoad[reason] {
			n += bad
		}
	}
	return n
}

// whole is the share from which a verdict counts as one over all lines: the number of
// uncounted lines is printed in any case.
const whole = 0.995

// Partial reports whether the verdict covers so little less than all lines that it has to
// be said.
func (r *Reading) Partial() bool { return r.Judged && *r.Share < whole }

// manyRepeats is the share of samples with the id of another one above which their ids may
// not be unique.
const manyRepeats = 0.1

// RepeatsMuch reports whether many samples were left out because they repeat an id: their
// load is missing unless they were delivered twice.
func (r *Reading) RepeatsMuch() bool {
	repeats := r.Bad[ReasonDuplicate]
	return r.Judged && float64(repeats) > manyRepeats*float64(r.Good+repeats)
}

// LeastShare is the share of samples without units and size from which a verdict mentions
// them first.
const LeastShare = 0.01

// AtLeast reports whether the figures of a good part of the samples are the least that
// these can have cost.
func (r *Reading) AtLeast() bool {
	return float64(r.Unsized) >= LeastShare*float64(r.Good) && r.Unsized > 0
}
