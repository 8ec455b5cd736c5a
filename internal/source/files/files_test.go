package files_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/keyheat/keyheat/internal/source/files"
	"github.com/keyheat/keyheat/internal/testsupport/kafkatest"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/sinktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// samples decodes a recorder's messages as objects, arrays and NDJSON. It counts every
// sample by its "n", and anything else as "bad".
func samples(t *testing.T, l *sinktest.Recorder) (out map[string]int) {
	t.Helper()
	out = make(map[string]int)
	var count func(raw []byte)
	count = func(raw []byte) {
		var elements []json.RawMessage
		if json.Unmarshal(raw, &elements) == nil {
			for _, e := range elements {
				count(e)
			}
			return
		}
		var v struct{ N *int }
		if json.Unmarshal(raw, &v) != nil || v.N == nil {
			out["bad"]++
			return
		}
		out[fmt.Sprint(*v.N)]++
	}
	l.With(func() {
		for m, times := range l.Counted {
			switch {
			case strings.HasPrefix(m, "fault: "):
				out["fault"] += times
			case json.Valid([]byte(m)):
				count([]byte(m))
			default:
				for line := range strings.Lines(m) {
					if strings.TrimSpace(line) != "" {
						count([]byte(line))
					}
				}
			}
		}
	})
	return out
}

func readFiles(t *testing.T, l *sinktest.Recorder, paths ...string) {
	t.Helper()
	all := &files.Source{Paths: paths}
	files.Limit(all, files.MaxSample)
	must.Succeed(t, all.Run(t.Context(), l))
}

func file(t *testing.T, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "samples")
	must.Succeed(t, os.WriteFile(path, content, 0o600))
	return path
}

// expectSamples wants the samples 0..n-1 once each, and the others given.
func expectSamples(t *testing.T, got map[string]int, n int, others map[string]int) {
	t.Helper()
	for i := range n {
		if got[fmt.Sprint(i)] != 1 {
			t.Fatalf("sample %d was read %d times", i, got[fmt.Sprint(i)])
		}
	}
	for what, want := range others {
		if got[what] != want {
			t.Errorf("%d times %s, want %d", got[what], what, want)
		}
	}
	if len(got) != n+len(others) {
		t.Errorf("%d kinds of samples, want %d: something else was read", len(got), n+len(others))
	}
}

func many(n int, format, separator string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = fmt.Sprintf(format, i, strings.Repeat("x", i%300))
	}
	return strings.Join(parts, separator)
}

func TestFilesReadEveryLayout(t *testing.T) {
	t.Parallel()
	const n = 20_000 // some MiB: more than one buffer
	huge := `{"n":-1,"pad":"` + strings.Repeat("y", 3<<20) + `"}`
	tricky := `{"n":%d,"pad":"%s ],[}{\"\\"}`
	pretty := "{\n  \"n\": %d,\n  \"pad\": {\n    \"a\": [\"%s}\"]\n  }\n}"
	for _, story := range []struct {
		what, text string
		others     map[string]int
	}{
		{"NDJSON", many(n, tricky, "\n") + "\n", nil},
		{"NDJSON without a last newline, with blank lines", "\n\n" + many(n, tricky, "\n\r\n"), nil},
		{"NDJSON that begins with a broken line", "{\"n\":\n" + many(n, tricky, "\n"), map[string]int{"bad": 1}},
		{"NDJSON that begins as an array would", "[\n" + many(n, tricky, "\n"), map[string]int{"bad": 1}},
		{"NDJSON whose first line is an open array", "[{\"n\":\n" + many(n, tricky, "\n"), map[string]int{"bad": 1}},
		{"NDJSON behind what begins an array and is none", "[{ broken\n, more of it\n\n" + many(n, tricky, "\n"), map[string]int{"bad": 2}},
		{"NDJSON behind what begins AWS's wrapper", "{\"Records\":[\n{ \n" + many(n, tricky, "\n"), map[string]int{"bad": 2}},
		{"NDJSON behind what begins an object over lines", "{\n\"a\": [\n" + many(n, tricky, "\n"), map[string]int{"bad": 2}},
		{"NDJSON behind a text that does not end", "{\n\"a\n" + many(n, tricky, "\n"), map[string]int{"bad": 2}},
		{"NDJSON behind a huge element", "[{\"a\": \"" + strings.Repeat("y", 3<<20) + "\n" + many(n, tricky, "\n"), map[string]int{"fault": 1}},
		{"NDJSON behind commas", ",,,\n" + many(n, tricky, "\n"), map[string]int{"bad": 1}},
		{"lines of a log", "[2026-11-21 12:00:00] started\n[INFO] on\n" + many(n, tricky, "\n"), map[string]int{"bad": 2}},
		{"NDJSON with a huge line", many(n, tricky, "\n") + "\n" + huge + "\n" + `{"n":"late"}`, map[string]int{"fault": 1, "bad": 1}},
		{"arrays, one a line", "[" + many(n, tricky, "]\n[") + "]\n", nil},
		{"one array on one line", "[" + many(n, tricky, ",") + "]", nil},
		{"one array, printed prettily", "[\n  " + many(n, pretty, ",\n  ") + "\n]\n", nil},
		{"an array with a huge element", "[" + many(n, tricky, ",") + "," + huge + `,{"n":"late"}]`, map[string]int{"fault": 1, "bad": 1}},
		{"an array that ends with a huge element", "[" + many(n, tricky, ",") + "," + huge + "]\n{\"n\":\"late\"}\n", map[string]int{"fault": 1, "bad": 1}},
		{"two arrays", "[" + many(n, tricky, ",") + "]\n[\n{\"n\":\"late\"}\n]", map[string]int{"bad": 1}},
		{"objects that span lines", many(200, pretty, "\n"), nil},
		{"an empty array", "[ \n ]", nil},
		{"nothing", "", nil},
		{"blank lines", "\n \n\n", nil},
	} {
		t.Run(story.what, func(t *testing.T) {
			t.Parallel()
			want := n
			switch {
			case strings.Contains(story.what, "objects"):
				want = 200
			case len(story.text) < 10:
				want = 0
			}
			l := sinktest.New()
			readFiles(t, l, file(t, []byte(story.text)))
			expectSamples(t, samples(t, l), want, story.others)
		})
	}
}

// TestRowsOverLinesAreNotCut: rows of CSV are not cut within a quoted field, at any end of
// a buffer. A lost quote takes no more with it than its line.
func TestRowsOverLinesAreNotCut(t *testing.T) {
	t.Parallel()
	for _, lost := range []bool{false, true} {
		var text strings.Builder
		text.WriteString("n,note,op\n")
		const rows = 30_000 // some MiB
		for i := range rows {
			fmt.Fprintf(&text, "%d,\"%s\n\n, of %d\",PutItem\n", i, strings.Repeat("x\n", i%50), i)
			if lost && i == rows/2 {
				text.WriteString("lost,\"x,PutItem\n")
			}
		}
		l := sinktest.New()
		readFiles(t, l, file(t, []byte(text.String())))
		found := 0
		l.With(func() {
			for m := range l.Counted {
				if strings.Count(m, "\"")%2 != 0 && !strings.Contains(m, "lost") || m[0] != 'n' && m[0] != 'l' && (m[0] < '0' || m[0] > '9') {
					t.Errorf("a message is cut: %.60q … %q", m, m[len(m)-min(60, len(m)):])
				}
				found += strings.Count(m, "\",PutItem\n")
			}
		})
		if found != rows {
			t.Errorf("%d rows, want %d", found, rows)
		}
	}
}

func TestFilesRecogniseCompression(t *testing.T) {
	t.Parallel()
	text := many(5000, `{"n":%d,"pad":"%s"}`, "\n")
	for _, codec := range []kafkatest.Codec{kafkatest.None, kafkatest.Gzip, kafkatest.Zstd} {
		l := sinktest.New()
		readFiles(t, l, file(t, kafkatest.Compress(codec, []byte(text))))
		expectSamples(t, samples(t, l), 5000, nil)
		if last := l.Folded[len(l.Folded)-1]; !last.End || !last.Final || last.Next != fmt.Sprint(len(text)) {
			t.Errorf("last batch %+v, want the end at %d", last, len(text))
		}
	}
}

func TestFilesReadStandardInput(t *testing.T) {
	t.Parallel()
	l := sinktest.New()
	all := &files.Source{Paths: []string{"-"}, In: strings.NewReader(many(50, `{"n":%d,"pad":"%s"}`, "\n"))}
	must.Succeed(t, all.Run(t.Context(), l))
	expectSamples(t, samples(t, l), 50, nil)
}

func TestFilesThatBreakOffAreAGap(t *testing.T) {
	t.Parallel()
	whole := kafkatest.Compress(kafkatest.Gzip, []byte(many(30_000, `{"n":%d,"pad":"%s"}`, "\n")))
	l := sinktest.New()
	readFiles(t, l, file(t, whole[:len(whole)/2]))
	if gap := l.OnlyGap(t); !strings.Contains(gap.Reason, "ends early") {
		t.Errorf("gap %+v", gap)
	}
	if n := len(samples(t, l)); n < 1000 {
		t.Errorf("only %d samples of what was there", n)
	}
}

// TestFoldersAndPatterns reads all files below a folder, and the files that match a
// pattern. An unreadable file is named with the remedy.
func TestFoldersAndPatterns(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for name, content := range map[string]string{"a.json": "{\"n\":0}", "b/c/d.json": "{\"n\":1}", "b/.hidden": "no", ".git/x": "no", "e.txt": "{\"n\":2}"} {
		path := filepath.Join(root, name)
		must.Succeed(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)))
	}
	for path, want := range map[string]int{root: 3, filepath.Join(root, "b"): 1, filepath.Join(root, "*.json"): 1, filepath.Join(root, "[ab]*"): 2} {
		l := sinktest.New()
		readFiles(t, l, path)
		if got := samples(t, l); len(got) != want || got["bad"] > 0 {
			t.Errorf("%s: %v, want %d samples", path, got, want)
		}
	}
	utf16 := filepath.Join(root, "b", "wide")
	must.Succeed(t, os.WriteFile(utf16, []byte("\xff\xfe{\x00}\x00"), 0o600))
	for path, want := range map[string]string{
		filepath.Join(root, "*.csv"): "no file matches", t.TempDir(): "there are no files in the folder",
		filepath.Join(root, "[") + "[": "syntax error in pattern", filepath.Join(root, "none"): "no such file",
		root: utf16 + ": it is UTF-16: convert it",
	} {
		l := sinktest.New()
		err := (&files.Source{Paths: []string{path}}).Run(t.Context(), l)
		if err == nil || !strings.Contains(err.Error(), want) || l.Claims != 0 {
			t.Errorf("%s: %v after %d claims", path, err, l.Claims)
		}
	}
}

func TestFilesThatCannotBeOpenedAreAnErrorAtOnce(t *testing.T) {
	t.Parallel()
	good := file(t, []byte(`{"n":0}`))
	for _, path := range []string{filepath.Join(t.TempDir(), "none"), t.TempDir(), file(t, []byte{0x1f, 0x8b, 0, 0})} {
		l := sinktest.New()
		err := (&files.Source{Paths: []string{good, path}}).Run(t.Context(), l)
		if err == nil || l.Claims != 0 {
			t.Errorf("%s: error %v after %d claims", path, err, l.Claims)
		}
	}
}

func TestFilesStopWhenTold(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	path := file(t, []byte(`{"n":0}`))
	l := sinktest.New()
	if err := (&files.Source{Paths: []string{path}}).Run(ctx, l); err == nil {
		t.Error("a stopped read did not say so")
	}
	if l.Entries[path].Released != 1 {
		t.Error("the file was not released")
	}
}

// TestProgress: how much of all files is read, by their bytes on disk.
func TestProgress(t *testing.T) {
	root := t.TempDir()
	for i := range 30 {
		must.Succeed(t, os.WriteFile(filepath.Join(root, fmt.Sprint(i)), []byte(fmt.Sprint("{\"n\":", i, "}\n", many(500, `{"n":%d,"pad":"%s"}`, "\n"))), 0o600))
	}
	all := &files.Source{Paths: []string{root}, Progress: io.Discard}
	must.Succeed(t, all.Run(t.Context(), sinktest.New()))
	if got := files.Progress(all); got != "100% of the files is read" {
		t.Error(got)
	}
}

// TestRecordsOfAWSAreCutLikeAnArray: a CloudTrail file is one object with all its events in
// one line, of any size.
func TestRecordsOfAWSAreCutLikeAnArray(t *testing.T) {
	t.Parallel()
	const many = 40_000 // beyond the largest sample
	var long strings.Builder
	for n := range many {
		fmt.Fprintf(&long, `%s{"n":%d,"pad":"%040d"}`, strings.Repeat(",", min(n, 1)), n, n)
	}
	for _, c := range []struct {
		story, text string
		samples     int
	}{
		{"one line", `{"Records":[` + long.String() + "]}\n", many},
		{"without its line end", `{"Records":[` + long.String() + "]}", many},
		{"printed", "{\n  \"Records\": [\n    {\n      \"n\": 1\n    },\n    {\n      \"n\": 2\n    }\n  ]\n}\n", 2},
		{"an event a line", `{"Records":[{"n":1},{"n":2}]}` + "\n" + `{"Records":[{"n":3}]}` + "\n", 3},
		{"none", `{"Records":[]}`, 0},
		{"something else behind it", `{"Records":[{"n":1}]}` + "\n" + `{"n":2}` + "\n", 2},
	} {
		l := sinktest.New()
		readFiles(t, l, file(t, []byte(c.text)))
		got := samples(t, l)
		if len(got) != c.samples || got["bad"]+got["fault"] > 0 {
			t.Errorf("%s: %d samples, %d bad, want %d", c.story, len(got), got["bad"]+got["fault"], c.samples)
		}
	}
}
