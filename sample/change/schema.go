package change

import (
	"errors"
	"fmt"
	"slices"

	"github.com/keyheat/keyheat/sample"
)

// Tables are the schemas of tables, by name. A table that is missing has the
// empty Schema.
type Tables map[string]Schema

// Schema is what a stream does not say about a table. The empty Schema is
// enough for a table that has a partition key only.
type Schema struct {
	// PartitionKey and SortKey name the table's key attributes.
	PartitionKey, SortKey string
	// Indexes are the global secondary indexes whose load is to be derived.
	Indexes []Index
	// Rate is at which rate Keyheat JSON of the table is sampled that does not
	// say it; 0 is 1. Stream records are all there are.
	Rate float64
}

// Index is a global secondary index.
type Index struct {
	Name string
	// PartitionKey names one to sample.MaxKeyParts attributes, SortKey none to
	// as many. An item that lacks one of them is not in the index.
	PartitionKey, SortKey []string
	Projection            Projection
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

// Validate says what is wrong with a schema, every fault at once.
func (s Schema) Validate() error {
	var faults []error
	if s.SortKey != "" && s.PartitionKey == "" {
		faults = append(faults, errors.New("a sort key without a partition key: name both"))
	}
	if s.SortKey != "" && s.SortKey == s.PartitionKey {
		faults = append(faults, fmt.Errorf("%q is both keys: they are two attributes", s.SortKey))
	}
	for _, x := range s.Indexes {
		if err := x.validate(); err != nil {
			faults = append(faults, fmt.Errorf("index %s: %w", x.Name, err))
		}
	}
	return errors.Join(faults...)
}

func (x *Index) validate() error {
	keys := slices.Concat(x.PartitionKey, x.SortKey)
	names := slices.Sorted(slices.Values(keys))
	switch {
	case x.Name == "":
		return errors.New("it has no name")
	case len(x.PartitionKey) < 1 || len(x.PartitionKey) > sample.MaxKeyParts:
		return fmt.Errorf("%d attributes in the partition key: name 1 to %d", len(x.PartitionKey), sample.MaxKeyParts)
	case len(x.SortKey) > sample.MaxKeyParts:
		return fmt.Errorf("%d attributes in the sort key: name up to %d", len(x.SortKey), sample.MaxKeyParts)
	case slices.Contains(keys, ""):
		return errors.New("a key attribute without a name")
	case len(slices.Compact(names)) < len(keys):
		return errors.New("an attribute stands in its keys twice")
	case !slices.Contains([]Projection{"", ProjectAll, ProjectKeysOnly, ProjectInclude}, x.Projection):
		return fmt.Errorf("projection %q: write %s, %s or %s", x.Projection, ProjectAll, ProjectKeysOnly, ProjectInclude)
	case (x.Projection == ProjectInclude) != (len(x.Include) > 0):
		return fmt.Errorf("attributes to include belong to the projection %s: give both or neither", ProjectInclude)
	}
	return nil
}

// Split tells a table's partition key from its sort key. Of a single key there
// is no doubt; of two a record does not say which is which, so the schema must:
// else the reason is ReasonKeySchema, as when the schema names other keys.
func (s Schema) Split(keys map[string]sample.Key) (pk, sk sample.Key, reason sample.Reason) {
	switch {
	case len(keys) == 0:
		return pk, sk, sample.ReasonNoKey
	case len(keys) > 2:
		return pk, sk, sample.ReasonBadKey
	case s.PartitionKey == "" && len(keys) == 2:
		return pk, sk, ReasonKeySchema
	}
	for name, k := range keys {
		switch {
		case name == s.PartitionKey || s.PartitionKey == "":
			pk = k
		case name == s.SortKey || s.SortKey == "":
			sk = k
		default:
			return pk, sk, ReasonKeySchema
		}
	}
	if pk.IsZero() || sk.IsZero() && s.SortKey != "" {
		return pk, sk, ReasonKeySchema
	}
	return pk, sk, ""
}
