package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/config"
	"github.com/keyheat/keyheat/shardkey"
)

// Policy says from when on a key counts as hot, and how it is told.
type Policy struct {
	Warning  float64  `yaml:"warning" help:"share of a partition's limit from which a key is a warning"`
	Headroom float64  `yaml:"headroom" help:"how many times the peak the advised shards carry"`
	MinUnits float64  `yaml:"min_units" help:"units in a table's highest second from which its key design is judged"`
	Severity string   `yaml:"severity" help:"the worst severity that a finding gets: critical, warning or info; with info nobody is woken; critical when empty"`
	Suffix   string   `yaml:"suffix" help:"how new shards are named, as the shard 7 of BASE: BASE#SHARD_7; the form that a key has already, or BASE#SHARD_7, when empty"`
	Exclude  []string `yaml:"exclude" help:"keys that no finding is made of; * stands for any text without /, ? for one character"`
}

// Table is what an operator may say about one table.
type Table struct {
	Policy
	Facts Facts `yaml:"facts"`
}

// Facts are what DynamoDB knows of a table.
type Facts struct {
	Billing string                `yaml:"billing" help:"PAY_PER_REQUEST or PROVISIONED"`
	WCU     float64               `yaml:"wcu" help:"provisioned write units a second"`
	RCU     float64               `yaml:"rcu" help:"provisioned read units a second"`
	LSIs    []string              `yaml:"lsis" help:"names of the local secondary indexes: a table with one never splits an item collection"`
	PK      []string              `yaml:"pk" help:"attributes of the partition key"`
	SK      []string              `yaml:"sk" help:"attributes of the sort key; with a pk and without an sk every key is one item"`
	Indexes map[string]IndexFacts `yaml:"indexes" help:"global secondary indexes, by name"`
}

// IndexFacts are what DynamoDB knows of a global secondary index.
type IndexFacts struct {
	PK  []string `yaml:"pk" help:"attributes of its partition key"`
	SK  []string `yaml:"sk" help:"attributes of its sort key"`
	WCU float64  `yaml:"wcu" help:"provisioned write units a second"`
	RCU float64  `yaml:"rcu" help:"provisioned read units a second"`
}

// policies are the two sections that decide how tables are judged.
type policies struct {
	Policy Policy           `yaml:"policy"`
	Tables map[string]Table `yaml:"tables" help:"policies and facts of single tables, by name; what is left out of a policy is the general one's"`
}

// defaultPolicy is what holds where nobody says otherwise.
func defaultPolicy() Policy {
	p := detect.DefaultPolicy()
	return Policy{Warning: p.Warning, Headroom: p.Headroom, MinUnits: p.MinUnits}
}

// Check implements config.Checker.
func (p *policies) Check(f *config.Faults) {
	p.Policy.check("policy", f)
	for _, name := range slices.Sorted(maps.Keys(p.Tables)) {
		p.of(name).check("tables."+name, f)
		p.Tables[name].Facts.check("tables."+name+".facts", f)
	}
}

// of is the policy of one table.
func (p *policies) of(table string) Policy {
	t := p.Tables[table].Policy
	if t.Warning == 0 {
		t.Warning = p.Policy.Warning
	}
	if t.Headroom == 0 {
		t.Headroom = p.Policy.Headroom
	}
	if t.MinUnits == 0 {
		t.MinUnits = p.Policy.MinUnits
	}
	if t.Severity == "" {
		t.Severity = p.Policy.Severity
	}
	if t.Suffix == "" {
		t.Suffix = p.Policy.Suffix
	}
	if t.Exclude == nil {
		t.Exclude = p.Policy.Exclude
	}
	return t
}

// detectPolicy is what detect asks for a table or index; the policy is one
// that Check found nothing wrong with.
func (p *policies) detectPolicy(table, _ string) detect.Policy {
	q, _ := p.of(table).detect()
	return q
}

// detectFacts is what is said of a table; nil when nothing is.
func (p *policies) detectFacts(table string) *detect.TableFacts {
	return p.Tables[table].Facts.detect()
}

func (p Policy) detect() (detect.Policy, error) {
	q := detect.Policy{
		Warning: p.Warning, Headroom: p.Headroom, MinUnits: p.MinUnits,
		Severest: detect.Severity(p.Severity), Exclude: p.Exclude,
	}
	if p.Suffix == "" {
		return q, nil
	}
	form, err := parseForm(p.Suffix)
	if err != nil {
		return q, err
	}
	q.Suffix = &form
	return q, nil
}

// check says what is wrong with a policy, field by field.
func (p Policy) check(path string, f *config.Faults) {
	one := detect.DefaultPolicy()
	if !(p.Warning > 0 && p.Warning <= 1) {
		f.Addf(path+".warning", "%g: give a share above 0 up to 1, such as 0.8", p.Warning)
	}
	if !(p.Headroom >= 1 && p.Headroom <= maxHeadroom) {
		f.Addf(path+".headroom", "%g: give 1 to %d, such as 1.5", p.Headroom, maxHeadroom)
	}
	if !(p.MinUnits >= 0) {
		f.Addf(path+".min_units", "%g: give units a second, such as 10", p.MinUnits)
	}
	if one.Severest = detect.Severity(p.Severity); one.Validate() != nil {
		f.Addf(path+".severity", "%q: give critical, warning or info", p.Severity)
	}
	if _, err := parseForm(p.Suffix); p.Suffix != "" && err != nil {
		f.Addf(path+".suffix", "%w", err)
	}
	one = detect.DefaultPolicy()
	if one.Exclude = p.Exclude; one.Validate() != nil {
		f.Addf(path+".exclude", "%w", one.Validate())
	}
}

// The parts of a form's example.
const baseExample, shardExample = "BASE", "7"

// parseForm reads the example of a form: the shard 7 of BASE.
func parseForm(example string) (shardkey.Form, error) {
	var form shardkey.Form
	after, isSuffix := strings.CutPrefix(example, baseExample)
	before, isPrefix := strings.CutSuffix(example, baseExample)
	switch {
	case example == shardExample:
		form = shardkey.NumberOnly()
	case isSuffix && strings.HasSuffix(after, shardExample):
		form.Before = strings.TrimSuffix(after, shardExample)
	case isPrefix && strings.HasPrefix(before, shardExample):
		form.Prefix, form.After = true, strings.TrimPrefix(before, shardExample)
	default:
		return form, fmt.Errorf("%q: write the shard 7 of BASE, such as BASE#SHARD_7, 7#BASE or 7", example)
	}
	if _, err := shardkey.New(1, form); err != nil {
		return form, err
	}
	return form, nil
}

func (t Facts) check(path string, f *config.Faults) {
	if t.Billing != "" && t.Billing != detect.BillingOnDemand && t.Billing != detect.BillingProvisioned {
		f.Addf(path+".billing", "%q: give %s or %s", t.Billing, detect.BillingOnDemand, detect.BillingProvisioned)
	}
	capacity := func(path string, wcu, rcu float64) {
		if !(wcu >= 0) {
			f.Addf(path+".wcu", "%g: give units a second, 0 when not known", wcu)
		}
		if !(rcu >= 0) {
			f.Addf(path+".rcu", "%g: give units a second, 0 when not known", rcu)
		}
	}
	capacity(path, t.WCU, t.RCU)
	if len(t.SK) > 0 && len(t.PK) == 0 {
		f.Addf(path+".pk", "a sort key without a partition key: name both")
	}
	for _, name := range slices.Sorted(maps.Keys(t.Indexes)) {
		capacity(path+".indexes."+name, t.Indexes[name].WCU, t.Indexes[name].RCU)
	}
}

// detect are the facts as detect takes them; nil when nothing is said.
func (t Facts) detect() *detect.TableFacts {
	if t.Billing == "" && t.WCU == 0 && t.RCU == 0 && t.LSIs == nil && t.PK == nil && t.SK == nil && t.Indexes == nil {
		return nil
	}
	facts := &detect.TableFacts{Billing: t.Billing, WCU: t.WCU, RCU: t.RCU, LSIs: t.LSIs, PK: t.PK, SK: t.SK}
	for name, x := range t.Indexes {
		if facts.Indexes == nil {
			facts.Indexes = make(map[string]detect.IndexFacts)
		}
		facts.Indexes[name] = detect.IndexFacts{PK: x.PK, SK: x.SK, WCU: x.WCU, RCU: x.RCU}
	}
	return facts
}

// readPolicies reads a file with the sections policy and tables, as a reporter
// has them.
func readPolicies(path string) (*policies, error) {
	p := &policies{Policy: defaultPolicy()}
	if path == "" {
		return p, nil
	}
	if err := config.Load(p, config.Options{File: path}); err != nil {
		return nil, err
	}
	return p, nil
}
