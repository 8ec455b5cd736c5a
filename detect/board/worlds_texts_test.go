package board_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/internal/analyze"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/internal/testsupport/scenario"
	"github.com/keyheat/keyheat/sample"
)

// screenLines and screenColumns are what a terminal shows.
const (
	screenLines   = 24
	screenColumns = 80
)

// explanations returns what is wrong with the pages of --explain about the findings of
// a world. They rest on its samples alone: what a stream tells beside them is not there,
// and may leave a finding out.
func (w *fieldWorld) explanations(t *testing.T, j *judged) (all []string) {
	t.Helper()
	keys := j.subjects()
	if len(keys) == 0 {
		return nil
	}
	found := false
	for _, page := range w.explained(t, keys) {
		all = append(all, w.unspeakable(page)...)
		if hasFinding(page) {
			found = true
			all = append(all, illegible(page)...)
		}
	}
	if !found && j.fired != "" {
		all = append(all, "nothing is explained")
	}
	return all
}

// maxExplained is how many keys of a world are explained.
const maxExplained = 8

// analyze returns the output of `reporter analyze` about the world's samples.
func (w *fieldWorld) analyze(t *testing.T, o analyze.Options) string {
	t.Helper()
	in, samples := io.Pipe()
	go func() { _ = samples.CloseWithError(w.write(samples)) }() // it returns nil
	var out bytes.Buffer
	o.Paths, o.In, o.Out, o.Facts = []string{"-"}, in, &out, w.facts
	o.Hide = func(r *sample.Record) { r.Change, r.Edit = w.Source == "stream", scenario.EditOf(r) } // NDJSON says neither
	// Samples alone may lack a key that a stream tells of beside them.
	if err := analyze.Run(t.Context(), o); err != nil && !errors.Is(err, analyze.ErrUnknownKey) {
		_ = in.Close()
		t.Fatal(err)
	}
	return out.String()
}

// explained returns what `reporter analyze --explain --verbose` says of keys and tables, a
// page each.
func (w *fieldWorld) explained(t *testing.T, keys []string) []string {
	t.Helper()
	pages := strings.Split(w.analyze(t, analyze.Options{Explain: keys, Verbose: true}), "\n\n\n")
	if len(pages) != len(keys) {
		t.Fatalf("%d pages of %q:\n%s", len(pages), keys, strings.Join(pages, "\n"))
	}
	return pages
}

// subjects returns what --explain is asked for: the keys and tables that findings are
// about, the roots of incidents first.
func (j *judged) subjects() (all []string) {
	add := func(f *detect.Finding) {
		name := string(f.Key)
		if name == "" {
			name = f.Name()
		}
		if len(all) < maxExplained && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	groups := casebook.Roots(j.found)
	for _, g := range groups {
		add(g[0])
	}
	for _, g := range groups {
		for _, f := range g[1:] {
			add(f)
		}
	}
	return all
}

// hasFinding reports whether a page of --explain is about a finding.
func hasFinding(page string) bool {
	return strings.Contains(page, "\nWhat to do, in order\n") || strings.Contains(page, "\nWhat can be done for this key alone\n")
}

// illegible returns the faults of a page about a finding: lines that a terminal breaks,
// and an answer to "what now?" that is not on the first screen.
func illegible(page string) (all []string) {
	lines := strings.Split(page, "\n")
	for _, line := range lines {
		if n := len([]rune(line)); n > screenColumns {
			all = append(all, "a line of "+line)
		}
	}
	fix := slices.IndexFunc(lines, func(line string) bool {
		return strings.HasPrefix(line, "  Now    ")
	})
	if fix < 0 || fix >= screenLines {
		all = append(all, "no answer on the first screen:\n"+page)
	}
	return all
}

// texts are what people are told of findings and incidents.
func (j *judged) texts() (all []string) {
	for i := range j.found {
		f := &j.found[i]
		brief := say.New(f)
		all = append(all, brief.Title, brief.Why, brief.Now)
		for k := range f.Advice {
			all = append(all, say.Imperative(f, &f.Advice[k]), say.StepWhy(f, &f.Advice[k]))
		}
	}
	return all
}

// unspeakable returns what a text says though it must not.
func (w *fieldWorld) unspeakable(text string) (all []string) {
	for _, word := range w.Expect.Unsaid {
		if says(text, word) {
			all = append(all, fmt.Sprintf("says %q: %s", word, text))
		}
	}
	return all
}

func says(text, words string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(words))
}

// TestSampledFiguresAreEstimates judges a key of 1,500 units a second, drawn at 1%: the bounds
// of its mean and peak hold that, its sort keys are the least, and as many key shards are
// advised as the truth needs.
func TestSampledFiguresAreEstimates(t *testing.T) {
	t.Parallel()
	all := fieldWorlds(t)
	w := &all[slices.IndexFunc(all, func(w fieldWorld) bool { return w.Name == "item-1-percent-1500" })]
	found := w.judge().found
	n := slices.IndexFunc(found, func(f detect.Finding) bool { return f.Key == "tenant#big" && f.Subject == detect.KeyWrites })
	if n < 0 {
		t.Fatalf("the key has no finding: %+v", found)
	}
	f := &found[n]
	mean, peak := f.Mean.WCU, f.Peak.WCU
	if !f.OnlyMean() || mean.Low > 1500 || mean.High < 1500 || mean.Value < 1450 || mean.Value > 1550 {
		t.Errorf("the mean of 1,500 is %+v", mean)
	}
	if peak.Low > 1500 || peak.High < 1500 {
		t.Errorf("the peak of 1,500 is %+v", peak)
	}
	if keys := f.Evidence.SortKeys; keys == nil || keys.Distinct > 29 {
		t.Errorf("29 samples of 2,900 units show the sort keys %+v", keys)
	}
	if len(f.Advice) < 2 || f.Advice[0].Fix != detect.FixCheckSplit || f.Advice[1].Fix != detect.FixShardedKey || f.Advice[1].Arguments.Count != 3 {
		t.Errorf("the steps are %+v", f.Advice)
	}
}
