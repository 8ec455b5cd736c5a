// Package mapped reads samples that have other people's fields: JSON, JSON in the lines
// of a log, and CSV or TSV under a line of names. A [Mapping] says which of their fields
// is which of Keyheat JSON's:
//
//	ts=time,pk=detail.key,op=detail.operation,table=const:orders
//
// What is mapped is checked as Keyheat JSON is. Fields that no mapping names keep their
// own names: a column wcu counts without a word. Nothing is dropped silently: a line
// without a key or a time is a bad sample, and so is a row with too few columns.
package mapped

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Unit is what numbers that are times count since 1970.
type Unit string

// The units.
const (
	Seconds      Unit = "s"
	Milliseconds Unit = "ms"
	Microseconds Unit = "us"
	Nanoseconds  Unit = "ns"
)

// Units lists every unit.
func Units() []Unit { return []Unit{Seconds, Milliseconds, Microseconds, Nanoseconds} }

// Mapping says where the fields of a sample are. The zero Mapping is Keyheat JSON's own
// names.
type Mapping struct {
	// Fields are the names or paths of their fields, by the name of ours; or
	// "const:" and a value, or nothing for a field to leave out. A path has dots:
	// detail.key is key in the object detail, or in a text that holds it as JSON. An
	// attribute for candidate keys is named attrs.NAME.
	Fields map[string]string
	// Unit is that of times which are numbers; milliseconds when empty.
	Unit Unit
	// Table is the table of samples that name none.
	Table string
}

// constant begins a value that all samples have.
const constant = "const:"

// IsZero reports whether nothing is mapped.
func (m *Mapping) IsZero() bool { return len(m.Fields) == 0 && m.Unit == "" && m.Table == "" }

// ParseFields reads pairs such as "ts=time,pk=detail.key" into the mapping. A field that
// it has already is replaced.
func (m *Mapping) ParseFields(text string) error {
	for pair := range strings.SplitSeq(text, ",") {
		name, from, found := strings.Cut(pair, "=")
		if !found {
			return fmt.Errorf("%q: write FIELD=THEIRS, such as pk=customer_id", pair)
		}
		if m.Fields == nil {
			m.Fields = make(map[string]string)
		}
		m.Fields[strings.TrimSpace(name)] = strings.TrimSpace(from)
	}
	return m.Validate()
}

// Validate returns what is wrong with the mapping.
func (m *Mapping) Validate() error {
	for _, name := range slices.Sorted(maps.Keys(m.Fields)) {
		if attribute, is := strings.CutPrefix(name, attribute); is && attribute != "" {
			continue
		}
		if kinds[name] == 0 {
			return fmt.Errorf("%q is no field of a sample: give one of %s, or attrs.NAME", name, strings.Join(Fields(), ", "))
		}
	}
	if m.Unit != "" && !slices.Contains(Units(), m.Unit) {
		return fmt.Errorf("time unit %q: give one of %v", m.Unit, Units())
	}
	return nil
}

// attribute begins the name of an attribute for candidate keys.
const attribute = "attrs."

// kind is what a field's value is.
type kind int

const (
	_ kind = iota
	kindTime
	kindText
	kindKey
	kindOp
	kindNumber
	kindBool
	kindAttrs
)

// kinds are the fields of Keyheat JSON.
var kinds = map[string]kind{
	"ts": kindTime, "table": kindText, "index": kindText, "pk": kindKey, "sk": kindKey, "op": kindOp,
	"rcu": kindNumber, "wcu": kindNumber, "bytes": kindNumber, "read": kindText, "throttle": kindText,
	"rate": kindNumber, "n": kindNumber, "calls": kindNumber, "attempts": kindNumber, "waited_ms": kindNumber,
	"failed": kindBool, "call": kindText, "caller": kindText, "account": kindText, "region": kindText,
	"id": kindText, "attrs": kindAttrs,
}

// Fields returns the names of the fields that a mapping may have, in order.
func Fields() []string { return slices.Sorted(maps.Keys(kinds)) }

// rule is one field of samples, with where it is.
type rule struct {
	name  string
	kind  kind
	path  []string // of theirs; nil for a constant
	whole string   // the path as one name
	fixed string   // a constant's value
	said  bool     // by the operator
}

// rules returns the rules of a mapping, in an order that does not change.
func (m *Mapping) rules() (all []rule) {
	for _, name := range Fields() {
		from, said := m.Fields[name]
		if !said {
			from = name
		}
		if name == "attrs" && slices.ContainsFunc(slices.Collect(maps.Keys(m.Fields)), isAttribute) {
			continue // single ones are named
		}
		if from != "" {
			all = append(all, ruleOf(name, kinds[name], from, said))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.Fields)) {
		if isAttribute(name) && m.Fields[name] != "" {
			all = append(all, ruleOf(name, kindText, m.Fields[name], true))
		}
	}
	return all
}

func isAttribute(name string) bool { return strings.HasPrefix(name, attribute) }

func ruleOf(name string, k kind, from string, said bool) rule {
	if fixed, is := strings.CutPrefix(from, constant); is {
		return rule{name: name, kind: k, fixed: fixed, said: said}
	}
	return rule{name: name, kind: k, path: strings.Split(from, "."), whole: from, said: said}
}
