package intake

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/mapped"
)

// Of the lines of a file that could not be counted some are kept to try mappings on: so many of
// them, with so many bytes. They are the first ones, and then any: a file may begin with a calm hour.
const maxKept, maxKeptBytes, firstKept = 2000, 4 << 20, 20

// mappable are the reject reasons of lines that a mapping may make samples of.
var mappable = map[sample.RejectReason]bool{
	sample.RejectSyntax: true, sample.RejectNotObject: true, sample.RejectNoTime: true, sample.RejectNoKey: true, sample.RejectNoOp: true,
}

// kept are lines of a file that could not be counted, drawn alike from all of them.
type kept struct {
	file  string
	lines []keptLine
	bytes int
	seen  int
	draw  *rand.Rand
	// columns are the columns of the lines, if they were below a line of names.
	columns mapped.Columns
}

type keptLine struct {
	text   []byte
	number int64
	reason sample.RejectReason
}

// place returns where a line of a file is to be kept, negative for nowhere.
func (k *kept) place(file string) int {
	if k.file != "" && k.file != file {
		return -1
	}
	if k.draw == nil {
		k.file, k.draw = file, rand.New(rand.NewPCG(1, 1)) // the same file has the same proposal
	}
	k.seen++
	if len(k.lines) < maxKept && k.bytes < maxKeptBytes {
		return len(k.lines)
	}
	if at := k.draw.IntN(k.seen); at >= firstKept && at < len(k.lines) {
		return at
	}
	return -1
}

func (k *kept) put(at int, line keptLine, columns mapped.Columns) {
	k.columns = columns
	if at == len(k.lines) {
		k.lines = append(k.lines, keptLine{})
	}
	k.bytes += len(line.text) - len(k.lines[at].text)
	k.lines[at] = line
}

// column is what the rows have at a path.
type column struct {
	path     string
	n        int
	texts    map[string]int
	times    int
	unit     mapped.Unit // of its times
	ops      int
	numbers  int
	units    bool
	throttle int // names a reason, or that there was none
	refused  bool
	flags    int // true or false
}

func (c *column) add(v mapped.Content) {
	c.n++
	if c.units = c.units || v.Units; v.Units {
		return
	}
	c.texts[v.Text]++
	if unit, ok := mapped.TimeUnit(v.Text); ok {
		c.times, c.unit = c.times+1, unit
	}
	if _, err := strconv.ParseFloat(strings.Replace(v.Text, ",", ".", 1), 64); err == nil {
		c.numbers++
	}
	c.flags += detect.BoolToInt(v.Text == "true" || v.Text == "false")
	c.ops += detect.BoolToInt(mapped.IsOperation(v.Text))
	if reason, known := sample.ParseThrottle(v.Text); known {
		c.throttle++
		c.refused = c.refused || len(reason) > len("throttled") // a word such as true may mean anything
	}
}

// few is how many values tell nothing yet of whether they repeat.
const few = 20

// isNearlyAll reports whether a count is nearly all of a column's values.
func (c *column) isNearlyAll(n int) bool { return n > 0 && n*10 >= c.n*9 }

// repeats reports whether values come again as keys do. A column whose values hardly repeat is no
// partition key: it identifies the request.
func (c *column) repeats() bool {
	return len(c.texts) > 0 && (c.n < few || len(c.texts)*10 <= c.n*9)
}

// survey is what the kept lines have.
type survey struct {
	rows    int
	columns map[string]*column
	before  bool // a time is in front of the objects
}

func (s *survey) add(r mapped.Row) {
	s.rows++
	for path, v := range r.Values {
		if s.columns[path] == nil {
			s.columns[path] = &column{path: path, texts: map[string]int{}}
		}
		s.columns[path].add(v)
	}
}

// names returns the paths, for a person.
func (s *survey) names() string {
	const most = 12
	all := slices.Sorted(maps.Keys(s.columns))
	text := wording.Printable(strings.Join(all[:min(len(all), most)], ", "))
	if len(all) > most {
		text += ", …"
	}
	return text
}

// find returns the column that fits a field best by its name, among those that fit by their values.
func (s *survey) find(field string, taken map[string]bool, fits func(*column) bool) *column {
	var best *column
	rank := func(c *column) int {
		if at := isCalled(c.path, synonyms[field]); at >= 0 {
			return at
		}
		return len(synonyms[field])
	}
	for _, path := range slices.Sorted(maps.Keys(s.columns)) {
		c := s.columns[path]
		if !taken[path] && fits(c) && (best == nil || rank(c) < rank(best)) {
			best = c
		}
	}
	return best
}

// guess returns the likely mapping, and why there is none.
func (s *survey) guess() (m mapped.Mapping, why string) {
	m.Fields = map[string]string{}
	taken := map[string]bool{}
	set := func(field string, c *column) {
		if c != nil {
			m.Fields[field], taken[c.path] = c.path, true
		}
	}
	often := func(c *column) bool { return c.n*2 >= s.rows }
	named := func(field string, is func(*column) bool) func(*column) bool {
		return func(c *column) bool { return isCalled(c.path, synonyms[field]) >= 0 && is(c) }
	}
	number := func(c *column) bool { return c.isNearlyAll(c.numbers) }
	when := s.find("ts", taken, func(c *column) bool { return often(c) && c.isNearlyAll(c.times) })
	switch {
	case when != nil:
		if set("ts", when); when.unit != "" {
			m.Unit = when.unit
		}
	case s.before:
		m.Fields["ts"] = "begin:"
	default:
		return m, "none of them is a time with seconds in a known form"
	}
	set("op", s.find("op", taken, func(c *column) bool { return often(c) && c.isNearlyAll(c.ops) }))
	set("units", s.find("units", taken, func(c *column) bool { return c.units }))
	for _, field := range []string{"wcu", "rcu", "units", "bytes"} {
		if m.Fields[field] == "" && (field != "units" || m.Fields["wcu"]+m.Fields["rcu"] == "") {
			set(field, s.find(field, taken, named(field, number)))
		}
	}
	set("throttle", s.find("throttle", taken, func(c *column) bool {
		return c.throttle == c.n && (isCalled(c.path, synonyms["throttle"]) >= 0 || c.refused)
	}))
	set("read", s.find("read", taken, named("read", func(c *column) bool { return c.flags == c.n })))
	set("table", s.find("table", taken, named("table", func(c *column) bool { return true })))
	if m.Fields["op"]+m.Fields["wcu"]+m.Fields["rcu"] == "" {
		m.Fields["op"] = anyOperation
	}
	pk, why := s.key(taken)
	if pk == nil {
		return m, why
	}
	set("pk", pk)
	set("sk", s.sortKey(pk, taken))
	if m.Fields["pk"] != "pk" { // what has our names in other people's files means something else
		for _, field := range strangers {
			if s.columns[field] != nil && m.Fields[field] == "" {
				m.Fields[field] = nothing
			}
		}
	}
	return m, ""
}

// anyOperation stands for the operation of lines that name none, until their reader says which it is.
const anyOperation = "const:UpdateItem"

// strangers are our names of fields that have another meaning in other people's files.
var strangers = []string{"id", "index", "failed", "calls", "waited_ms", "attrs", "caller"}

// nothing stands for a field that is to be left out.
const nothing = "\x00"

// key returns the likely partition key.
func (s *survey) key(taken map[string]bool) (*column, string) {
	var near []*column
	for _, c := range s.columns {
		if !taken[c.path] && !c.units && c.n*2 >= s.rows && c.repeats() && c.nearness() > 0 && (len(c.texts) > 1 || c.n < few || c.nearness() >= sureKey) {
			near = append(near, c)
		}
	}
	slices.SortFunc(near, func(a, b *column) int {
		if a.nearness() == inKey && b.nearness() == inKey {
			return cmp.Or(cmp.Compare(len(a.texts), len(b.texts)), cmp.Compare(a.path, b.path)) // a sort key tells more apart
		}
		return cmp.Or(cmp.Compare(b.nearness(), a.nearness()), cmp.Compare(strings.Count(a.path, "."), strings.Count(b.path, ".")), cmp.Compare(a.path, b.path))
	})
	switch {
	case len(near) == 0:
		return nil, "no name and no value tells which is the partition key"
	case len(near) > 1 && near[0].nearness() == near[1].nearness() && near[0].nearness() != inKey && !maps.Equal(near[0].texts, near[1].texts):
		return nil, fmt.Sprintf("the partition key may be %s or %s", wording.Printable(near[0].path), wording.Printable(near[1].path))
	}
	return near[0], ""
}

// nearness is that of the name, or a little of values that come again and are many, as keys.
func (c *column) nearness() int {
	near := nearness(c.path)
	if near == 0 && !c.isNearlyAll(c.numbers) && !c.isNearlyAll(c.times) && len(c.texts) > few && len(c.texts)*2 <= c.n && !isNoKey(c.path) {
		return 1
	}
	return near
}

// sortKey returns the likely sort key beside a partition key; nil for none.
func (s *survey) sortKey(pk *column, taken map[string]bool) *column {
	return s.find("sk", taken, func(c *column) bool {
		beside := strings.TrimSuffix(c.path, last(c.path)) == strings.TrimSuffix(pk.path, last(pk.path))
		with := nearness(pk.path) == inKey && nearness(c.path) == inKey
		return beside && !c.units && c.n*2 >= s.rows && (len(c.texts) > 1 || c.n < few) && (with || isCalled(c.path, synonyms["sk"]) >= 0 || slices.Contains(subjects["sk"], plain(last(c.path))))
	})
}

// header returns the columns of the kept lines, if they are rows.
func (k *kept) header() mapped.Columns {
	if len(k.columns.Names) > 0 || len(k.lines) < 2 {
		return k.columns
	}
	columns, ok := mapped.ColumnsOf(k.lines[0].text)
	if !ok || slices.ContainsFunc(columns.Names, isFigure) || columns.Cells(k.lines[1].text) == nil {
		return mapped.Columns{}
	}
	return columns
}

// surveys returns what the kept lines have, for each list of objects in them.
func (k *kept) surveys() map[string]*survey {
	rows := map[string][]mapped.Row{}
	add := func(r mapped.Row) { rows[r.List] = append(rows[r.List], r) }
	columns := k.header()
	before, objects := 0, 0
	for i, line := range k.lines {
		if columns.Names != nil {
			if i > 0 || len(k.columns.Names) > 0 { // else it is the line of names
				add(columns.Row(line.text))
			}
			continue
		}
		found := mapped.RowsOf(line.text)
		for _, r := range found {
			add(r)
		}
		objects += detect.BoolToInt(len(found) > 0)
		before += detect.BoolToInt(mapped.HasTimeBefore(line.text))
	}
	all := map[string]*survey{}
	for list, of := range rows {
		all[list] = surveyOf(of)
		all[list].before = before*10 > objects*9
	}
	return all
}

// keysSeen are the keys of the first samples whose key a mapping names.
type keysSeen struct {
	n     int
	field string
	texts map[string]bool
}

// Of manyKeys samples the keys are kept, and from someKeys on they tell whether keys repeat.
const manyKeys, someKeys = 2000, 100

func (k *keysSeen) add(r *sample.Record, field string) {
	if field == "pk" {
		return
	}
	if k.texts == nil {
		k.texts, k.field = map[string]bool{}, field
	}
	if !k.texts[r.PK.Text] {
		k.texts[strings.Clone(r.PK.Text)] = true
	}
	k.n++
}

func (k *keysSeen) unrepeated() string {
	if k.n < someKeys || len(k.texts)*100 < k.n*98 {
		return ""
	}
	return k.field
}
