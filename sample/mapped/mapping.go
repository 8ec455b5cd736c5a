// Package mapped reads samples with foreign field names: JSON, JSON in the lines of a log, and
// CSV or TSV under a line of names. A [Mapping] assigns foreign fields to the fields of Keyheat
// JSON:
//
//	ts=time,pk=detail.key,op=detail.operation,table=const:orders
//
// Mapped samples pass the same checks as Keyheat JSON. Fields without a mapping keep their own
// names, so a column wcu needs none. Nothing is dropped silently: a line without a key or a
// time is a bad sample, and so is a row with too few columns.
package mapped

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/keyheat/keyheat/sample"
)

// Unit is the unit of times that are numbers since 1970.
type Unit string

// The units of time.
const (
	Seconds      Unit = "s"
	Milliseconds Unit = "ms"
	Microseconds Unit = "us"
	Nanoseconds  Unit = "ns"
)

// Units lists every unit.
func Units() []Unit { return []Unit{Seconds, Milliseconds, Microseconds, Nanoseconds} }

// Mapping assigns foreign fields to the fields of a sample. The zero Mapping keeps Keyheat
// JSON's own names.
type Mapping struct {
	// Fields are foreign names or paths, by the name of our field; or "const:" and a value, or
	// "" to leave a field out. A path has dots: detail.key is key in the object detail, or in a
	// text that contains the object as JSON. An attribute for candidate keys is named
	// attrs.NAME. "begin:" is the time at the beginning of a line, in front of its object.
	Fields map[string]string
	// Unit is the unit of times that are numbers, milliseconds by default.
	Unit Unit
	// Layout is the layout of all times, in the letters of strftime: %d.%m.%Y %H:%M:%S. If it
	// is empty, numbers are of Unit, and texts have one of the known layouts.
	Layout string
	// Table is the table of samples without a table.
	Table string
}

// constant begins a value that all samples share.
const constant = "const:"

// IsZero reports whether the mapping is empty.
func (m *Mapping) IsZero() bool {
	return len(m.Fields) == 0 && m.Unit == "" && m.Layout == "" && m.Table == ""
}

// ParseFields adds pairs such as "ts=time,pk=detail.key" to the mapping. [Quote] shows how to
// write a name with a comma: pk="Customer, ID". A later pair replaces an earlier one for the
// same field.
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

// nextPair reads the pair at the start of a text. more means that another pair follows.
func nextPair(text string) (pair [2]string, behind string, more bool, err error) {
	plain, behind, more := strings.Cut(text, ",")
	name, from, found := strings.Cut(plain, "=")
	if !found {
		return pair, "", false, fmt.Errorf("%q: write FIELD=THEIRS, such as pk=customer_id; put a name with a comma in quotes, such as pk=\"Customer, ID\"", plain)
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

// Quote returns a name for [Mapping.ParseFields], in quotes if it is ambiguous otherwise.
func Quote(name string) string {
	if !strings.ContainsAny(name, `",`) && strings.TrimSpace(name) == name {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// Validate returns the error of a mapping, or nil.
func (m *Mapping) Validate() error {
	for _, name := range slices.Sorted(maps.Keys(m.Fields)) {
		if attribute, ok := strings.CutPrefix(name, attribute); ok && attribute != "" {
			continue
		}
		if kinds[name] == 0 {
			return fmt.Errorf("%q is not a field of a sample: give one of %s, or attrs.NAME", name, strings.Join(Fields(), ", "))
		}
	}
	if m.Unit != "" && !slices.Contains(Units(), m.Unit) {
		return fmt.Errorf("time unit %q: give one of %v", m.Unit, Units())
	}
	if m.Unit != "" && m.Layout != "" {
		return fmt.Errorf("time unit %s and time layout %q: numbers have a unit, texts a layout: give one", m.Unit, m.Layout)
	}
	if !sample.IsName(m.Table) {
		return fmt.Errorf("table %.300q: a table's name has %s", m.Table, sample.NameRule)
	}
	for name, from := range m.Fields {
		if from == begin && name != "ts" {
			return fmt.Errorf("%s=%s: only ts, the time, can be at the beginning of a line", name, begin)
		}
	}
	_, err := compileLayout(m.Layout)
	return err
}

// attribute begins the name of an attribute for candidate keys.
const attribute = "attrs."

// kind is the kind of a field's value.
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
	kindCount
	kindUnits
	kindRead
)

// kinds are the fields of Keyheat JSON, and units: capacity units whose side follows the operation,
// as a number or as DynamoDB's ConsumedCapacity.
var kinds = map[string]kind{
	"ts": kindTime, "table": kindText, "index": kindText, "pk": kindKey, "sk": kindKey, "op": kindOp,
	"rcu": kindNumber, "wcu": kindNumber, "units": kindUnits, "bytes": kindNumber, "read": kindRead, "throttle": kindThrottle,
	"rate": kindNumber, "n": kindNumber, "calls": kindNumber, "attempts": kindNumber, "waited_ms": kindNumber,
	"failed": kindBool, "conflict": kindCount, "condition_failed": kindCount, "call": kindText, "caller": kindText, "account": kindText, "region": kindText,
	"id": kindText, "attrs": kindAttrs,
}

// Fields returns the names of all fields that a mapping may have, in order.
func Fields() []string { return slices.Sorted(maps.Keys(kinds)) }

// rule is one field of samples, with its source.
type rule struct {
	name  string
	kind  kind
	path  string // foreign path; empty for a constant
	fixed string // value of a constant
	said  bool   // given by the operator
}

// rules returns the rules of a mapping, always in the same order.
func (m *Mapping) rules() (all []rule) {
	for _, name := range Fields() {
		from, said := m.Fields[name]
		if !said {
			from = name
		}
		if name == "attrs" && slices.ContainsFunc(slices.Collect(maps.Keys(m.Fields)), isAttribute) {
			continue // single attributes are named
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
	if fixed, ok := strings.CutPrefix(from, constant); ok {
		return rule{name: name, kind: k, fixed: fixed, said: said}
	}
	return rule{name: name, kind: k, path: from, said: said}
}
