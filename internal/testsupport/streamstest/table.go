package streamstest

import (
	"fmt"
	"slices"
	"time"
)

// Schema is what makes a table.
type Schema struct {
	Name string
	Key  Key
	// Types are the types of key attributes that are no strings: N or B.
	Types map[string]string
	// Indexes are the secondary indexes.
	Indexes []Index
	// Provisioned is the table's capacity; without it, it is on demand.
	Provisioned *Throughput
}

// Key is the key of a table or an index. A table has one attribute in each
// half, or no sort key; a global index up to four in each.
type Key struct{ Partition, Sort []string }

// Names are the key's attributes.
func (k Key) Names() []string { return slices.Concat(k.Partition, k.Sort) }

// Throughput is provisioned capacity, in units a second.
type Throughput struct{ Read, Write int }

// Index is a secondary index.
type Index struct {
	Name string
	Key  Key
	// Projection is ALL, KEYS_ONLY or INCLUDE; empty means ALL. Include names
	// what INCLUDE holds beside the keys.
	Projection string
	Include    []string
	// Local makes it a local secondary index.
	Local bool
	// Provisioned is the capacity of a global index in a provisioned table.
	Provisioned *Throughput
}

func (s Schema) validate() error {
	switch {
	case s.Name == "":
		return refuse(codeInvalid, "a table needs a name")
	case len(s.Key.Partition) != 1 || len(s.Key.Sort) > 1:
		return refuse(codeInvalid, "a table has one partition key attribute and at most one sort key attribute")
	}
	for _, x := range s.Indexes {
		if len(x.Key.Partition) < 1 || len(x.Key.Partition) > 4 || len(x.Key.Sort) > 4 {
			return refuse(codeInvalid, "index %s: 1 to 4 partition key attributes and up to 4 sort key attributes", x.Name)
		}
		if !slices.Contains([]string{"", "ALL", "KEYS_ONLY", "INCLUDE"}, x.Projection) {
			return refuse(codeInvalid, "index %s: unknown projection %s", x.Name, x.Projection)
		}
	}
	return nil
}

// typeOf is the type of a key attribute.
func (s Schema) typeOf(name string) string {
	if t := s.Types[name]; t != "" {
		return t
	}
	return "S"
}

// keyOf is the key of an item, or the refusal of one whose key is missing or of
// the wrong type.
func (s Schema) keyOf(i Item) (Item, error) {
	for _, name := range s.Key.Names() {
		v, ok := i[name]
		switch {
		case !ok:
			return nil, refuse(codeInvalid, "One or more parameter values were invalid: Missing the key %s in the item", name)
		case !v.isKey(s.typeOf(name)):
			return nil, refuse(codeInvalid, "One or more parameter values were invalid: Type mismatch for key %s, or it is empty", name)
		}
	}
	return i.Only(s.Key.Names()...), nil
}

// checkIndexKeys refuses an item that an index cannot take: its key attributes
// may be missing, but not of another type or empty (Guide, "Using global
// secondary indexes", data synchronization).
func (s Schema) checkIndexKeys(i Item) error {
	for _, x := range s.Indexes {
		for _, name := range x.Key.Names() {
			if v, ok := i[name]; ok && !v.isKey(s.typeOf(name)) {
				return refuse(codeInvalid, "One or more parameter values were invalid: Type mismatch for Index Key %s, or it is empty, IndexName: %s", name, x.Name)
			}
		}
	}
	return nil
}

// isKey says whether the value can be a key of that type.
func (v Value) isKey(of string) bool {
	switch of {
	case "N":
		return v.N != nil
	case "B":
		return len(v.B) > 0
	}
	return v.S != nil && *v.S != ""
}

// Table is a table with its items and, perhaps, a stream.
type Table struct {
	fake    *Fake
	schema  Schema
	created time.Time
	items   map[string]Item // by the key's JSON
	stream  *stream         // the newest; nil when there never was one
	written []Write
	refused int
	spent   map[string]spending // by index and key, of the second that runs
}

// Name is the table's name.
func (t *Table) Name() string { return t.schema.Name }

// ARN is the table's.
func (t *Table) ARN() string { return t.fake.tableARN(t.schema.Name) }

// Schema is what the table was made of, with the indexes that it has now.
func (t *Table) Schema() Schema {
	t.fake.mu.Lock()
	defer t.fake.mu.Unlock()
	s := t.schema
	s.Indexes = slices.Clone(s.Indexes)
	return s
}

// AddIndex gives the table one more index.
func (t *Table) AddIndex(x Index) {
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

// EnableStream gives the table a new stream and answers its ARN. It panics when
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

// streaming says whether changes go to a stream.
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
