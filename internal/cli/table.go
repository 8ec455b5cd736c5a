package cli

import (
	"maps"
	"slices"

	"github.com/keyheat/keyheat/internal/config"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/change"
)

// Tables are what an operator may say about tables, by name.
type Tables map[string]TableKeys

// TableKeys says what samples leave open.
type TableKeys struct {
	Rate         float64          `yaml:"rate" help:"the share of requests that is sampled, where samples in Keyheat JSON do not say it; 1 when 0"`
	PartitionKey string           `yaml:"partition_key" help:"the attribute that is the table's partition key; needed where it has a sort key too"`
	SortKey      string           `yaml:"sort_key" help:"the attribute that is the table's sort key"`
	Indexes      map[string]Index `yaml:"indexes" help:"global secondary indexes, by name, whose load is derived from stream images"`
}

// Index describes a global secondary index.
type Index struct {
	PartitionKey []string `yaml:"partition_key" help:"the attributes of the index's partition key, up to 4"`
	SortKey      []string `yaml:"sort_key" help:"the attributes of the index's sort key, up to 4; none without one"`
	Projection   string   `yaml:"projection" help:"ALL, KEYS_ONLY or INCLUDE; ALL when empty"`
	Include      []string `yaml:"include" help:"the attributes that INCLUDE projects beside the keys"`
}

// Check adds what is wrong with the tables.
func (t Tables) Check(f *config.Faults) {
	schemas := t.Schemas()
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		if rate := schemas[name].Rate; rate != 0 && !(rate >= sample.MinRate && rate <= 1) {
			f.Addf("tables."+name+".rate", "%g: give a share above 0 up to 1, such as 0.01", rate)
		}
		if err := schemas[name].Validate(); err != nil {
			f.Addf("tables."+name, "%w", err)
		}
	}
}

// Schemas are the tables as decoders need them.
func (t Tables) Schemas() change.Tables {
	all := make(change.Tables, len(t))
	for name, table := range t {
		all[name] = table.schema()
	}
	return all
}

func (t TableKeys) schema() change.Schema {
	s := change.Schema{PartitionKey: t.PartitionKey, SortKey: t.SortKey, Rate: t.Rate}
	for _, name := range slices.Sorted(maps.Keys(t.Indexes)) {
		x := t.Indexes[name]
		s.Indexes = append(s.Indexes, change.Index{
			Name: name, PartitionKey: x.PartitionKey, SortKey: x.SortKey,
			Projection: change.Projection(x.Projection), Include: x.Include,
		})
	}
	return s
}

// tablesFile is a file that says nothing but tables.
type tablesFile struct {
	Tables Tables `yaml:"tables"`
}

// Check implements config.Checker.
func (t *tablesFile) Check(f *config.Faults) { t.Tables.Check(f) }

// ReadTables reads a YAML file with the section tables as a collector has it.
func ReadTables(path string) (change.Tables, error) {
	var file tablesFile
	if err := config.Load(&file, config.Options{File: path}); err != nil {
		return nil, err
	}
	return file.Tables.Schemas(), nil
}
