package sample

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// KeySchema names the attributes of the key of a table or of an index.
type KeySchema struct {
	// PartitionKey names the attributes of the partition key: one for a table, one to
	// MaxKeyParts for an index. It is empty if unknown.
	PartitionKey []string `json:"pk"`
	// SortKey names the attributes of the sort key, up to as many. Nil means unknown; an empty
	// list means that there is no sort key.
	SortKey []string `json:"sk"`
}

// Keys returns a key schema with one partition key attribute, and a sort key of the other
// attributes, if any.
func Keys(partition string, sort ...string) KeySchema {
	return KeySchema{PartitionKey: []string{partition}, SortKey: append([]string{}, sort...)}
}

// Merge returns the key schema with its unknown parts taken from another.
func (k KeySchema) Merge(other KeySchema) KeySchema {
	if k.PartitionKey != nil {
		other.PartitionKey = k.PartitionKey
	}
	if k.SortKey != nil {
		other.SortKey = k.SortKey
	}
	return other
}

// Schemas are the schemas of tables, by a name of LookupNames. A missing table has the empty
// Schema.
type Schemas map[string]Schema

// Schema is the key schema of a table, with its secondary indexes. The empty Schema is unknown.
type Schema struct {
	KeySchema
	// Indexes are the secondary indexes, by name.
	Indexes map[string]IndexSchema
}

// IndexSchema is a secondary index.
type IndexSchema struct {
	KeySchema
	// Local means that the index is a local secondary index: it shares the table's partitions,
	// and its cost is charged to the table.
	Local      bool
	Projection Projection
	// Include names the attributes that ProjectInclude projects beside the keys.
	Include []string
}

// Projection selects the attributes of an index. Empty is ProjectAll.
type Projection string

// The projections, by DynamoDB's names.
const (
	ProjectAll      Projection = "ALL"
	ProjectKeysOnly Projection = "KEYS_ONLY"
	ProjectInclude  Projection = "INCLUDE"
)

// Validate returns all errors of a schema, joined, or nil.
func (s Schema) Validate() error {
	faults := []error{s.validate(1, false)}
	for _, name := range slices.Sorted(maps.Keys(s.Indexes)) {
		x := s.Indexes[name]
		if err := x.validate(); name == "" {
			faults = append(faults, errors.New("an index without a name"))
		} else if !IsName(name) {
			faults = append(faults, fmt.Errorf("index %.300q: an index's name has %s", name, NameRule))
		} else if err != nil {
			faults = append(faults, fmt.Errorf("index %s: %w", name, err))
		}
	}
	return errors.Join(faults...)
}

// validate returns the errors of a key with up to `most` attributes in each part. A local index
// may have only a sort key.
func (k KeySchema) validate(most int, local bool) error {
	names := slices.Concat(k.PartitionKey, k.SortKey)
	distinct := slices.Compact(slices.Sorted(slices.Values(names)))
	switch {
	case len(k.SortKey) > 0 && len(k.PartitionKey) == 0 && !local:
		return errors.New("a sort key without a partition key: name both")
	case len(k.PartitionKey) > most:
		return fmt.Errorf("%d attributes in the partition key: name %s", len(k.PartitionKey), upTo(most))
	case len(k.SortKey) > most:
		return fmt.Errorf("%d attributes in the sort key: name %s", len(k.SortKey), upTo(most))
	case slices.Contains(names, ""):
		return errors.New("a key attribute without a name")
	case len(distinct) < len(names):
		return fmt.Errorf("the key names an attribute twice (%q)", names)
	}
	return nil
}

func upTo(most int) string {
	if most == 1 {
		return "one, only an index may have more"
	}
	return fmt.Sprintf("1 to %d", most)
}

func (x IndexSchema) validate() error {
	if len(x.PartitionKey) == 0 && len(x.SortKey) == 0 && !x.Local {
		return fmt.Errorf("no partition key: name %s attributes", upTo(MaxKeyParts))
	}
	switch err := x.KeySchema.validate(MaxKeyParts, x.Local); {
	case err != nil:
		return err
	case !slices.Contains([]Projection{"", ProjectAll, ProjectKeysOnly, ProjectInclude}, x.Projection):
		return fmt.Errorf("projection %q: write %s, %s or %s", x.Projection, ProjectAll, ProjectKeysOnly, ProjectInclude)
	case (x.Projection == ProjectInclude) != (len(x.Include) > 0):
		return fmt.Errorf("attributes to include belong to the projection %s: give both or neither", ProjectInclude)
	}
	return nil
}
