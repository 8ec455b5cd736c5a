package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/keyheat/keyheat/internal/testsupport/must"
)

// inModule writes a module of the files in a txtar archive and returns its directory.
func inModule(t *testing.T, archive string) string {
	t.Helper()
	dir := t.TempDir()
	files := append(txtar.Parse([]byte(archive)).Files, txtar.File{Name: "go.mod", Data: []byte("module example.org/m\n\ngo 1.26\n")})
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		must.Succeed(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must.Succeed(t, os.WriteFile(path, f.Data, 0o600))
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

// layers is a small map of the structure, without its last lines.
const layers = `-- scripts/structure/layers.txt --
# a comment

layer samples: sample
layer sketches: sketch
layer judgement (siblings): detect
layer store: store
layer adapters (either): internal
layer programs: cmd scripts
layer test support (either, siblings): internal/testsupport
`

// allowedImport is a line of the map.
const allowedImport = "allow internal/analyze -> sample/format: files hold samples\n"

const limits = `
-- detect/limits.go --
package detect

const PartitionRead = 3_000_000
-- internal/web/web.go --
package web

import "example.org/m/detect"

var w, wcu, x = int64(detect.PartitionRead), int64(1), 1.0
`

// in is a line of code in a package that shows limits.
func in(line string) string {
	return limits + "\nfunc f(n int64) any {\n\treturn " + line + "\n}\n"
}

func TestRules(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		story, archive string
		want           []string
	}{
		{"a circle in a small package", ring("sample", smallPackage, true), nil},
		{"a circle of all files of a larger package", ring("sample", smallPackage+1, true), []string{"sample: 13 files refer to each other in one circle"}},
		{"a chain is no circle", ring("sample", smallPackage+4, false), nil},
		{"tests may close a circle", ring("sample", smallPackage+1, false) + "-- sample/f_test.go --\npackage p\n\nfunc g() { f0() }\n", nil},
		{"a method that closes no circle", ring("sample", smallPackage, false) +
			"-- sample/t.go --\npackage p\n\ntype t int\n\nfunc g() { f0() }\n-- sample/m.go --\npackage p\n\nfunc (t) m() { g() }\n" +
			"-- sample/u.go --\npackage p\n\nvar _ = t.m\n", nil},
		{"a method that closes the circle", "-- sample/t.go --\npackage p\n\ntype t int\n\nfunc g() { f0() }\n" +
			strings.Replace(ring("sample", smallPackage, true), "f0() }", "t(0).m() }", 1) + "-- sample/m.go --\npackage p\n\nfunc (t) m() { g() }\n",
			[]string{"sample: 14 files refer to each other"}},

		{"lines within the measure", long("sample/a.go", maxLines), nil},
		{"one more", long("sample/a.go", maxLines+1), []string{"sample: 2501 lines of code"}},
		{"files within the measure", ring("sample", maxFiles, false), nil},
		{"one file more", ring("sample", maxFiles+1, false), []string{"sample: 26 files, more than 25"}},

		{"an exemption", "large store (files, lines): one contract\n" + ring("store", maxFiles+1, false) + long("store/a.go", maxLines), nil},
		{"an exemption of another rule", "large store (lines): one contract\n" + ring("store", maxFiles+1, false),
			[]string{"layers.txt: store keeps to the measure of lines", "store: 26 files"}},
		{"an exemption without a reason", "large store (files):\n" + ring("store", maxFiles, false), []string{"layers.txt:10: write a layer, only, allow or large line"}},
		{"an exemption from no rule", "large store (size): it is big\n" + ring("store", maxFiles, false), []string{"store keeps to the measure of size"}},
		{"no exemption for the judgement", "large detect/board (files): it is big\n" + ring("detect/board", maxFiles+1, false),
			[]string{"layers.txt:10: write"}},

		{"imports downward", imports("internal/web", "detect", "sample", "store"), nil},
		{"an import upward", imports("sample", "sketch"), []string{"sample: imports sketch: samples must not know sketches above it"}},
		{"the store knows no adapter", imports("store", "internal/web"), []string{"store: imports internal/web: store must not know adapters above it"}},
		{"a layer of which only some lower layers are known", "only store -> samples: rows have no meaning\n" + imports("store", "detect"),
			[]string{"store: imports detect: store must not know judgement"}},
		{"and these are known", "only store -> samples: rows have no meaning\n" + imports("store", "sample"), nil},
		{"only, of an unknown layer", "only shop -> samples: none\n" + imports("store", "sample"), []string{"layers.txt:10: write"}},
		{"adapters across", imports("internal/web", "internal/alert"), []string{`internal/web: imports internal/alert: two packages of the layer "adapters"`}},
		{"a declared import across", allowedImport + imports("internal/analyze", "sample/format"), nil},
		{"a declaration that nothing needs", allowedImport + imports("internal/analyze", "sample"),
			[]string{"layers.txt: internal/analyze does not import sample/format"}},
		{"a child may know its parent", imports("internal/generate/sink", "internal/generate"), nil},
		{"an adapter may be made of others below it", imports("internal/judge", "internal/judge/fold"), nil},
		{"but these may not know each other", imports("internal/judge/a", "internal/judge/b"), []string{"two packages of the layer"}},
		{"a parent of the judgement may not know its child", imports("detect", "detect/board"), []string{"detect: imports detect/board: a package must not know packages below its own path"}},
		{"but its own internal ones", imports("sample/awssdk", "sample/awssdk/internal/access"), nil},
		{"the judgement's rooms may know each other", imports("detect/board", "detect/keydesign", "detect"), nil},
		{"programs know everything", imports("cmd/reporter", "internal/demo", "internal/web", "store"), nil},
		{"but no test support", imports("cmd/reporter", "internal/testsupport/pgtest"), []string{"programs must not know test support above it"}},
		{"a package in no layer", ring("util", 1, false), []string{"util: has no layer"}},

		{"a limit in thousandths", in("w > 1_000_000"), []string{"internal/web/web.go:8: use the constant of detect/limits.go instead of 1_000_000"}},
		{"a limit in units", in("x > 3000"), []string{"instead of 3000"}},
		{"units divided by a limit", in("wcu / 1000"), []string{"instead of wcu / 1000"}},
		{"a number that is no limit", in("float64(n) / 1000"), nil},
		{"a limit with its reason", in("n > 3000 // not a limit: milliseconds"), nil},
		{"a sentence with a limit", in(`"a partition takes 1,000 WCU"`), []string{"instead of 1,000 WCU"}},
		{"a sentence with a number", in(`"1,000 keys were written"`), nil},
		{"a limit in a package that decides nothing", strings.ReplaceAll(in("w > 1_000_000"), "internal/web", "internal/generate"), nil},

		{"a code", inDetect(`const a = "few_seconds"`), nil},
		{"a sentence", inDetect(`const a = "the key is hot"`), []string{"detect/board/a.go:4: return a code and figures"}},
		{"an error's text", inDetect(`var a = errors.New("the key is hot")`), nil},
		{"a text for another function", inDetect(`var a = errors.Is(nil, f("the key is hot"))`), []string{"detect/board/a.go:4"}},
		{"a tag", inDetect("type a struct {\n\tB int `json:\"b\" help:\"the key is hot\"`\n}"), nil},
		{"a sentence above the judgement", strings.ReplaceAll(inDetect(`const a = "the key is hot"`), "detect/board", "internal/say"), nil},

		{"a key that fmt writes", quotes(`fmt.Sprintf("%s is hot", k)`), nil},
		{"a key as a string", quotes(`string(k) + " is hot"`), []string{"internal/web/a.go:4: write a sample.Text"}},
		{"a key as bytes", quotes(`string([]byte(k))`), []string{"internal/web/a.go:4"}},
		{"a key in a sentence", quotes(`fmt.Sprint(k + " is hot")`), []string{"internal/web/a.go:4"}},
		{"a key as a string by way of a type parameter", quotes(`f(k) }; func f[T ~string](k T) string { return string(k)`), []string{"internal/web/a.go:4"}},
		{"a string as a key", quotes(`fmt.Sprint(sample.Text("a") == k)`), nil},
		{"a stored key", strings.ReplaceAll(quotes("string(k)"), "internal/web", "internal/judge"), nil},

		{"plain words", "-- sample/a.go --\n// Package p holds a key.\npackage p\n", nil},
		{"words without a noun", "-- sample/a.go --\n// Package p is what those are of which nothing is told.\npackage p\n",
			[]string{`"what"`, `"which"`, `"those"`}},
		{"a document without a noun", "-- sample/a.go --\npackage p\n-- docs/A.md --\n# What is told\n\nIt is what those are of which nothing is told.\n",
			[]string{`documents: 100.0`, `"which"`, `"those"`}},
		{"a document that names a lost test", "-- sample/a.go --\npackage p\n-- sample/a_test.go --\npackage p\n\nfunc TestHere() {}\n-- docs/A.md --\n`TestHere`, `-run TestHe` and `FuzzThere` show it.\n",
			[]string{"docs/A.md: there is no test FuzzThere"}},
		{"a test that sleeps", "-- sample/a.go --\npackage p\n-- sample/a_test.go --\npackage p\n\nimport (\"testing/synctest\"; \"time\")\n\nfunc f() { synctest.Wait(); time." + "Sleep(1) }\n" +
			"-- sample/b_test.go --\npackage p\n\nimport \"time\"\n\nfunc g() { time." + "Sleep(1) }\n-- e2e/c_test.go --\npackage e2e\n\nimport \"time\"\n\nfunc h() { time." + "Sleep(1) }\n",
			[]string{"sample/b_test.go: time.Sleep without testing/synctest"}},
		{"a document's code", "-- sample/a.go --\npackage p\n-- docs/A.md --\n```\nwhat\n```\nRun `what`, see [the page](what.md).\n", nil},
		{"a comment that names what is gone", "-- sample/a.go --\n// Package p has [A], [A.B], [C] and [A.D], see sample/a.go and sample/b.go.\npackage p\n\ntype A struct{ B int }\n",
			[]string{"sample/a.go:1: there is no sample/b.go", "sample/a.go:1: there is no C", "sample/a.go:1: there is no A.D"}},
		{"a document that names what is gone", "-- Makefile --\nall:\ntest:\n-- sample/a.go --\npackage p\n-- docs/A.md --\nSee `sample/a.go`, `sample/b`, `make test` and `make toast X=1`.\n",
			[]string{"docs/A.md: there is no sample/b", "docs/A.md: there is no make toast"}},
	} {
		t.Run(row.story, func(t *testing.T) {
			t.Parallel()
			problems, err := check(t.Context(), inModule(t, layers+row.archive))
			must.Succeed(t, err)
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

// inDetect is a file of the judgement.
func inDetect(code string) string {
	return "-- detect/board/a.go --\npackage p\n\nimport \"errors\"\n" + code + "\nfunc f(string) error { return errors.ErrUnsupported }\n"
}

// quotes is a package for people with a function that writes a key.
func quotes(text string) string {
	return "-- sample/text.go --\npackage sample\n\ntype Text string\n-- internal/web/a.go --\npackage web\n\nimport (\"fmt\"; \"example.org/m/sample\")\n" +
		"func write(k sample.Text) string { fmt.Print(); return " + text + " }\n"
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
		{"a problem", ring("util", 1, false), 1, "util: has no layer", ""},
		{"code that does not compile", "-- sample/a.go --\npackage p\n\nvar _ = x\n", 2, "", "undefined: x"},
	} {
		var out, errs bytes.Buffer
		code := run(t.Context(), inModule(t, layers+row.archive), &out, &errs)
		if code != row.code || !strings.Contains(out.String(), row.out) || !strings.Contains(errs.String(), row.errs) {
			t.Errorf("%s: %d, %q, %q", row.story, code, out.String(), errs.String())
		}
	}
}
