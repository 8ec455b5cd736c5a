package intake

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/format"
	"github.com/keyheat/keyheat/sample/mapped"
	"github.com/keyheat/keyheat/sketch"
)

// trial is what a mapping counts of the kept lines.
type trial struct {
	mapping mapped.Mapping
	good    int
	first   int // line that it counts
	line    int
	loads   map[string]float64 // by key, as parts of a partition's limit
	total   float64
}

func (t *trial) Record(r *sample.Record) {
	if t.good++; t.good == 1 {
		t.first = t.line
	}
	var l sketch.Load
	l.Read, l.Write = r.Load()
	weight := float64(detect.Weight(l))
	t.loads[strings.Clone(r.PK.Text)] += weight
	t.total += weight
}

// top returns the key with the most load, and its part of all.
func (t *trial) top() (key string, share float64) {
	for _, k := range slices.Sorted(maps.Keys(t.loads)) {
		if of := detect.Ratio(t.loads[k], t.total); of > share {
			key, share = k, of
		}
	}
	return key, share
}

func (t *trial) Bad(sample.RejectReason, []byte) {}

// try counts the kept lines by a mapping.
func (k *kept) try(m mapped.Mapping, table string) *trial {
	t := &trial{mapping: m, loads: map[string]float64{}}
	d := m
	d.Fields = maps.Clone(m.Fields)
	for field, path := range d.Fields {
		if path == nothing {
			d.Fields[field] = ""
		}
	}
	if d.Table = table; table == "" {
		d.Table = "NAME"
	}
	decoder := format.NewFileDecoder(nil, d)
	var text []byte
	inRows := len(k.header().Names) > 0
	if len(k.columns.Names) > 0 {
		text = k.columns.Line()
	}
	for t.line = range k.lines {
		text = append(append(text, k.lines[t.line].text...), '\n')
		if !inRows {
			decoder.Decode(text, 0, t)
			text = text[:0]
		}
	}
	if inRows { // whose notation all show together
		t.line = detect.BoolToInt(len(k.columns.Names) == 0)
		decoder.Decode(text, 0, t)
	}
	return t
}

// surveyOf returns what rows have. Where some name an operation of DynamoDB, the others are none of
// its requests.
func surveyOf(rows []mapped.Row) *survey {
	s := &survey{columns: map[string]*column{}}
	for _, r := range rows {
		s.add(r)
	}
	op := s.find("op", nil, func(c *column) bool { return c.isNearlyAll(c.ops) })
	if op == nil || op.n == s.rows {
		return s
	}
	return surveyOf(slices.DeleteFunc(rows, func(r mapped.Row) bool { return r.Values[op.path].Text == "" }))
}

// propose puts a mapping that counts the most of the kept lines, or why there is none, in front of
// the faults.
func (r *Reading) propose(k *kept, table string) {
	var best *trial
	fields := ""
	all := k.surveys()
	for _, list := range slices.Sorted(maps.Keys(all)) {
		s := all[list]
		m, why := s.guess()
		switch {
		case why != "" && (fields == "" || s.rows > 2*len(k.lines)):
			fields = "its fields are " + s.names() + "; " + why + ": name them, as in --map ts=FIELD,pk=FIELD"
		case why != "":
		default:
			if t := k.try(m, table); t.good > 0 && (best == nil || t.good > best.good) {
				best = t
			}
		}
	}
	at, text := 0, fields
	if best != nil {
		at, text = best.first, best.describe(k, table)
	}
	if text == "" {
		return
	}
	line := k.lines[at]
	same := func(f Fault) bool { return f.Reason == line.reason }
	if known := slices.IndexFunc(r.Faults, same); best == nil && (r.Good > 0 || len(k.header().Names) == 0 && !strings.HasSuffix(r.Faults[known].Remedy, "=FIELD")) {
		return // what is said already says more
	}
	fault := Fault{File: k.file, Line: line.number, Reason: line.reason, Text: shorten(line.text, maxText), Remedy: text}
	r.Faults = append([]Fault{fault}, slices.DeleteFunc(r.Faults, same)...)
}

// describe returns the mapping as flags, and what it counts.
// It returns "" if nothing has to be said to count them.
func (t *trial) describe(k *kept, table string) string {
	m := &t.mapping
	var parts, flags []string
	for _, field := range append([]string{"ts", "table", "pk", "sk", "op", "wcu", "rcu", "units", "bytes", "read", "throttle"}, strangers...) {
		path := m.Fields[field]
		if path == nothing {
			parts = append(parts, field+"=")
			continue
		}
		if path == anyOperation {
			path = "const:OPERATION"
		}
		if path != "" && path != field { // else it has its name already
			parts = append(parts, field+"="+wording.Printable(mapped.Quote(path)))
		}
	}
	if len(parts) > 0 {
		flags = append(flags, "--map "+shellQuote(strings.Join(parts, ",")))
	}
	if m.Unit != "" && m.Unit != mapped.Milliseconds {
		flags = append(flags, "--time-unit "+string(m.Unit))
	}
	if table == "" && m.Fields["table"] == "" {
		flags = append(flags, "--table NAME")
	}
	if len(flags) == 0 {
		return ""
	}
	where := "it"
	if lines := len(k.lines); lines > 1 {
		where = wording.Count(int64(lines)) + " lines"
		if k.seen > lines {
			where += " of " + wording.Count(int64(k.seen))
		}
	}
	text := fmt.Sprintf("try %s. It finds %s in %s", strings.Join(flags, " "), wording.Plural(t.good, "sample", "samples"), where)
	if key, share := t.top(); share > 0 {
		text += fmt.Sprintf("; %s has %s of their load", wording.Quote(wording.Shorten(key, maxValue)), wording.Percent(share))
	}
	return text
}

func shellQuote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }
