package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// inModule writes a module of the files in a txtar archive and returns its directory.
func inModule(t *testing.T, archive string) string {
	t.Helper()
	dir := t.TempDir()
	files := append(txtar.Parse([]byte(archive)).Files, txtar.File{Name: "go.mod", Data: []byte("module example.org/m\n\ngo 1.26\n")})
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// ring is a package of n files, of which each uses the next, and the last the
// first when it is closed.
func ring(dir string, n int, closed bool) string {
	var b strings.Builder
	for i := range n {
		next := fmt.Sprintf("f%d()", i+1)
		if i == n-1 && !closed {
			next = ""
		} else if i == n-1 {
			next = "f0()"
		}
		fmt.Fprintf(&b, "-- %s/f%02d.go --\npackage p\n\nfunc f%d() { %s }\n", dir, i, i, next)
	}
	return b.String()
}

// long is a file of n lines of code, with comments and blank lines between.
func long(name string, n int) string {
	return "-- " + name + " --\npackage p\n\nconst text = `\n\n`\n/* a comment\nof two lines */\n" +
		strings.Repeat("// a comment\n\nvar _ = 1 // one\n", n-4)
}

const exempt = "-- docs/ARCHITECTURE.md --\n# Architecture\n\n- `other`: a line elsewhere\n\n## Packages beyond the measure\n\n"

const limits = `
-- sample/sample.go --
package sample

type Milli int64
-- detect/limits.go --
package detect

import "example.org/m/sample"

const (
	PartitionWrite sample.Milli = 1_000_000
	PartitionRead  sample.Milli = 3_000_000
	Fire                        = 2
	Large                       = 4096
	Collection                  = 10 << 30
	Span                        = 21 * 24 * 60 * 60
)
-- internal/web/web.go --
package web

import (
	"math"
	"time"

	"example.org/m/detect"
	"example.org/m/sample"
)

var _ = time.Second
var _ = math.Round
var _ sample.Milli = detect.PartitionRead
`

// in is a line of code in a package that shows limits.
func in(line string) string {
	return limits + "\nfunc f(n int64, x float64, w sample.Milli) any { return " + line + "\n}\n"
}

func TestRules(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		story, archive string
		want           []string
	}{
		{"a circle within the measure", ring("sample", maxCircle, true), nil},
		{"a circle beyond it", ring("sample", maxCircle+1, true), []string{"sample: 9 files refer to each other in one circle"}},
		{"a chain is no circle", ring("sample", maxCircle+4, false), nil},
		{"tests may close a circle", ring("sample", maxCircle+1, false) + "-- sample/f_test.go --\npackage p\n\nfunc g() { f0() }\n", nil},
		{"a method in another file is a reference", ring("sample", maxCircle, true) +
			"-- sample/t.go --\npackage p\n\ntype t int\n\nfunc g() { f0() }\n-- sample/m.go --\npackage p\n\nfunc (t) m() { g() }\n" +
			"-- sample/u.go --\npackage p\n\nvar _ = t.m\n", nil},
		{"a method that closes the circle", "-- sample/t.go --\npackage p\n\ntype t int\n\nfunc g() { f0() }\n" +
			strings.Replace(ring("sample", maxCircle, true), "f0() }", "t(0).m() }", 1) + "-- sample/m.go --\npackage p\n\nfunc (t) m() { g() }\n",
			[]string{"sample: 10 files refer to each other"}},

		{"lines within the measure", long("sample/a.go", maxLines), nil},
		{"one more", long("sample/a.go", maxLines+1), []string{"sample: 2001 lines of code"}},
		{"files within the measure", ring("sample", maxFiles, false), nil},
		{"one file more", ring("sample", maxFiles+1, false), []string{"sample: 26 files, more than 25"}},

		{"an exemption", exempt + "- `store` (files, lines): it is one contract.\n" + ring("store", maxFiles+1, false) + long("store/a.go", maxLines), nil},
		{"an exemption of another rule", exempt + "- `store` (lines): it is one contract.\n" + ring("store", maxFiles+1, false),
			[]string{"docs/ARCHITECTURE.md: store keeps to the measure of lines", "store: 26 files"}},
		{"an exemption without a reason", exempt + "- `store` (files):\n" + ring("store", maxFiles, false), []string{"docs/ARCHITECTURE.md:7: write - `package`"}},
		{"an exemption from no rule", exempt + "- `store` (size): it is big.\n" + ring("store", maxFiles, false), []string{"keeps to the measure of size", `docs/ARCHITECTURE.md:7: no rule "size"`}},
		{"no exemption for the judgement", exempt + "- `detect/board` (files): it is big.\n" + ring("detect/board", maxFiles+1, false),
			[]string{"detect/board: 26 files", "docs/ARCHITECTURE.md:7: detect/board keeps to the measure always"}},

		{"imports downward", imports("internal/web", "detect", "sample", "internal/daemon/metrics"), nil},
		{"an import upward", imports("sample", "sketch"), []string{"sample: imports sketch: data must not know sketch"}},
		{"the store knows no adapter", imports("store", "internal/web"), []string{"store: imports internal/web: store must not know adapters"}},
		{"adapters across", imports("internal/web", "internal/alert"), []string{"internal/web: imports internal/alert: two of the adapters"}},
		{"a declared import across", imports("internal/analyze", "internal/settings/format"), nil},
		{"a declaration that nothing needs", imports("internal/analyze", "sample") + imports("internal/settings/format", "sketch"),
			[]string{"layers.go: internal/analyze does not import internal/settings/format"}},
		{"a child may know its parent", imports("internal/generate/sink", "internal/generate"), nil},
		{"an adapter may be made of others below it", imports("internal/judge", "internal/judge/fold"), nil},
		{"and these declared", imports("internal/judge/verdict", "internal/judge/fold"), nil},
		{"but no others", imports("internal/judge/a", "internal/judge/b"), []string{"two of the adapters"}},
		{"a parent of the judgement may not know its child", imports("detect", "detect/board"), []string{"detect: imports detect/board: a package must not know those below"}},
		{"but its own internal ones", imports("sample/awssdk", "sample/awssdk/internal/access"), nil},
		{"the judgement's rooms may know each other", imports("detect/board", "detect/forecast", "detect"), nil},
		{"programs know everything", imports("cmd/reporter", "internal/demo", "internal/web", "store"), nil},
		{"but no test support", imports("cmd/reporter", "internal/testsupport/pgtest"), []string{"programs must not know test support"}},
		{"a package in no layer", ring("util", 1, false), []string{"util: stands in no layer"}},

		{"thousandths are divided", in("float64(n) / 1000"), nil},
		{"a share of a limit", in("x / 1000"), []string{"internal/web/web.go:15: units divided by 1000"}},
		{"rounding to a tenth of a percent", in("math.Round(1000*x) / 10"), nil},
		{"a limit in units", in("float64(1000.0)"), []string{"1000 as a number of units"}},
		{"another limit in units", in("x > 3000"), []string{"3000 is detect.PartitionRead"}},
		{"a limit in thousandths", in("w > 1_000_000"), []string{"1000000 is detect.PartitionWrite"}},
		{"a million of something else", in("x > 1e6"), nil},
		{"a limit as an expression", in("n > 10*1024*1024*1024"), []string{"is detect.Collection"}},
		{"a limit with its reason", in("n > 10<<30 // not a limit: what a disk holds"), nil},
		{"a span of time", in("n + 21*24*3600"), []string{"is detect.Span"}},
		{"a power of two is a size of anything", in("n > 4096"), nil},
		{"small numbers mean anything", in("n > 2"), nil},
		{"a part of a capacity", in("w > detect.PartitionWrite/10"), []string{"10 of a limit is a decision"}},
		{"a part of a converted capacity", in("x > 0.1*float64(detect.PartitionRead)"), []string{"0.1 of a limit is a decision"}},
		{"a capacity in units", in("float64(detect.PartitionRead) / 1000"), nil},
		{"a sentence with a limit", in(`"a partition takes 1,000 WCU"`), []string{"a sentence holds a limit (1,000 WCU)"}},
		{"a sentence with a number", in(`"1,000 keys were written"`), nil},
		{"a limit where none is decided by", strings.ReplaceAll(in("w > 1_000_000"), "internal/web", "internal/generate"), nil},
	} {
		t.Run(row.story, func(t *testing.T) {
			t.Parallel()
			problems, err := check(t.Context(), inModule(t, row.archive))
			if err != nil {
				t.Fatal(err)
			}
			got := make([]string, len(problems))
			for i, p := range problems {
				got[i] = p.String()
			}
			ok := len(got) == len(row.want)
			for i := range min(len(got), len(row.want)) {
				ok = ok && strings.Contains(got[i], row.want[i])
			}
			if !ok {
				t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(row.want, "\n  "))
			}
		})
	}
}

// imports is a package that imports others, and those.
func imports(path string, others ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "-- %s/p.go --\npackage p\n\n", path)
	for i, other := range others {
		fmt.Fprintf(&b, "import p%d %q\n", i, "example.org/m/"+other)
	}
	for i := range others {
		fmt.Fprintf(&b, "var _ = p%d.X\n", i)
	}
	b.WriteString("const X = 1\n")
	for _, other := range others {
		fmt.Fprintf(&b, "-- %s/p.go --\npackage p\n\nconst X = 1\n", other)
	}
	return b.String()
}

func TestExitCodes(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		story, archive string
		code           int
		out, errs      string
	}{
		{"nothing wrong", ring("sample", 1, false), 0, "", ""},
		{"a problem", ring("util", 1, false), 1, "util: stands in no layer", ""},
		{"code that does not compile", "-- sample/a.go --\npackage p\n\nvar _ = x\n", 2, "", "undefined: x"},
	} {
		var out, errs bytes.Buffer
		code := run(t.Context(), inModule(t, row.archive), &out, &errs)
		if code != row.code || !strings.Contains(out.String(), row.out) || !strings.Contains(errs.String(), row.errs) {
			t.Errorf("%s: %d, %q, %q", row.story, code, out.String(), errs.String())
		}
	}
}
