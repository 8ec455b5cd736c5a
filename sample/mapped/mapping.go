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
	// attribute for candidate keys is named attrs.NAME. "begin:" is the time with which a
	// line begins, in front of its object.
	Fields map[string]string
	// Unit is that of times which are numbers; milliseconds when empty.
	Unit Unit
	// Layout is the form of all times, in the letters of strftime: %d.%m.%Y %H:%M:%S.
	// Empty, numbers are of Unit, and texts have one of the forms that are known.
	Layout string
	// Table is the table of samples that name none.
	Table string
}

// constant begins a value that all samples have.
const constant = "const:"

// IsZero reports whether nothing is mapped.
func (m *Mapping) IsZero() bool {
	return len(m.Fields) == 0 && m.Unit == "" && m.Layout == "" && m.Table == ""
}

// ParseFields reads pairs such as "ts=time,pk=detail.key" into the mapping. A name with a
// comma stands in quotes, as [Quote] writes it: pk="Customer, ID". A field that the mapping
// has already is replaced.
func (m *Mapping) ParseFields(text string) error {
	for rest := text; ; {
		pair, behind, more, err := nextPair(rest)
		if err != nil {
			return err
		}
		if m.Fields == nil {
			m.Fields = make(map[string]string)
		}
		m.Fields[pair[0]] = pair[1]
		if rest = behind; !more {
			return m.Validate()
		}
	}
}

// nextPair reads the pair that a text begins with; more reports whether another one follows.
func nextPair(text string) (pair [2]string, behind string, more bool, err error) {
	plain, behind, more := strings.Cut(text, ",")
	name, from, found := strings.Cut(plain, "=")
	if !found {
		return pair, "", false, fmt.Errorf("%q: write FIELD=THEIRS, such as pk=customer_id; a name with a comma stands in quotes, such as pk=\"Customer, ID\"", plain)
	}
	pair = [2]string{strings.TrimSpace(name), strings.TrimSpace(from)}
	if !strings.HasPrefix(pair[1], `"`) {
		return pair, behind, more, nil
	}
	_, rest, _ := strings.Cut(text, `"`)
	n := countQuoted([]byte(rest))
	if n < 0 {
		return pair, "", false, fmt.Errorf("%q: the quote is not closed", text)
	}
	pair[1] = strings.ReplaceAll(rest[:n-1], `""`, `"`)
	nothing, behind, more := strings.Cut(rest[n:], ",")
	if strings.TrimSpace(nothing) != "" {
		return pair, "", false, fmt.Errorf("%q: a comma follows a name in quotes", text)
	}
	return pair, behind, more, nil
}

// Quote returns a name as [Mapping.ParseFields] reads it: in quotes where it would be taken
// for something else.
func Quote(name string) string {
	if !strings.ContainsAny(name, `",`) && strings.TrimSpace(name) == name {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
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
	if m.Unit != "" && m.Layout != "" {
		return fmt.Errorf("time unit %s and time layout %q: numbers have a unit, texts a layout: give one", m.Unit, m.Layout)
	}
	for name, from := range m.Fields {
		if from == begin && name != "ts" {
			return fmt.Errorf("%s=%s: only the time, ts, can be what a line begins with", name, begin)
		}
	}
	_, err := compileLayout(m.Layout)
	return err
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
	kindThrottle
)

// kinds are the fields of Keyheat JSON.
var kinds = map[string]kind{
	"ts": kindTime, "table": kindText, "index": kindText, "pk": kindKey, "sk": kindKey, "op": kindOp,
	"rcu": kindNumber, "wcu": kindNumber, "bytes": kindNumber, "read": kindText, "throttle": kindThrottle,
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
	path  string // of theirs; empty for a constant
	fixed string // a constant's value
	said  bool   // by the operator
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
	return rule{name: name, kind: k, path: from, said: said}
}
