package conformance_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/keyheatjson"
)

// table is calls.json. README.md describes its fields.
type table struct {
	Tables map[string]schema `json:"tables"`
	Calls  []call            `json:"calls"`
}

type schema struct {
	PK      []string          `json:"pk"`
	SK      []string          `json:"sk"`
	Local   bool              `json:"local,omitempty"`
	Indexes map[string]schema `json:"indexes,omitempty"`
}

// call is one request of a program, and what its client must see of it.
type call struct {
	Name    string            `json:"name"`
	Op      string            `json:"op"`
	Input   json.RawMessage   `json:"input"`
	Ask     bool              `json:"ask,omitempty"`
	HMAC    string            `json:"hmac,omitempty"`
	Retry   []string          `json:"retry,omitempty"`
	Answers []answer          `json:"answers,omitempty"`
	Error   string            `json:"error,omitempty"`
	Samples []sampleJSON      `json:"samples"`
	Stats   map[string]int64  `json:"stats,omitempty"`
	Unseen  map[string]string `json:"unseen,omitempty"`
}

type answer struct {
	Status int             `json:"status,omitempty"`
	Body   json.RawMessage `json:"body,omitempty"`
	Hangup bool            `json:"hangup,omitempty"`
}

type sampleJSON = map[string]any

// order is what a client gets of a call. A runner reads orders, one a line.
type order struct {
	Endpoint string            `json:"endpoint"`
	Tables   map[string]schema `json:"tables"`
	Op       string            `json:"op"`
	Input    json.RawMessage   `json:"input"`
	Ask      bool              `json:"ask"`
	HMAC     string            `json:"hmac"`
	Retry    []string          `json:"retry"`
}

// observed is what a client returns: its samples and counts, the code of the program's error, and
// whether the program got a capacity.
type observed struct {
	Samples  []sampleJSON     `json:"samples"`
	Stats    map[string]int64 `json:"stats"`
	Error    string           `json:"error"`
	Capacity bool             `json:"capacity"`
}

// repeated stands for so many letters in a text of calls.json, such as ${3500}.
var repeated = regexp.MustCompile(`\$\{(\d+)\}`)

func expand(text []byte) []byte {
	return repeated.ReplaceAllFunc(text, func(match []byte) []byte {
		n, _ := strconv.Atoi(string(match[2 : len(match)-1])) // the expression matches digits alone
		return bytes.Repeat([]byte("x"), n)
	})
}

func readTable(t *testing.T) table {
	t.Helper()
	text, err := os.ReadFile("calls.json")
	if err != nil {
		t.Fatal(err)
	}
	var all table
	decoder := json.NewDecoder(bytes.NewReader(expand(text)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&all); err != nil {
		t.Fatal(err)
	}
	return all
}

// usual are the counts that follow from the samples, or are the same for each call.
var usual = []string{"requests", "kept", "records", "sent"}

// differences compares what a client saw with the table's call.
func (c *call) differences(t *testing.T, got observed) (all []string) {
	t.Helper()
	for _, s := range got.Samples {
		if s["caller"] != "conformance" || s["calls"] == nil {
			all = append(all, "a sample without its caller or its calls: "+toJSON(t, s))
		}
	}
	if lines, want := normalized(t, got.Samples), normalized(t, c.Samples); !slices.Equal(lines, want) {
		all = append(all, "samples\n  "+strings.Join(lines, "\n  ")+"\nwant\n  "+strings.Join(want, "\n  "))
	}
	counts := maps.Clone(got.Stats)
	maps.DeleteFunc(counts, func(name string, n int64) bool { return n == 0 || slices.Contains(usual, name) })
	if len(counts)+len(c.Stats) > 0 && !maps.Equal(counts, c.Stats) {
		all = append(all, "counts "+toJSON(t, counts)+", want "+toJSON(t, c.Stats))
	}
	if got.Error != c.Error {
		all = append(all, "the program gets the error "+strconv.Quote(got.Error)+", want "+strconv.Quote(c.Error))
	}
	if got.Capacity && !bytes.Contains(c.Input, []byte("ReturnConsumedCapacity")) {
		all = append(all, "the program gets a capacity that it did not ask for")
	}
	return all
}

// normalized returns the samples as sorted lines, without the fields that differ between runs or
// are the same in all calls. A collector must accept each of them.
func normalized(t *testing.T, samples []sampleJSON) []string {
	t.Helper()
	lines := []string{}
	for _, s := range samples {
		s = maps.Clone(s)
		maps.DeleteFunc(s, func(name string, value any) bool {
			return slices.Contains([]string{"ts", "region", "waited_ms", "caller"}, name) || name == "calls" && value == 1.0
		})
		line := toJSON(t, s)
		s["ts"] = 1_763_692_032_185
		keyheatjson.NewDecoder().Decode([]byte(toJSON(t, s)), 0, acceptor{t, line})
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return lines
}

type acceptor struct {
	t    *testing.T
	line string
}

func (acceptor) Record(*sample.Record) {}

func (a acceptor) Bad(reason sample.RejectReason, _ []byte) {
	a.t.Errorf("a collector refuses %s: %s", a.line, reason)
}

func toJSON(t *testing.T, value any) string {
	t.Helper()
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(out.String(), "\n")
}
