// Package model is the data of the DynamoDB for tests: items with their sizes,
// schemas with their indexes, and what a write costs on each. It is the oracle of
// tests, and shares no code with what is tested.
package model

import (
	"errors"
	"fmt"
	"slices"
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

// Names returns the key's attributes.
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

// Validate reports what keeps DynamoDB from making a table of the schema.
func (s Schema) Validate() error {
	switch {
	case s.Name == "":
		return errors.New("a table needs a name")
	case len(s.Key.Partition) != 1 || len(s.Key.Sort) > 1:
		return errors.New("a table has one partition key attribute and at most one sort key attribute")
	}
	for _, x := range s.Indexes {
		if len(x.Key.Partition) < 1 || len(x.Key.Partition) > 4 || len(x.Key.Sort) > 4 {
			return fmt.Errorf("index %s: 1 to 4 partition key attributes and up to 4 sort key attributes", x.Name)
		}
		if !slices.Contains([]string{"", "ALL", "KEYS_ONLY", "INCLUDE"}, x.Projection) {
			return fmt.Errorf("index %s: unknown projection %s", x.Name, x.Projection)
		}
	}
	return nil
}

// TypeOf returns the type of a key attribute.
func (s Schema) TypeOf(name string) string {
	if t := s.Types[name]; t != "" {
		return t
	}
	return "S"
}

// KeyOf returns the key of an item. It fails when the key is missing or of the
// wrong type.
func (s Schema) KeyOf(i Item) (Item, error) {
	for _, name := range s.Key.Names() {
		v, ok := i[name]
		switch {
		case !ok:
			return nil, fmt.Errorf("missing the key %s in the item", name)
		case !v.isKey(s.TypeOf(name)):
			return nil, fmt.Errorf("type mismatch for key %s, or it is empty", name)
		}
	}
	return i.Only(s.Key.Names()...), nil
}

// CheckIndexKeys reports why an index cannot take an item: its key attributes may
// be missing, but not of another type or empty (Guide, "Using global
// secondary indexes", data synchronization).
func (s Schema) CheckIndexKeys(i Item) error {
	for _, x := range s.Indexes {
		for _, name := range x.Key.Names() {
			if v, ok := i[name]; ok && !v.isKey(s.TypeOf(name)) {
				return fmt.Errorf("type mismatch for Index Key %s, or it is empty, IndexName: %s", name, x.Name)
			}
		}
	}
	return nil
}

// isKey reports whether the value can be a key of that type.
func (v Value) isKey(of string) bool {
	switch of {
	case "N":
		return v.N != nil
	case "B":
		return len(v.B) > 0
	}
	return v.S != nil && *v.S != ""
}
