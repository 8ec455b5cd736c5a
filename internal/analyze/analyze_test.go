package analyze_test

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/detect/whatif"
	"github.com/keyheat/keyheat/internal/analyze"
	"github.com/keyheat/keyheat/internal/generate"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/format"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// traffic is generated traffic as lines, with keys that are hot by writes and
// by reads.
func traffic(t *testing.T, d time.Duration) []string {
	t.Helper()
	records, err := generate.Records(generate.Default(noon, d))
	must(t, err)
	var lines []string
	for r := range records {
		lines = append(lines, string(r.AppendJSON(nil)))
	}
	return lines
}

func write(t *testing.T, name string, text []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must(t, os.WriteFile(path, text, 0o600))
	return path
}

// run analyses text from standard input, which may hold nothing to judge.
func run(t *testing.T, text string, format analyze.Format) string {
	t.Helper()
	var out bytes.Buffer
	if err := analyze.Run(t.Context(), analyze.Options{
		Paths: []string{"-"}, In: strings.NewReader(text), Out: &out, Format: format,
	}); !errors.Is(err, analyze.ErrNothingJudged) {
		must(t, err)
	}
	return out.String()
}

func result(t *testing.T, text string) analyze.Result {
	t.Helper()
	var r analyze.Result
	must(t, json.Unmarshal([]byte(run(t, text, analyze.FormatJSON)), &r))
	return r
}

func must(t *testing.T, err error) {
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
}

// line is one write in a second after noon.
func line(second int, table, key string, wcu int) string {
	return fmt.Sprintf(`{"ts":%d,"table":%q,"pk":%q,"op":"UpdateItem","wcu":%d}`,
		noon.Add(time.Duration(second)*time.Second).UnixMilli(), table, key, wcu)
}

func TestPlantedKeysAreFound(t *testing.T) {
	t.Parallel()
	lines := traffic(t, 30*time.Second)
	r := result(t, strings.Join(lines, "\n"))
	if r.Samples.Good != int64(len(lines)) || len(r.Samples.Bad) != 0 {
		t.Errorf("samples %+v of %d lines", r.Samples, len(lines))
	}
	planted := make(map[string]bool)
	for _, h := range generate.Default(noon, 0).Hot {
		planted[h.PK] = true
	}
	about := make(map[any]bool)
	for i, f := range r.Findings {
		about[f.Subject] = true
		if !planted[string(f.Key)] && !strings.HasPrefix(string(f.Key), "2026-11-21") {
			t.Errorf("finding on %q, which was not planted", f.Key)
		}
		if i > 0 && f.Utilization > r.Findings[i-1].Utilization {
			t.Errorf("finding %d is more utilised than the one before", i)
		}
	}
	if !about[detect.KeyWrites] || !about[detect.KeyReads] {
		t.Errorf("findings about %v, want both", about)
	}
}

func TestTheOrderOfSamplesDoesNotMatter(t *testing.T) {
	t.Parallel()
	lines := traffic(t, 5*time.Second)
	want := result(t, strings.Join(lines, "\n"))
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	got := result(t, strings.Join(lines, "\n"))
	if !reflect.DeepEqual(got.Samples, want.Samples) || len(got.Findings) != len(want.Findings) {
		t.Fatalf("%d findings of %+v, want %d of %+v", len(got.Findings), got.Samples, len(want.Findings), want.Samples)
	}
	for i := range got.Findings {
		g, w := got.Findings[i], want.Findings[i]
		if g.Fingerprint != w.Fingerprint || g.SecondsOver() != w.SecondsOver() || g.Shards != w.Shards || g.Peak.WCU.Value != w.Peak.WCU.Value {
			t.Errorf("finding %d: %+v, want %+v", i, g, w)
		}
	}
	for i := range got.Tables {
		g, w := got.Tables[i], want.Tables[i]
		if g.Requests != w.Requests || g.WCU != w.WCU || g.RCU != w.RCU || g.Seconds != w.Seconds {
			t.Errorf("table %d: %+v, want %+v", i, g, w)
		}
	}
}

// A day's seconds are packed on the way, and trimmed where there is little memory: a key
// that was hot is found, and totals are whole. Where not even the rest fits, it is said.
func TestABoundOfMemoryHidesNoHotKey(t *testing.T) {
	t.Parallel()
	const seconds = 60_000
	var text strings.Builder
	for s := range seconds {
		for key := range 3 {
			text.WriteString(line(s, "orders", fmt.Sprint("cold", (s+key)%1000), 3) + "\n")
		}
		if s >= 20_000 && s < 20_060 {
			text.WriteString(line(s, "orders", "hot", 1200) + "\n")
		}
	}
	with := func(memory int64) (r analyze.Result, err error) {
		var out bytes.Buffer
		err = analyze.Run(t.Context(), analyze.Options{
			Paths: []string{"-"}, In: strings.NewReader(text.String()), Memory: memory, Out: &out, Format: analyze.FormatJSON,
		})
		if err == nil {
			must(t, json.Unmarshal(out.Bytes(), &r))
		}
		return r, err
	}
	for _, memory := range []int64{0, 2 << 20} {
		r, err := with(memory)
		must(t, err)
		found := slices.IndexFunc(r.Findings, func(f detect.Finding) bool { return f.Key == "hot" })
		if found < 0 || r.Findings[found].SecondsOver() != 60 || r.Tables[0].WCU != 9*seconds+60*1200 || r.Tables[0].Seconds != seconds {
			t.Errorf("with %d bytes: %+v of %+v", memory, r.Findings, r.Tables)
		}
	}
	if _, err := with(16 << 10); !errors.Is(err, analyze.ErrFull) || !strings.Contains(err.Error(), "--memory") {
		t.Errorf("what does not fit: %v", err)
	}
}

func TestTwiceTheSame(t *testing.T) {
	t.Parallel()
	text := strings.Join(traffic(t, 5*time.Second), "\n")
	first, second := run(t, text, analyze.FormatJSON), run(t, text, analyze.FormatJSON)
	if first != second {
		t.Error("two runs on the same samples differ")
	}
}

// TestHoursApartOutOfOrder: each hour has a time of its own, as for a reporter, whatever their order.
func TestHoursApartOutOfOrder(t *testing.T) {
	t.Parallel()
	var lines []string
	for hour := range 5 {
		for s := range 10 {
			lines = append(lines, line(3600*(4-hour)+s, "orders", "hot", 1500), line(3600*(4-hour)+s, "orders", fmt.Sprint("cold", s), 3))
		}
	}
	f, err := analyze.Files(t.Context(), analyze.Options{
		Paths: []string{"-"}, In: strings.NewReader(strings.Join(lines, "\n")),
	})
	must(t, err)
	f.Findings = slices.DeleteFunc(f.Findings, func(f detect.Finding) bool { return f.Case == casebook.FewValues }) // eleven keys in four hours
	if len(f.Findings) != 1 || f.Findings[0].SecondsOver() != 10 || f.Findings[0].Shards != 3 || !f.Findings[0].FirstSeen.Equal(f.Tables[0].View.To.Add(-10*time.Second)) {
		t.Errorf("findings %+v, want that of the newest ten seconds with 3 shards", f.Findings)
	}
	if f.Tables[0].WCU != 50*1503 {
		t.Errorf("%v write units, want %d", f.Tables[0].WCU, 50*1503)
	}
}

func TestBadSamplesAreCountedBesideGoodOnes(t *testing.T) {
	t.Parallel()
	r := result(t, strings.Join([]string{
		line(0, "orders", "a", 1), `{"ts":`, `{"table":"orders","pk":"a","op":"GetItem"}`,
		line(0, "orders", "b", -1), line(1, "orders", "c", 1), strings.Repeat("x", 2<<20),
	}, "\n"))
	want := map[sample.RejectReason]int64{
		sample.RejectSyntax: 2, sample.RejectNoTime: 1, sample.RejectBadUnits: 1,
	}
	if r.Samples.Good != 2 || !reflect.DeepEqual(r.Samples.Bad, want) || *r.Samples.Share != 1.0/3 {
		t.Errorf("samples %+v, want %+v", r.Samples, want)
	}
	lines := map[sample.RejectReason]int64{}
	for _, fault := range r.Samples.Faults {
		lines[fault.Reason] = fault.Line
	}
	if want := (map[sample.RejectReason]int64{sample.RejectSyntax: 2, sample.RejectNoTime: 3, sample.RejectBadUnits: 4}); !reflect.DeepEqual(lines, want) {
		t.Errorf("the first bad lines are %v, want %v", lines, want)
	}
}

func TestNothingFoundIsAnAnswer(t *testing.T) {
	t.Parallel()
	got := run(t, "", analyze.FormatJSON)
	var all map[string]json.RawMessage
	must(t, json.Unmarshal([]byte(got), &all))
	for _, list := range []string{"findings", "tables", "gaps"} {
		if string(all[list]) != "[]" {
			t.Errorf("%s is %s, want []", list, all[list])
		}
	}
	if text := run(t, line(0, "orders", "a", 1), analyze.FormatTable); !strings.Contains(text, "No hot keys") {
		t.Errorf("the table says %q", text)
	}
}

// TestARateIsAskedForWhereOneCanBeStated: a rate of 1 may be stated because nobody thought of
// it, and events of CloudTrail are all that there was, and could not be read with a mapping.
func TestARateIsAskedForWhereOneCanBeStated(t *testing.T) {
	t.Parallel()
	rated := func(rate string) string {
		return strings.Replace(line(0, "orders", "a", 1), `{`, `{"rate":`+rate+`,`, 1)
	}
	const trail = `{"eventTime":"2026-11-21T02:27:12Z","eventSource":"dynamodb.amazonaws.com","eventName":"GetItem","requestParameters":{"tableName":"trail","key":{"id":"a"}}}`
	for text, want := range map[string]bool{
		line(0, "orders", "a", 1): true, rated("1"): true, rated("0.5"): false, "ts,table,pk,op\n1763692032185,orders,a,PutItem\n": true,
		trail: false, line(0, "orders", "a", 1) + "\n" + rated("0.5"): false,
	} {
		var out bytes.Buffer
		must(t, analyze.Run(t.Context(), analyze.Options{
			Paths: []string{"-"}, In: strings.NewReader(text), Out: &out, Format: analyze.FormatTable,
			Tables: format.Tables{"trail": {Schema: sample.Schema{KeySchema: sample.Keys("id")}}},
		}))
		if got := strings.Contains(out.String(), "No line states a sampling rate below 1"); got != want || !strings.Contains(out.String(), "1 samples counted") && !strings.Contains(out.String(), "2 samples counted") {
			t.Errorf("%s: %s", text, out.String())
		}
	}
}

func TestATruncatedFileIsAGap(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	for s := range 2000 {
		fmt.Fprintln(z, line(s%50, "orders", fmt.Sprint("hot", rand.Uint64()), 1200))
		fmt.Fprintln(z, line(s%50, "orders", "hot", 1200))
	}
	must(t, z.Close())
	path := write(t, "samples.gz", packed.Bytes()[:packed.Len()/2])
	r, err := analyze.Files(t.Context(), analyze.Options{Paths: []string{path}})
	must(t, err)
	if len(r.Gaps) != 1 || r.Gaps[0].Partition != path || len(r.Findings) == 0 || len(r.Findings[0].Quality.Gaps) != 1 {
		t.Errorf("gaps %+v in %d findings", r.Gaps, len(r.Findings))
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	for want, o := range map[string]analyze.Options{
		"no such file":                     {Paths: []string{filepath.Join(t.TempDir(), "absent")}},
		"no files":                         {},
		`format "xml"`:                     {Paths: []string{"-"}, Format: "xml"},
		"there are no files in the folder": {Paths: []string{t.TempDir()}},
	} {
		err := analyze.Run(t.Context(), o)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
}

func TestTheTableIsForAPerson(t *testing.T) {
	t.Parallel()
	var lines []string
	for s := range 5 {
		lines = append(lines, line(s, "orders", "evil\x1b[31m", 1234))
	}
	text := run(t, strings.ReplaceAll(strings.Join(lines, "\n"), `\x1b`, `\u001b`), analyze.FormatTable)
	for _, want := range []string{"critical", `evil\x1b[31m`, "orders", "1,230 WCU", "123%", "5 samples counted"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if strings.Contains(text, "\x1b") {
		t.Error("an escape sequence of a key, or a colour without a terminal, came through")
	}
}

func TestCSVHasARowAFinding(t *testing.T) {
	t.Parallel()
	text := strings.Join(traffic(t, 10*time.Second), "\n")
	want := result(t, text).Findings
	rows, err := csv.NewReader(strings.NewReader(run(t, text, analyze.FormatCSV))).ReadAll()
	must(t, err)
	if len(rows) != len(want)+1 {
		t.Fatalf("%d rows for %d findings", len(rows), len(want))
	}
	for i, f := range want {
		shards := ""
		if casebook.AdvisesShards(&f) {
			shards = fmt.Sprint(f.Shards)
		}
		if row := rows[i+1]; row[0] != f.Fingerprint || row[5] != string(f.Key) || row[24] != shards {
			t.Errorf("row %d is %v of %+v", i, row, f)
		}
	}
}

// TestAKeyThatIsNotThere is an error with the nearest key, after the text: a misspelt key
// must not look calm.
func TestAKeyThatIsNotThere(t *testing.T) {
	t.Parallel()
	for nearest, o := range map[string]analyze.Options{
		"":                         {Explain: []string{"nope"}},
		`: did you mean "user#1"?`: {Explain: []string{"uesr#1"}},
		`: did you mean "user#2"?`: {WhatIf: []whatif.Question{{Key: "usr#2", Shards: 2, Factor: 1}}},
	} {
		var out strings.Builder
		o.Paths, o.Out = []string{"-"}, &out
		o.In = strings.NewReader("garbage\n" + line(0, "orders", "user#1", 1) + "\n" + line(0, "orders", "user#2", 1))
		if err := analyze.Run(t.Context(), o); !errors.Is(err, analyze.ErrUnknownKey) || !strings.HasSuffix(err.Error(), cmp.Or(nearest, `"nope"`)) {
			t.Errorf("the error is %v, want %s", err, nearest)
		}
		if !strings.Contains(out.String(), "” is not in the samples") || len(o.Explain) > 0 && !strings.Contains(out.String(), "2 samples counted, 1 bad") {
			t.Errorf("it says\n%s", out.String())
		}
	}
}
