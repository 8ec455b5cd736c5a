package streamstest

import (
	"fmt"
	"slices"
	"time"

	"github.com/keyheat/keyheat/internal/testsupport/streamstest/model"
)

// Table is a table with its items and, perhaps, a stream.
type Table struct {
	fake    *Fake
	schema  model.Schema
	created time.Time
	items   map[string]model.Item // by the key's JSON
	stream  *stream               // the newest; nil when there never was one
	written []model.Write
	refused int
	spent   map[string]spending // by index and key, of the second that runs
}

// ARN is the table's.
func (t *Table) ARN() string { return t.fake.tableARN(t.schema.Name) }

// Schema is what the table was made of, with the indexes that it has now.
func (t *Table) Schema() model.Schema {
	t.fake.mu.Lock()
	defer t.fake.mu.Unlock()
	s := t.schema
	s.Indexes = slices.Clone(s.Indexes)
	return s
}

// AddIndex gives the table one more index.
func (t *Table) AddIndex(x model.Index) {
	t.fake.mu.Lock()
	defer t.fake.mu.Unlock()
	t.schema.Indexes = append(slices.Clone(t.schema.Indexes), x)
}

// The views of a stream: what its records show of an item.
const (
	KeysOnly        = "KEYS_ONLY"
	NewImage        = "NEW_IMAGE"
	OldImage        = "OLD_IMAGE"
	NewAndOldImages = "NEW_AND_OLD_IMAGES"
)

// EnableStream gives the table a new stream and returns its ARN. It panics when
// the table has one that is enabled: DynamoDB refuses that.
func (t *Table) EnableStream(view string) (arn string) {
	t.fake.mu.Lock()
	defer t.fake.mu.Unlock()
	if err := t.enable(view); err != nil {
		panic(err)
	}
	return t.stream.arn
}

func (t *Table) enable(view string) error {
	if t.streaming() {
		return refuse(codeInvalid, "Table already has an enabled stream: TableName: %s", t.schema.Name) // SDK, UpdateTableInput.StreamSpecification
	}
	if !slices.Contains([]string{KeysOnly, NewImage, OldImage, NewAndOldImages}, view) {
		return refuse(codeInvalid, "%q is no stream view type", view)
	}
	f, now := t.fake, t.fake.now()
	label := now.UTC().Format("2006-01-02T15:04:05.000")
	for f.hasLabel(t, label) { // two streams in one millisecond
		now = now.Add(time.Millisecond)
		label = now.UTC().Format("2006-01-02T15:04:05.000")
	}
	t.stream = newStream(t, fmt.Sprintf("%s/stream/%s", t.ARN(), label), label, view)
	f.streams = append(f.streams, t.stream)
	return nil
}

func (f *Fake) hasLabel(t *Table, label string) bool {
	return slices.ContainsFunc(f.streams, func(s *stream) bool { return s.table == t.schema.Name && s.label == label })
}

// streaming reports whether changes go to a stream.
func (t *Table) streaming() bool { return t.stream != nil && t.stream.disabled.IsZero() }

// DisableStream ends the table's stream: its shards close, and it can be read
// for 24 hours more.
func (t *Table) DisableStream() {
	t.fake.mu.Lock()
	defer t.fake.mu.Unlock()
	t.disable()
}

func (t *Table) disable() {
	if !t.streaming() {
		return
	}
	now := t.fake.now()
	t.stream.settle(now)
	t.stream.disabled = now
	for _, sh := range t.stream.open() {
		t.stream.close(sh, now)
	}
}

// StreamARN is that of the table's newest stream; empty when there never was
// one.
func (t *Table) StreamARN() string {
	t.fake.mu.Lock()
	defer t.fake.mu.Unlock()
	if t.stream == nil {
		return ""
	}
	return t.stream.arn
}
