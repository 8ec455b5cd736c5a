package mapped

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/keyheat/keyheat/sample"
)

// Row is an object of a file that may be a sample, with the values at its paths.
type Row struct {
	// List is the path of the list that has the object, "" for a whole line or row.
	List   string
	Values map[string]Content
}

// Content is the value at a path.
type Content struct {
	Text string
	// Units means DynamoDB's ConsumedCapacity.
	Units bool
}

// RowsOf returns the objects in a line: its own, and the ones in lists within it.
func RowsOf(line []byte) (all []Row) {
	value := valueIn(line)
	if value == nil {
		value = logfmtIn(line)
	}
	if value == nil {
		return nil
	}
	rows := surveyor{&all}
	rows.row("", value, maxOpened)
	return all
}

// Row returns a row of columns as an object.
func (c *Columns) Row(line []byte) Row {
	r := Row{Values: map[string]Content{}}
	s := surveyor{new([]Row)}
	for name, text := range c.Cells(line) {
		if text != "" {
			s.value(&r, name, appendText(nil, text), maxOpened)
		}
	}
	return r
}

type surveyor struct{ all *[]Row }

func (s surveyor) row(list string, value json.RawMessage, depth int) {
	r := Row{List: list, Values: map[string]Content{}}
	s.value(&r, "", value, depth)
	if len(r.Values) > 0 {
		*s.all = append(*s.all, r)
	}
}

func (s surveyor) value(r *Row, path string, value json.RawMessage, depth int) {
	if value = present(value); value == nil || depth == 0 {
		return
	}
	object := inner(value)
	if object == nil {
		text, _ := textOf(value)
		r.Values[path] = Content{Text: text}
		return
	}
	if pairs := objectOfPairs(object); object[0] == '[' && pairs != nil {
		object = pairs
	}
	if _, ok := consumedIn(object); ok && path != "" {
		r.Values[path] = Content{Units: true}
		return
	}
	if object[0] == '[' {
		var elements []json.RawMessage
		if json.Unmarshal(object, &elements) == nil {
			for _, element := range elements {
				if element[0] == '{' || element[0] == '[' {
					s.row(join(r.List, join(path, "…")), element, depth-1)
				}
			}
		}
		return
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil {
		return
	}
	for name, of := range members { // DynamoDB's JSON wraps a value in its type
		if text, isText := textOf(of); isText && len(members) == 1 && path != "" && strings.Contains("SNBsnb", name) {
			r.Values[path] = Content{Text: text}
			return
		}
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		s.value(r, join(path, name), members[name], depth-1)
	}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// lastTime is after every request. No number between firstTime and it is one in two units.
var lastTime = time.Date(2100, time.January, 1, 0, 0, 0, 0, time.UTC).UnixMilli()

// TimeUnit returns the unit in which a text is a time, "" for a text of a known layout. ok is false
// if it is none with seconds since 2012, DynamoDB's first year.
func TimeUnit(text string) (u Unit, ok bool) {
	text = strings.TrimSpace(text)
	if _, err := strconv.ParseFloat(text, 64); err != nil {
		d := Decoder{times: knownTimes}
		_, ok = d.millis(text)
		return "", ok
	}
	for _, unit := range Units() {
		if ms, _, ok := unit.millis(text); ok && ms >= firstTime && ms < lastTime {
			return unit, true
		}
	}
	return "", false
}

// HasTimeBefore reports whether a line has a time in front of its object.
func HasTimeBefore(line []byte) bool {
	d := Decoder{times: knownTimes}
	if object := objectIn(line); object != nil {
		d.before = line[:max(0, bytes.Index(line, object))]
	} else if logfmtIn(line) != nil {
		d.before = line[:bytes.IndexByte(line, '=')]
	}
	return d.timeBefore() != nil
}

// IsOperation reports whether a text names an operation of DynamoDB.
func IsOperation(text string) bool {
	_, known := sample.ParseOp(operation(text))
	return known
}
