package recipe_test

import (
	"encoding/json"
	"fmt"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/recipe"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/shardkey"
)

// finding returns one with a step that makes shards.
func finding(keyType, key string, n detect.ShardNames) *detect.Finding {
	f := detect.NewFinding(detect.KeyWrites, detect.Target{Table: "orders"}, sample.Key{Type: keyType, Text: key})
	f.Advice = []detect.Step{{Action: detect.ActionWait}, {Action: detect.ActionShard, Names: &n}}
	return &f
}

func named(base string, form shardkey.Form, how detect.Suffix) detect.ShardNames {
	n := detect.ShardNames{Base: sample.Text(base), Shards: 37, Before: sample.Text(form.Before), After: sample.Text(form.After), Prefix: form.Prefix, Alone: form.Alone, Suffix: how}
	switch i := slices.Index(keys, base); { // some are numbered from 0, some apart, some by a map
	case i%3 == 1:
		n.PlaceApart(nil)
	case i%3 == 2:
		n.PlaceApart([]uint16{0x1000, 0x8000, 0xabcd})
	}
	return n
}

// keys are bases that code may break on: they come from whoever writes to the table.
var keys = []string{"user#42", `a"b\c$'{{.}}` + "`", "größe 数 😀", "x\x1b[31m\u202e\n\u2028y"}

// forms are those that the cases go through.
var forms = []shardkey.Form{shardkey.HashShardUnderscore(), shardkey.DotNumber(), shardkey.NumberHash()}

var suffixes = []detect.Suffix{detect.SuffixRandom, detect.SuffixCalculated, detect.SuffixCounter}

func code(t *testing.T, f *detect.Finding, a recipe.Attributes, l recipe.Language) string {
	t.Helper()
	text, known := recipe.Code(f, a, l)
	if !known {
		t.Fatalf("no code of %s for %q", l, f.Key)
	}
	if i := strings.IndexFunc(text, func(r rune) bool { return r != '\n' && r != '\t' && (r < ' ' || r > '~') }); i >= 0 {
		t.Errorf("%s holds %q", l, text[i:])
	}
	return text
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	must.Succeed(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must.Succeed(t, os.WriteFile(path, []byte(text), 0o600))
}

// TestGo compiles every kind of code, against the client that this module has.
func TestGo(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../..")
	must.Succeed(t, err)
	indexed := finding("S", "OPEN", named("OPEN", forms[0], detect.SuffixRandom))
	indexed.Index = "by-status"
	all := []string{
		code(t, finding("N", "42", named("42", forms[0], detect.SuffixCalculated)), recipe.Attributes{Partition: "id", Sort: "at"}, recipe.Go),
		code(t, indexed, recipe.Attributes{}, recipe.Go),
	}
	read := finding("B", "AQ==", named("AQ==", forms[0], detect.SuffixRandom))
	read.Subject = detect.KeyReads
	all = append(all, code(t, read, recipe.Attributes{}, recipe.Go))
	for i, how := range suffixes {
		all = append(all, code(t, finding("S", keys[i+1], named(keys[i+1], forms[i], how)), recipe.Attributes{WithoutSort: i > 0}, recipe.Go))
	}
	dir := t.TempDir()
	args := []string{"build", "-overlay", filepath.Join(dir, "overlay.json")}
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for i, text := range all {
		if _, err := format.Source([]byte(text)); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		name := fmt.Sprintf("p%d.go", i)
		write(t, dir, name, text)
		overlay.Replace[filepath.Join(root, "detect", "recipe", "copied", fmt.Sprint(i), "code.go")] = filepath.Join(dir, name)
		args = append(args, fmt.Sprintf("./detect/recipe/copied/%d", i))
	}
	replaced, err := json.Marshal(overlay)
	must.Succeed(t, err)
	write(t, dir, "overlay.json", string(replaced))
	c := exec.CommandContext(t.Context(), "go", args...) // as if they were packages of this module
	c.Dir = root
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s\n%s", err, out, strings.Join(all, "\n"))
	}
}

// ran is what a program of the other languages prints of its code.
type ran struct {
	Names  []string // of all shards
	Chosen []int    // of the ids
	Read   []string // sort keys, in the order of reading
	// Told has, of each story, what is read when all is moved, and how many items there are.
	Told map[string][]any
	// Both is what is read of the old key and shards, and then of shards alone.
	Both  []string
	Keys  []string // that were written to
	Total int
}

// TestPythonAndNode runs the code against a DynamoDB of a few lines, and holds it to
// package shardkey.
func TestPythonAndNode(t *testing.T) {
	t.Parallel()
	for _, p := range []struct {
		language           recipe.Language
		program, extension string
		items, counter     string
		fakes              map[string]string
	}{
		{recipe.Python, "python3", "shards.py", pythonItems, pythonCounter, pythonFakes},
		{recipe.Node, "node", "shards.mjs", nodeItems, nodeCounter, nodeFakes},
	} {
		t.Run(string(p.language), func(t *testing.T) {
			t.Parallel()
			path, err := exec.LookPath(p.program)
			if err != nil {
				t.Skipf("there is no %s here", p.program)
			}
			for i, key := range keys {
				for j, how := range suffixes {
					for _, mode := range []string{"moves", "reads", "index"} {
						if i > 0 && (i%len(suffixes) != j || mode != "moves") || how == detect.SuffixCounter && mode != "moves" {
							continue // the first key goes through all of them
						}
						form := forms[i%len(forms)]
						dir := t.TempDir()
						for name, text := range p.fakes {
							write(t, dir, name, text)
						}
						f, a := of(mode, finding("S", key, named(key, form, how)))
						write(t, dir, p.extension, code(t, f, a, p.language))
						main := p.items
						if how == detect.SuffixCounter {
							main = p.counter
						}
						write(t, dir, "main"+filepath.Ext(p.extension), main)
						c := exec.CommandContext(t.Context(), path, "main"+filepath.Ext(p.extension), string(how), mode)
						c.Dir = dir
						c.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "PYTHONIOENCODING=utf-8")
						out, err := c.Output()
						if err != nil {
							t.Fatalf("%s of %q, %s: %v %s", how, key, mode, err, stderr(err))
						}
						var r ran
						if err := json.Unmarshal(out, &r); err != nil {
							t.Fatalf("%v: %s", err, out)
						}
						check(t, key, form, how, &r)
						if how != detect.SuffixCounter {
							checkMoves(t, mode, &r)
						}
					}
				}
			}
		})
	}
}

// of makes a finding one of a mode, and returns the names of its key.
func of(mode string, f *detect.Finding) (*detect.Finding, recipe.Attributes) {
	a := recipe.Attributes{Partition: "id", Sort: "at"}
	switch mode {
	case "reads":
		f.Subject = detect.KeyReads
	case "index":
		f.Subject, f.Index = detect.KeyWrites, "by-status"
		a = recipe.Attributes{Partition: "status", Sort: "at", Table: []string{"id", "at"}}
	}
	return f, a
}

// checkMoves holds that nothing is lost or doubled, whatever happens between the reading of
// an item and its move. A key hot in reads keeps the old item beside the copy.
func checkMoves(t *testing.T, mode string, r *ran) {
	t.Helper()
	copies := 1.0
	if mode == "reads" {
		copies = 2
	}
	want := map[string][]any{
		"calm": {"old", copies}, "conflict": {"old", copies}, "updated": {"updated", copies}, "put": {"put", copies}, "removed": {0.0},
	}
	if mode == "index" {
		want["closed"] = []any{1.0} // no longer of the key, and so in no shard
	}
	if !reflect.DeepEqual(r.Told, want) {
		t.Errorf("%s: %v, want %v", mode, r.Told, want)
	}
	// One has been put again, and the other is moved between the queries.
	if mode == "moves" && !slices.Equal(r.Both, []string{"newer", "old", "newer", "old"}) {
		t.Errorf("old key and shards together: %q", r.Both)
	}
}

func stderr(err error) string {
	if exit, is := err.(*exec.ExitError); is { //nolint:errorlint // Output returns it as it is
		return string(exit.Stderr)
	}
	return ""
}

// check holds what was printed to shardkey.
func check(t *testing.T, key string, form shardkey.Form, how detect.Suffix, r *ran) {
	t.Helper()
	n := named(key, form, how)
	s, err := n.Sharding()
	must.Succeed(t, err)
	names, err := s.All(key)
	must.Succeed(t, err)
	if !slices.Equal(r.Names, names) {
		t.Fatalf("names of %q are %q", key, r.Names)
	}
	for _, k := range r.Keys {
		if !slices.Contains(names, k) && k != key {
			t.Errorf("%q was written to", k)
		}
	}
	if how == detect.SuffixCounter {
		if r.Total != 1200+300*2 { // the old item's, and 300 times 2
			t.Errorf("the sum of %q is %d", key, r.Total)
		}
		return
	}
	for i, shard := range r.Chosen {
		if name, err := s.Pick(key, fmt.Sprintf("id-%d-ß", i)); err != nil || name != names[shard] {
			t.Fatalf("id %d of %q goes to %d, want %s (%v)", i, key, shard, name, err)
		}
	}
	want := make([]string, 300)
	for i := range want {
		want[i] = fmt.Sprintf("%04d", i)
	}
	if !slices.Equal(r.Read, want) {
		t.Errorf("all of %q is %q", key, r.Read)
	}
	if len(r.Chosen) != 300 {
		t.Errorf("%d ids of %q have shards", len(r.Chosen), key)
	}
}

// TestNoCode is for steps and names that none is written for.
func TestNoCode(t *testing.T) {
	t.Parallel()
	waits := finding("S", "k", detect.ShardNames{})
	waits.Advice = waits.Advice[:1]
	strong := finding("S", "k", named("k", forms[0], detect.SuffixRandom))
	strong.Advice = append(strong.Advice, detect.Step{Arguments: detect.Arguments{Strong: true}})
	for name, f := range map[string]*detect.Finding{
		"no shards": waits, "numbers alone": finding("S", "7", named("7", shardkey.NumberOnly(), detect.SuffixRandom)),
		"a table without transactions": strong,
		"several attributes":           finding("SN", "k", named("k", forms[0], detect.SuffixRandom)),
	} {
		if text, known := recipe.Code(f, recipe.Attributes{}, recipe.Go); known {
			t.Errorf("%s: %s", name, text)
		}
	}
}
