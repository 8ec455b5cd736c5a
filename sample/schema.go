package sample

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// KeySchema names the attributes of the key of a table or of an index.
type KeySchema struct {
	// PartitionKey names the attributes of the partition key: one of a table,
	// one to MaxKeyParts of an index. It is empty when it is not known.
	PartitionKey []string `json:"pk"`
	// SortKey names those of the sort key, up to as many. Nil is "not known"; a
	// list without names says that there is none.
	SortKey []string `json:"sk"`
}

// Keys returns a key schema with a partition key of one attribute, and a sort
// key of those that follow, or none.
func Keys(partition string, sort ...string) KeySchema {
	return KeySchema{PartitionKey: []string{partition}, SortKey: append([]string{}, sort...)}
}

// Merge returns the key schema with what is not known in it taken from another.
func (k KeySchema) Merge(other KeySchema) KeySchema {
	if k.PartitionKey != nil {
		other.PartitionKey = k.PartitionKey
	}
	if k.SortKey != nil {
		other.SortKey = k.SortKey
	}
	return other
}

// Schemas are the schemas of tables, by a name of LookupNames. A table that is
// missing has the empty Schema.
type Schemas map[string]Schema

// Schema is the key schema of a table, with its secondary indexes. The empty
// Schema is a table of which nothing is known.
type Schema struct {
	KeySchema
	// Indexes are the secondary indexes, by name.
	Indexes map[string]IndexSchema
}

// IndexSchema is a secondary index.
type IndexSchema struct {
	KeySchema
	// Local reports that it is a local secondary index: it lives in the table's
	// partitions, and what it costs is charged to the table.
	Local      bool
	Projection Projection
	// Include names what ProjectInclude projects beside the keys.
	Include []string
}

// Projection says which attributes an index holds. Empty is ProjectAll.
type Projection string

// The projections, as DynamoDB names them.
const (
	ProjectAll      Projection = "ALL"
	ProjectKeysOnly Projection = "KEYS_ONLY"
	ProjectInclude  Projection = "INCLUDE"
)

// Validate returns what is wrong with a schema, every fault at once.
func (s Schema) Validate() error {
	faults := []error{s.validate(1, false)}
	for _, name := range slices.Sorted(maps.Keys(s.Indexes)) {
		x := s.Indexes[name]
		if err := x.validate(); name == "" {
			faults = append(faults, errors.New("an index without a name"))
		} else if err != nil {
			faults = append(faults, fmt.Errorf("index %s: %w", name, err))
		}
	}
	return errors.Join(faults...)
}

// validate returns what is wrong with a key whose parts have up to most
// attributes each. Of a local index the sort key may stand alone.
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
		return fmt.Errorf("an attribute stands in the key twice (%q)", names)
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
