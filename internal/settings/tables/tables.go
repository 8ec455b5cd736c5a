// Package tables holds an operator's settings of tables, once for every program: the
// section tables of a YAML file, and the section policy for all tables. A collector takes
// keys, indexes and sampling rates from it, a reporter and `reporter analyze` also
// capacity and policies.
package tables

import (
	"maps"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/settings/config"
	"github.com/keyheat/keyheat/internal/settings/options"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/format"
)

// Section is both sections, as a part of a program's settings or as a file of
// its own.
type Section struct {
	Policy Policy `yaml:"policy"`
	Tables Tables `yaml:"tables" help:"single tables, by name: see [Tables](#tables)" layers:"file"`
}

// FileSection is Section in the settings of a program that does not judge: it
// reads and checks policies, so that all programs can share a file, and has
// neither flags nor variables for them.
type FileSection struct {
	Policy Policy `yaml:"policy" help:"policies of all tables: a collector reads keys and positions of it" layers:"file"`
	Tables Tables `yaml:"tables" help:"single tables, by name: see [Tables](#tables)" layers:"file"`
}

// Default returns the sections' defaults.
func Default() Section {
	p := detect.DefaultPolicy()
	return Section{Policy: Policy{Warning: p.Warning, Headroom: p.Headroom, For: onHarm, KeepFiring: time.Minute}}
}

// DefaultFile returns the same for a program that does not judge.
func DefaultFile() FileSection { return FileSection(Default()) }

// Tables are single tables, by name, by Region/name or by account/Region/name. The most
// specific name wins; less specific entries fill its gaps.
type Tables map[string]Table

// Table holds the settings of one table. A missing setting comes from a less specific
// entry, then, for the policy, from the general policy; otherwise it is unknown.
type Table struct {
	PartitionKey []string                `yaml:"partition_key" help:"the attribute of the partition key; required if the table has a sort key"`
	SortKey      []string                `yaml:"sort_key" help:"the attribute of the sort key, [] for none"`
	Indexes      map[string]Index        `yaml:"indexes" help:"the global secondary indexes, by name; their load follows from stream images"`
	LSIs         []string                `yaml:"lsis" help:"the names of the local secondary indexes, [] for none; with one, DynamoDB never splits an item collection"`
	Billing      string                  `yaml:"billing" help:"PAY_PER_REQUEST or PROVISIONED"`
	WCU          float64                 `yaml:"wcu" help:"provisioned write units a second"`
	RCU          float64                 `yaml:"rcu" help:"provisioned read units a second"`
	WarmWCU      float64                 `yaml:"warm_wcu" help:"warm throughput: the write units a second that an on-demand table serves at once, where DescribeTable is not allowed"`
	WarmRCU      float64                 `yaml:"warm_rcu" help:"the same for read units"`
	Vectors      []string                `yaml:"vector_indexes" help:"the names of the vector indexes, whose units are not judged"`
	Replicas     []string                `yaml:"replicas" help:"the Regions of a global table; its own may be among them"`
	Strong       bool                    `yaml:"strong_regions" help:"whether the Regions of a global table are strongly consistent; it then takes no transactions"`
	Rate         float64                 `yaml:"rate" help:"the sampling rate of samples in Keyheat JSON without a rate; 1 when 0"`
	Collections  bool                    `yaml:"item_collection_keys" help:"whether item collection metrics name the keys of OpenTelemetry spans: see [INSTRUMENTING.md](INSTRUMENTING.md#keys)"`
	Items        map[string]detect.Shape `yaml:"items" help:"what the items of a partition key are, by the key or its beginning and *: counter, lock, sequence, unique_name, queue, or record for what only means something whole, such as a session; advice follows it"`
	Policy
}

// Index holds the settings of a global secondary index.
type Index struct {
	PartitionKey []string `yaml:"partition_key" help:"the attributes of the index's partition key, 1 to 4"`
	SortKey      []string `yaml:"sort_key" help:"the attributes of the index's sort key, up to 4; none without one"`
	Projection   string   `yaml:"projection" help:"ALL, KEYS_ONLY or INCLUDE; ALL when empty"`
	Include      []string `yaml:"include" help:"the attributes that INCLUDE projects beside the keys"`
	WCU          float64  `yaml:"wcu" help:"provisioned write units a second"`
	RCU          float64  `yaml:"rcu" help:"provisioned read units a second"`
	WarmWCU      float64  `yaml:"warm_wcu" help:"warm throughput in write units a second, as of the table"`
	WarmRCU      float64  `yaml:"warm_rcu" help:"the same for read units"`
}

// Check implements config.Checker.
func (s *Section) Check(f *config.Faults) {
	s.Policy.check("policy", f)
	for _, name := range slices.Sorted(maps.Keys(s.Tables)) {
		of, err := ParseName(name)
		if err != nil {
			f.Addf("tables."+name, "%w", err)
			continue
		}
		if !sample.IsName(of.Table) {
			f.Addf("tables."+name, "%.300q is not a table's name: it has %s", of.Table, sample.NameRule)
			continue
		}
		whole, _ := s.Tables.find(of)
		whole.Policy = s.policyOf(of)
		whole.Policy.check("tables."+name, f)
		whole.check("tables."+name, f)
	}
}

// Check implements config.Checker.
func (s *FileSection) Check(f *config.Faults) { (*Section)(s).Check(f) }

func (t Table) check(path string, f *config.Faults) {
	if t.Billing != "" && t.Billing != detect.BillingOnDemand && t.Billing != detect.BillingProvisioned {
		f.Addf(path+".billing", "%q: give %s or %s", t.Billing, detect.BillingOnDemand, detect.BillingProvisioned)
	}
	if t.Rate != 0 && !(t.Rate >= sample.MinRate && t.Rate <= 1) {
		f.Addf(path+".rate", "%g: give a share above 0 up to 1, such as 0.01", t.Rate)
	}
	if err := t.schema().Validate(); err != nil {
		f.Addf(path, "%w", err)
	}
	for _, key := range slices.Sorted(maps.Keys(t.Items)) {
		if !slices.Contains(detect.Shapes(), t.Items[key]) {
			f.Addf(path+".items", "%q is %q: give one of %v", key, t.Items[key], detect.Shapes())
		}
	}
	checkCapacity(path+".", t.WCU, t.RCU, f)
	checkCapacity(path+".warm_", t.WarmWCU, t.WarmRCU, f)
	for _, region := range t.Replicas {
		if !options.IsRegion(region) {
			f.Addf(path+".replicas", "%q is no Region: write one such as eu-west-1", region)
		}
	}
	for field, indexes := range map[string][]string{"lsis": t.LSIs, "vector_indexes": t.Vectors} {
		for _, name := range indexes {
			if name == "" || !sample.IsName(name) {
				f.Addf(path+"."+field, "%.300q is not an index's name: it has %s", name, sample.NameRule)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(t.Indexes)) {
		checkCapacity(path+".indexes."+name+".", t.Indexes[name].WCU, t.Indexes[name].RCU, f)
		checkCapacity(path+".indexes."+name+".warm_", t.Indexes[name].WarmWCU, t.Indexes[name].WarmRCU, f)
		if slices.Contains(t.LSIs, name) {
			f.Addf(path+".lsis", "%s is a global secondary index: an index is in one of both lists", name)
		}
	}
}

func checkCapacity(path string, wcu, rcu float64, f *config.Faults) {
	if !(wcu >= 0) {
		f.Addf(path+"wcu", "%g: give units a second, 0 when not known", wcu)
	}
	if !(rcu >= 0) {
		f.Addf(path+"rcu", "%g: give units a second, 0 when not known", rcu)
	}
}

func (t Table) schema() sample.Schema {
	s := sample.Schema{KeySchema: sample.KeySchema{PartitionKey: t.PartitionKey, SortKey: t.SortKey}}
	for name, x := range t.Indexes {
		if s.Indexes == nil {
			s.Indexes = make(map[string]sample.IndexSchema, len(t.Indexes))
		}
		s.Indexes[name] = sample.IndexSchema{
			KeySchema:  sample.KeySchema{PartitionKey: x.PartitionKey, SortKey: x.SortKey},
			Projection: sample.Projection(x.Projection), Include: x.Include,
		}
	}
	return s
}

// Schemas returns the keys and indexes of the tables of a Region, by the table's
// name alone.
func (t Tables) Schemas(region string) sample.Schemas {
	all := make(sample.Schemas, len(t))
	for name := range t {
		of, _ := ParseName(name)
		if table, written := t.find(sample.Target{Region: region, Table: of.Table}); written {
			all[of.Table] = table.schema()
		}
	}
	return all
}

// Decoding returns the facts about all tables that decoders of samples need.
func (t Tables) Decoding() format.Tables {
	all := make(format.Tables, len(t))
	for name := range t {
		table := t.entry(name)
		all[name] = format.Table{Schema: table.schema(), Rate: table.Rate, ItemCollections: table.Collections}
	}
	return all
}

// entry returns the settings under a name that Check accepted, with less specific entries
// in its gaps.
func (t Tables) entry(name string) Table {
	of, _ := ParseName(name)
	all, _ := t.find(of)
	return all
}

// Facts returns the configured facts of a table; nil for none.
func (t Tables) Facts(of detect.Target) *detect.TableFacts {
	w, _ := t.find(of)
	if w.Billing == "" && w.WCU == 0 && w.RCU == 0 && w.WarmWCU == 0 && w.WarmRCU == 0 && w.LSIs == nil && w.Replicas == nil && !w.Strong && w.Vectors == nil && w.PartitionKey == nil && w.SortKey == nil && w.Indexes == nil && w.Items == nil {
		return nil
	}
	schema := w.schema()
	facts := &detect.TableFacts{Billing: w.Billing, WCU: w.WCU, RCU: w.RCU, WarmWCU: w.WarmWCU, WarmRCU: w.WarmRCU, LSIs: w.LSIs, Replicas: w.Replicas, StrongRegions: w.Strong, VectorIndexes: w.Vectors, KeySchema: schema.KeySchema, Items: w.Items}
	for name, x := range w.Indexes {
		if facts.Indexes == nil {
			facts.Indexes = make(map[string]detect.IndexFacts, len(w.Indexes))
		}
		facts.Indexes[name] = detect.IndexFacts{KeySchema: schema.Indexes[name].KeySchema, WCU: x.WCU, RCU: x.RCU, WarmWCU: x.WarmWCU, WarmRCU: x.WarmRCU}
	}
	return facts
}

// Read reads a file that holds nothing but the two sections. Of no path it
// returns the defaults.
func Read(path string) (*Section, error) {
	s := Default()
	if path == "" {
		return &s, nil
	}
	if err := config.Load(&s, config.Options{Files: []string{path}}); err != nil {
		return nil, err
	}
	return &s, nil
}
