// Package hostile makes findings of which every text that a sample can hold is an attack, and
// finds what of it is in an output. It is test support, and no program imports it.
package hostile

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/docs"
	"github.com/keyheat/keyheat/internal/testsupport/scenario"
	"github.com/keyheat/keyheat/sample"
)

// Text does something in each output that shows it as it is: to a terminal, a chat, a page,
// a mail, a spreadsheet, and a reader, whom a forged line sends elsewhere.
const Text = "\x1b]8;;http://evil.example\x07\u009b31m\u202e\u2066\u061c\u200b\ufeff\u2800\u3164\ufe0f\u034f\u2028\u2029\U000E0041\x00\u007f\r\n" + forged +
	"\n<script>alert(1)</script><!channel>[x](javascript:alert(1)) =1+1\t|\v\f\u0085"

// forged is a line as our own messages have one.
const forged = "Runbook: http://evil.example"

// names are the beginnings of texts: what they are named after decides what is found of them.
var names = []string{"", "test#", "merchant#7", "orders#SHARD_1", "=", "2026-03-10#", "10 GB "}

// Fault returns what in an output is more than to be read, by people and not by programs;
// empty for nothing.
func Fault(output string) string {
	for line := range strings.Lines(output) {
		if strings.HasPrefix(strings.TrimSpace(line), forged) {
			return fmt.Sprintf("a forged line, %q", line)
		}
	}
	for _, r := range output {
		if r != '\n' && (r == 0x2800 || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)) {
			return fmt.Sprintf("%U", r)
		}
	}
	return ""
}

// FaultOfSentence is [Fault] of what has one line.
func FaultOfSentence(text string) string {
	if strings.Contains(text, "\n") {
		return "a line more"
	}
	return Fault(text)
}

// FaultInJSON returns where JSON has a text with a fault, and which; empty for nowhere.
func FaultInJSON(body []byte) string {
	var read any
	if err := json.Unmarshal(body, &read); err != nil {
		return err.Error()
	}
	return faultIn(read, "")
}

func faultIn(value any, at string) string {
	switch v := value.(type) {
	case string:
		if wrong := Fault(v); wrong != "" {
			return fmt.Sprintf("%s has %s: %q", at, wrong, v)
		}
	case []any:
		for i, of := range v {
			if wrong := faultIn(of, fmt.Sprintf("%s[%d]", at, i)); wrong != "" {
				return wrong
			}
		}
	case map[string]any:
		for name, of := range v {
			if wrong := faultIn(of, at+"."+name); wrong != "" {
				return wrong
			}
		}
	}
	return ""
}

// Maker fills values at random. The same seed gives the same values.
type Maker struct{ random *rand.Rand }

// New returns a maker.
func New(seed uint64) *Maker { return &Maker{rand.New(rand.NewPCG(seed, 24))} }

// schema is that of findings, which lists the words of each field.
var schema = func() (s struct {
	Defs map[string]*node `json:"$defs"`
}) {
	if err := json.Unmarshal(docs.Findings, &s); err != nil {
		panic(err)
	}
	return s
}()

// node is a part of the schema.
type node struct {
	Ref        string           `json:"$ref"`
	Enum       []any            `json:"enum"`
	Pattern    string           `json:"pattern"`
	Properties map[string]*node `json:"properties"`
	Items      *node            `json:"items"`
	Additional json.RawMessage  `json:"additionalProperties"`
	AnyOf      []*node          `json:"anyOf"`
	OneOf      []*node          `json:"oneOf"`
}

// Abouts are all that findings can be about: a watched [detect.Subject], or a [detect.Case].
func Abouts() (all []any) {
	for _, s := range detect.Subjects() {
		if s := detect.Subject(s); s.IsWatched() {
			all = append(all, s)
		}
	}
	for _, c := range casebook.Codes() {
		if casebook.SubjectOf(c) != "" {
			all = append(all, c)
		}
	}
	return all
}

// Finding returns a finding with all that a finding can have, or with a part of it.
func (m *Maker) Finding(about any) detect.Finding {
	var f detect.Finding
	m.fill(reflect.ValueOf(&f).Elem(), &node{Ref: "#/$defs/finding"}, "", true)
	of := scenario.NewFinding(about, detect.Target{}, sample.Key{})
	f.Subject, f.Case, f.Seconds = of.Subject, of.Case, int64(1+m.random.IntN(600))
	f.Replication = nilOr(m, f.Replication)
	if m.Odds(2) {
		f.Seconds *= 10
	}
	f.LastSeen = f.FirstSeen.Add(time.Duration(f.Seconds) * time.Second)
	f.KeyType = []string{"S", "S", "S", "N", "B", "SN"}[m.random.IntN(6)]
	f.Case = casebook.Diagnose(&f)
	return f
}

func nilOr[T any](m *Maker, v *T) *T {
	if m.Odds(2) {
		return nil
	}
	return v
}

// Table returns what was seen of a table.
func (m *Maker) Table(of detect.Target) detect.Table {
	t := detect.Table{View: &detect.View{}}
	m.fill(reflect.ValueOf(&t).Elem(), &node{Ref: "#/$defs/table"}, "", true)
	t.Target = of
	if t.View == nil {
		t.View = &detect.View{}
	}
	return t
}

// Odds reports true once in so many times.
func (m *Maker) Odds(n int) bool { return m.random.IntN(n) == 0 }

// Text returns a text of a sample.
func (m *Maker) Text() string { return names[m.random.IntN(len(names))] + Text }

// Number returns an amount: a share, or units a second.
func (m *Maker) Number() float64 {
	numbers := []float64{0, 0.01, 0.3, 0.62, 0.9, 1, 2, 12, 80, 550, 950, 1100, 1700, 3400, 5000, 12 << 10, 300 << 10}
	return numbers[m.random.IntN(len(numbers))]
}

// Incident returns an incident of which a finding is the root.
func (m *Maker) Incident(f *detect.Finding) detect.Incident {
	var i detect.Incident
	m.fill(reflect.ValueOf(&i).Elem(), &node{Ref: "#/$defs/incident"}, "", true)
	i.Target, i.ID, i.Root, i.Findings, i.State, i.Severity = f.Target, f.Incident, f.Fingerprint, []string{f.Fingerprint, "a", "b"}, f.State, f.Severity
	i.RunbookURL = "https://wiki.example.com/"
	return i
}

// fill fills a value by its part of the schema. A sentence of ours is left as it is.
func (m *Maker) fill(v reflect.Value, of *node, field string, whole bool) {
	of = of.resolve()
	switch v.Kind() {
	case reflect.Pointer:
		if whole || !m.Odds(3) {
			v.Set(reflect.New(v.Type().Elem()))
			m.fill(v.Elem(), of, field, whole)
		}
	case reflect.Struct:
		m.fillStruct(v, of, whole)
	case reflect.Slice:
		n := m.random.IntN(4)
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			m.fill(v.Index(i), of.items(), field, false)
		}
	case reflect.Map:
		m.fillMap(v, field)
	case reflect.String:
		m.fillString(v, of, field)
	case reflect.Bool:
		v.SetBool(m.Odds(2))
	case reflect.Int, reflect.Int64:
		v.SetInt([]int64{0, 1, 2, 3, 12, 60, 180, 1000}[m.random.IntN(8)])
	case reflect.Float64:
		v.SetFloat(m.Number())
	}
}

func (m *Maker) fillStruct(v reflect.Value, of *node, whole bool) {
	if at, is := v.Addr().Interface().(*time.Time); is {
		*at = time.Date(2026, 3, 10, 9, 0, m.random.IntN(600), 0, time.UTC)
		return
	}
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-":
		case f.Anonymous:
			m.fillStruct(v.Field(i), of, whole)
		case f.Name == "Note" || f.Name == "Guide" || v.Type() == reflect.TypeFor[detect.Finding]() && slices.Contains([]string{"Title", "Summary", "Text"}, f.Name):
		default:
			m.fill(v.Field(i), of.property(name), name, whole && !m.Odds(8))
		}
	}
}

func (m *Maker) fillMap(v reflect.Value, field string) {
	v.Set(reflect.MakeMap(v.Type()))
	words := []string{"team"}
	if field == "refused" {
		words = []string{sample.KeyRange.String(), sample.Provisioned.String(), sample.OfIndex.String(), sample.OfIndexCapacity.String()}
	}
	for _, word := range words {
		if field == "refused" && m.Odds(2) {
			continue
		}
		value := reflect.New(v.Type().Elem()).Elem()
		m.fill(value, &node{}, field, false)
		v.SetMapIndex(reflect.ValueOf(word).Convert(v.Type().Key()), value)
	}
}

func (m *Maker) fillString(v reflect.Value, of *node, field string) {
	ops := []string{"GetItem", "Query", "PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems", "TransactGetItems"}
	switch {
	case len(of.Enum) > 0:
		v.SetString(of.Enum[m.random.IntN(len(of.Enum))].(string))
	case of.Pattern != "" && field != "key_type":
		v.SetString(strings.Repeat("0123456789abcdef", 2))
	case field == "unit":
		v.SetString("wcu")
	case field == "op":
		v.SetString(ops[m.random.IntN(len(ops))])
	case v.Type() != reflect.TypeFor[string](): // a word of ours that the schema lists elsewhere
	case (field == "region" || field == "account" || field == "index") && m.Odds(2):
	default:
		v.SetString(m.Text())
	}
}

func (n *node) resolve() *node {
	for range 10 {
		switch {
		case n == nil:
			return &node{}
		case n.Ref != "":
			n = schema.Defs[strings.TrimPrefix(n.Ref, "#/$defs/")]
		case len(n.AnyOf) > 0:
			n = n.AnyOf[0]
		case len(n.OneOf) > 0:
			n = n.OneOf[0]
		default:
			return n
		}
	}
	return n
}

func (n *node) property(name string) *node {
	if p := n.Properties[name]; p != nil {
		return p
	}
	return &node{}
}

func (n *node) items() *node {
	if n.Items != nil {
		return n.Items
	}
	return &node{}
}
