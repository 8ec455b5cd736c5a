package tables_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/internal/settings/config"
	"github.com/keyheat/keyheat/internal/settings/tables"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/reference"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/format"
	"github.com/keyheat/keyheat/shardkey"
)

func read(t *testing.T, text string) (*tables.Section, error) {
	t.Helper()
	return tables.Read(file(t, "tables.yaml", text))
}

func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must.Succeed(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

const whole = `
policy: {warning: 0.7, exclude: [healthcheck]}
tables:
  orders:
    partition_key: customer
    sort_key: [id]
    indexes:
      by-status: {partition_key: status, sort_key: created, projection: KEYS_ONLY, wcu: 10, rcu: 20}
      by-place: {partition_key: [country, city], projection: INCLUDE, include: [total]}
    lsis: [by-date]
    billing: PROVISIONED
    wcu: 100
    rcu: 200
    rate: 0.01
    headroom: 2
    severity: warning
    suffix: "BASE.7"
    exclude: ["test-*", "a"]
  users: {partition_key: id, sort_key: [], lsis: []}
  sampled: {rate: 0.5, item_collection_keys: true}
  carts: {}
`

func TestPolicies(t *testing.T) {
	t.Parallel()
	s, err := read(t, whole)
	must.Succeed(t, err)
	dot := shardkey.DotNumber()
	want := detect.Policy{Warning: 0.7, Headroom: 2, Severest: detect.Warning, Suffix: &dot, Exclude: []string{"test-*", "a"}, Lifecycle: detect.Lifecycle{OnHarm: true, KeepFiring: time.Minute}}
	if got := s.DetectPolicy(detect.Target{Table: "orders", Index: "by-status"}); !reflect.DeepEqual(got, want) {
		t.Errorf("orders: %+v, want %+v", got, want)
	}
	general := detect.Policy{Warning: 0.7, Headroom: detect.DefaultHeadroom, Exclude: []string{"healthcheck"}, Lifecycle: detect.Lifecycle{OnHarm: true, KeepFiring: time.Minute}}
	for _, table := range []string{"carts", "not written"} {
		if got := s.DetectPolicy(detect.Target{Table: table}); !reflect.DeepEqual(got, general) {
			t.Errorf("%s: %+v, want %+v", table, got, general)
		}
	}
}

// TestWarningsHaveALifecycleOfTheirOwn: what it leaves out is that of all incidents, and
// what a table leaves out is the general policy's.
func TestWarningsHaveALifecycleOfTheirOwn(t *testing.T) {
	t.Parallel()
	s, err := read(t, `policy: {repeat: 1h, warning_for: 5m, warning_repeat: 24h}
tables:
  orders: {for: 0s, keep_firing: 2m}
`)
	must.Succeed(t, err)
	for table, want := range map[string][2]detect.Lifecycle{
		"carts":  {{OnHarm: true, KeepFiring: time.Minute, Repeat: time.Hour}, {For: 5 * time.Minute, KeepFiring: time.Minute, Repeat: 24 * time.Hour}},
		"orders": {{KeepFiring: 2 * time.Minute, Repeat: time.Hour}, {For: 5 * time.Minute, KeepFiring: 2 * time.Minute, Repeat: 24 * time.Hour}},
	} {
		p := s.DetectPolicy(detect.Target{Table: table})
		if got := [2]detect.Lifecycle{p.LifecycleOf(detect.Critical), p.LifecycleOf(detect.Warning)}; got != want {
			t.Errorf("%s: %+v, want %+v", table, got, want)
		}
	}
}

// TestRunbooks: a table's own address, else the general one's, with the kind in it.
func TestRunbooks(t *testing.T) {
	t.Parallel()
	s, err := read(t, `policy: {runbook_url: "https://wiki.example.com/dynamodb?about={case}#{case}"}
tables:
  orders: {runbook_url: "http://wiki:8080/orders"}
  carts: {}
`)
	must.Succeed(t, err)
	for table, want := range map[string]string{
		"orders": "http://wiki:8080/orders",
		"carts":  "https://wiki.example.com/dynamodb?about=shared_partition#shared_partition",
		"":       "https://wiki.example.com/dynamodb?about=shared_partition#shared_partition",
	} {
		if got := s.DetectPolicy(detect.Target{Table: table}).Runbook(casebook.SharedPartition); got != want {
			t.Errorf("%s: %s, want %s", table, got, want)
		}
	}
	if got := (detect.Policy{}).Runbook(casebook.SharedPartition); got != "" {
		t.Errorf("without one: %s", got)
	}
}

// TestTheMostSpecificEntryWins reads entries of a table, of one Region and of one
// account and Region: what one leaves out is the less specific one's.
func TestTheMostSpecificEntryWins(t *testing.T) {
	t.Parallel()
	s, err := read(t, `
policy: {headroom: 3}
tables:
  orders:
    partition_key: customer
    sort_key: id
    wcu: 100
    rate: 0.1
    warning: 0.6
    indexes: {by-status: {partition_key: status}}
    replicas: [us-west-2]
  eu-west-1/orders: {warning: 0.7, rate: 0.2, indexes: {by-day: {partition_key: day}}}
  123456789012/eu-west-1/orders: {rate: 0.3, rcu: 5, severity: warning, replicas: []}
`)
	must.Succeed(t, err)
	decoded := s.Tables.Decoding()
	for _, c := range []struct {
		of       detect.Target
		warning  float64
		severest detect.Severity
		rate     float64
		wcu, rcu float64
		indexes  int
		replicas int
	}{
		{detect.Target{}, 0.6, "", 0.1, 100, 0, 1, 1},
		{detect.Target{Account: "123456789012"}, 0.6, "", 0.1, 100, 0, 1, 1},
		{detect.Target{Region: "us-west-2"}, 0.6, "", 0.1, 100, 0, 1, 1},
		{detect.Target{Region: "eu-west-1"}, 0.7, "", 0.2, 100, 0, 2, 1},
		{detect.Target{Account: "210987654321", Region: "eu-west-1"}, 0.7, "", 0.2, 100, 0, 2, 1},
		{detect.Target{Account: "123456789012", Region: "eu-west-1"}, 0.7, detect.Warning, 0.3, 100, 5, 2, 0},
	} {
		c.of.Table = "orders"
		p, facts := s.DetectPolicy(c.of), s.Tables.Facts(c.of)
		if p.Warning != c.warning || p.Severest != c.severest || p.Headroom != 3 {
			t.Errorf("the policy of %s is %+v", c.of.Name(), p)
		}
		if facts.WCU != c.wcu || facts.RCU != c.rcu || len(facts.Indexes) != c.indexes || len(facts.Replicas) != c.replicas || facts.PartitionKey[0] != "customer" {
			t.Errorf("the facts of %s are %+v", c.of.Name(), facts)
		}
		table, _ := sample.Lookup(decoded, c.of)
		if table.Rate != c.rate || len(table.Schema.Indexes) != c.indexes || table.Schema.SortKey[0] != "id" {
			t.Errorf("%s is decoded as %+v", c.of.Name(), table)
		}
	}
	if got := s.Tables.Schemas("eu-west-1"); len(got) != 1 || len(got["orders"].Indexes) != 2 {
		t.Errorf("the schemas of eu-west-1 are %+v", got)
	}
}

func TestFacts(t *testing.T) {
	t.Parallel()
	s, err := read(t, whole)
	must.Succeed(t, err)
	for table, want := range map[string]*detect.TableFacts{
		"orders": {
			Billing: detect.BillingProvisioned, WCU: 100, RCU: 200, LSIs: []string{"by-date"}, KeySchema: sample.Keys("customer", "id"),
			Indexes: map[string]detect.IndexFacts{
				"by-status": {KeySchema: sample.Keys("status", "created"), WCU: 10, RCU: 20},
				"by-place":  {KeySchema: sample.KeySchema{PartitionKey: []string{"country", "city"}}}, // a sort key that nobody wrote
			},
		},
		"users":   {KeySchema: sample.Keys("id"), LSIs: []string{}},
		"sampled": nil, "carts": nil, "not written": nil,
	} {
		if got := s.Tables.Facts(detect.Target{Table: table}); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", table, got, want)
		}
	}
}

func TestDecoding(t *testing.T) {
	t.Parallel()
	s, err := read(t, whole)
	must.Succeed(t, err)
	orders := sample.Schema{
		KeySchema: sample.Keys("customer", "id"),
		Indexes: map[string]sample.IndexSchema{
			"by-status": {KeySchema: sample.Keys("status", "created"), Projection: sample.ProjectKeysOnly},
			"by-place": {
				KeySchema:  sample.KeySchema{PartitionKey: []string{"country", "city"}},
				Projection: sample.ProjectInclude, Include: []string{"total"},
			},
		},
	}
	want := format.Tables{
		"orders": {Schema: orders, Rate: 0.01}, "sampled": {Rate: 0.5, ItemCollections: true}, "carts": {},
		"users": {Schema: sample.Schema{KeySchema: sample.Keys("id")}},
	}
	if got := s.Tables.Decoding(); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if got := s.Tables.Schemas("eu-west-1")["orders"]; !reflect.DeepEqual(got, orders) {
		t.Errorf("got %+v, want %+v", got, orders)
	}
}

// One file serves every program: a part of the settings of each, and alone.
func TestOneFileForAll(t *testing.T) {
	t.Parallel()
	path := file(t, "tables.yaml", whole)
	var collector struct {
		Kafka struct {
			Topics []string `yaml:"topics"`
		} `yaml:"kafka"`
		tables.FileSection
	}
	collector.FileSection = tables.DefaultFile()
	own := file(t, "collector.yaml", "kafka: {topics: [samples]}\ntables: {orders: {rate: 0.1}, more: {rate: 1}}\n")
	must.Succeed(t, config.Load(&collector, config.Options{Files: []string{path, own}}))
	alone, err := tables.Read(path)
	must.Succeed(t, err)
	want := alone.Tables
	orders := want["orders"]
	orders.Rate = 0.1
	want["orders"], want["more"] = orders, tables.Table{Rate: 1}
	if !reflect.DeepEqual(collector.Tables, want) || collector.Kafka.Topics == nil {
		t.Errorf("got  %+v\nwant %+v", collector.Tables, want)
	}
}

// Every form that shardkey knows can be written as its example.
func TestFormsAreWrittenAsExamples(t *testing.T) {
	t.Parallel()
	for _, want := range shardkey.Forms() {
		s, err := read(t, `policy: {suffix: "`+want.String()+`"}`)
		if err != nil {
			t.Errorf("%s: %v", want, err)
			continue
		}
		if got := s.DetectPolicy(detect.Target{}).Suffix; *got != want {
			t.Errorf("%s is %+v", want, got)
		}
	}
	for _, wrong := range []string{"BASE", "7BASE", "BASE7", "base#7", "BASE#8", "BASE#17", "X#7"} {
		if s, err := read(t, `policy: {suffix: "`+wrong+`"}`); err == nil {
			t.Errorf("%q is taken for %+v", wrong, s.DetectPolicy(detect.Target{}).Suffix)
		}
	}
}

func TestMistakesSayWhatToDo(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"policy: {warning: 80}":        "tables.yaml:1: policy.warning: warning is 80: give the share",
		"policy: {headroom: 0}":        "tables.yaml:1: policy.headroom: headroom is 0: give a factor from 1 to 100",
		"policy: {for: soon}":          `policy.for: "soon": give harm, or a time such as 30s, or 0s`,
		"policy: {for: -1s}":           `policy.for: "-1s": give harm, or a time such as 30s, or 0s`,
		"policy: {keep_firing: -1m}":   "policy.keep_firing: a negative time: give 0 or more",
		"policy: {repeat: 5s}":         "policy.repeat: repeat is 5s: give at least 1m0s, or 0 for never",
		"policy: {warning_for: soon}":  `policy.warning_for: "soon": give harm, or a time such as 30s, or 0s`,
		"policy: {warning_repeat: 5s}": "policy.warning_repeat: repeat is 5s: give at least 1m0s",
		"policy: {severity: loud}":     `policy.severity: severity "loud": give critical, warning or info`,
		"policy: {suffix: \"#7\"}":     `policy.suffix: "#7": write key shard 7 of BASE`,
		"policy: {exclude: [\"[\"]}":   "policy.exclude: excluded key",

		"policy: {runbook_url: wiki/dynamodb}":                               `policy.runbook_url: runbook URL "wiki/dynamodb": write https://wiki.example.com/dynamodb`,
		"policy: {runbook_url: \"javascript:alert(1)\"}":                     "an absolute address of http or https",
		"policy: {runbook_url: \"ftp://wiki/x\"}":                            "an absolute address of http or https",
		"policy: {runbook_url: \"https://\"}":                                "an absolute address of http or https",
		"policy: {runbook_url: \"https://w/a b\"}":                           "an absolute address of http or https",
		"policy: {runbook_url: \"https://w/|<!channel>\"}":                   "an absolute address of http or https",
		"policy: {runbook_url: \"https://u:hunter2@wiki/x\"}":                "policy.runbook_url: a runbook URL with a user: all receivers see it",
		"policy: {keys: hmac, words: [user]}":                                `policy.words does not exist any more`,
		"policy: {scale_by_coverage: true}":                                  `policy.scale_by_coverage does not exist any more: leave it out`,
		"policy: {runbook_url: \"https://w/{key}\"}":                         `"https://w/{key}": only {case} is replaced`,
		"policy: {runbook_url: https://w/" + strings.Repeat("x", 2000) + "}": "runbook URL of 2010 bytes: give at most 2000",

		"tables: {a/b: {wcu: 1}}":                                                     `tables.a/b: "a" is no Region: write a table, Region/table or account/Region/table`,
		"tables: {123456789012/a: {wcu: 1}}":                                          "123456789012 is an account without a Region: write account/Region/table",
		"tables: {12/eu-west-1/a: {wcu: 1}}":                                          `"12" is no account of 12 digits`,
		"tables: {123456789012/eu/west/1/a: {}}":                                      "tables.123456789012/eu/west/1/a: write a table, Region/table",
		"tables: {eu-west-1/: {}}":                                                    "tables.eu-west-1/: write a table, Region/table",
		"tables: {eu-west-1/orders: {sort_key: b}}":                                   "tables.eu-west-1/orders: a sort key without a partition key",
		"tables: {ab: {wcu: 1}}":                                                      `tables.ab: "ab" is not a table's name: it has 3 to 255 letters, digits`,
		"tables: {orders: {indexes: {ab: {partition_key: p}}}}":                       `tables.orders: index "ab": an index's name has 3 to 255 letters`,
		"tables: {orders: {lsis: [ab]}}":                                              `tables.orders.lsis: "ab" is not an index's name: it has 3 to 255 letters`,
		"tables: {orders: {lsis: ['']}}":                                              `tables.orders.lsis: "" is not an index's name`,
		"tables: {orders: {vector_indexes: [by text]}}":                               `tables.orders.vector_indexes: "by text" is not an index's name: it has 3 to 255 letters`,
		"tables: {orders: {replicas: [Ireland]}}":                                     `tables.orders.replicas: "Ireland" is no Region`,
		"tables: {orders: {headroom: 0.5}}":                                           "tables.yaml:1: tables.orders.headroom: headroom is 0.5: give a factor from 1 to 100",
		"tables: {orders: {billing: FREE}}":                                           `tables.orders.billing: "FREE": give PAY_PER_REQUEST or PROVISIONED`,
		"tables: {orders: {wcu: -1}}":                                                 "tables.orders.wcu: -1: give units a second, 0 when not known",
		"tables: {orders: {rate: 2}}":                                                 "tables.orders.rate: 2: give a share above 0 up to 1",
		"tables: {orders: {rate: -0.1}}":                                              "tables.orders.rate: -0.1",
		"tables: {orders: {sort_key: b}}":                                             "tables.orders: a sort key without a partition key: name both",
		"tables: {orders: {partition_key: b, sort_key: b}}":                           "tables.orders: the key names an attribute twice",
		"tables: {orders: {partition_key: [b, c]}}":                                   "tables.orders: 2 attributes in the partition key: name one, only an index may have more",
		"tables: {orders: {indexes: {by-date: {rcu: -1, partition_key: p}}}}":         "tables.orders.indexes.by-date.rcu: -1",
		"tables: {orders: {indexes: {by-date: {wcu: 1}}}}":                            "tables.orders: index by-date: no partition key: name 1 to 4 attributes",
		"tables: {orders: {indexes: {by-date: {partition_key: p, projection: X}}}}":   `index by-date: projection "X": write ALL, KEYS_ONLY or INCLUDE`,
		"tables: {orders: {indexes: {by-date: {partition_key: p, include: [x]}}}}":    "attributes to include belong to the projection INCLUDE",
		"tables: {orders: {indexes: {by-date: {partition_key: p}}, lsis: [by-date]}}": "tables.orders.lsis: by-date is a global secondary index",
		"tables: {orders: {indexes: {by-date: {partition_key: [a, b, c, d, e]}}}}":    "5 attributes in the partition key: name 1 to 4",
		"tables: {orders: {indexes: [i]}}":                                            "tables.orders.indexes: write keys and values here",
		"tables: {orders: {partition_key: {S: b}}}":                                   "tables.orders.partition_key: write one value here",
		"tables:\n  orders: {wcu: 1}\n  orders: {wcu: 2}":                             `tables.yaml:3: "tables.orders" is already set in line 2`,
		"tables: [a]":                     "tables: write keys and values here",
		"tables: {orders: {warnings: 1}}": `unknown key "tables.orders.warnings": did you mean "warning"`,
		"tables: {orders: {indexes: {by-date: {partition_keys: p}}}}": `unknown key "tables.orders.indexes.by-date.partition_keys": did you mean "partition_key"`,
		"store: {}":                                 `unknown key "store"`,
		"tables: {orders: {facts: {}}}":             `unknown key "tables.orders.facts"`,
		"tables: {orders: {facts: {colour: red}}}":  `unknown key "tables.orders.facts"`,
		"tables: {orders: {facts: {}, warning: 7}}": "tables.orders.warning: warning is 7",
	} {
		if _, err := read(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s:\n%v\nwant %s", text, err, want)
		}
	}
	if _, err := tables.Read(filepath.Join(t.TempDir(), "none.yaml")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

// The reference in the documentation is what the section takes. On a mismatch
// write what is printed between the marks.
func TestReferenceIsTrue(t *testing.T) {
	t.Parallel()
	section := struct {
		Policy tables.Policy `yaml:"policy"`
		Tables tables.Tables `yaml:"tables" help:"single tables, by name"`
	}{Policy: tables.Default().Policy}
	reference.Check(t, "../../../docs/CONFIGURATION.md", "tables", &section)
}

// The example in the documentation is read without a fault.
func TestExampleIsRead(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/CONFIGURATION.md")
	must.Succeed(t, err)
	_, rest, _ := strings.Cut(string(page), "<!-- tables ends -->")
	_, rest, _ = strings.Cut(rest, "```yaml\n")
	example, _, found := strings.Cut(rest, "```")
	if _, err := read(t, example); !found || err != nil {
		t.Error(err)
	}
}
