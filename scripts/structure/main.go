// Structure checks the rules of the tree that no linter of the short list knows: imports
// point down the layers, packages stay small, DynamoDB's limits stand in one file, the
// judgement returns no sentences, keys are quoted, comments and documents name the thing, and
// what they name exists.
//
//	go run ./scripts/structure
//
// It prints one line for each problem and exits with 1 if there is any. `make lint` runs
// it. layers.txt is the map of the layers, with the packages that may exceed a measure.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

func main() {
	os.Exit(run(context.Background(), ".", os.Stdout, os.Stderr))
}

// run checks the module in a directory and returns the exit code.
func run(ctx context.Context, dir string, out, errs io.Writer) int {
	problems, err := check(ctx, dir)
	if err != nil {
		fmt.Fprintln(errs, "structure:", err)
		return 2
	}
	for _, p := range problems {
		fmt.Fprintln(out, p)
	}
	if len(problems) > 0 {
		return 1
	}
	return 0
}

// problem is one violation of a rule: where, and what to do about it.
type problem struct{ where, what string }

func (p problem) String() string { return p.where + ": " + p.what }

// check returns what is wrong with the module in a directory, sorted.
func check(ctx context.Context, dir string) ([]problem, error) {
	m, err := load(ctx, dir)
	if err != nil {
		return nil, err
	}
	s, err := readMap(dir)
	if err != nil {
		return nil, err
	}
	all, err := wordProblems(m, dir)
	if err != nil {
		return nil, err
	}
	untested, err := testProblems(dir)
	if err != nil {
		return nil, err
	}
	sleeping, err := sleepProblems(dir)
	if err != nil {
		return nil, err
	}
	lost, err := referenceProblems(m, dir)
	if err != nil {
		return nil, err
	}
	all = append(all, lost...)
	all = append(all, untested...)
	all = append(all, sleeping...)
	for _, p := range m.packages {
		all = append(all, s.filter(p, circleProblems(p), sizeProblems(p))...)
	}
	all = append(all, s.unusedExemptions()...)
	all = append(all, s.checkImports(m)...)
	all = append(all, limitProblems(m)...)
	all = append(all, sentenceProblems(m)...)
	all = append(all, quotingProblems(m)...)
	slices.SortStableFunc(all, func(a, b problem) int { return strings.Compare(a.where, b.where) })
	return all, nil
}
