// Structure checks what no linter of the short list checks: that the files of a
// package do not all need each other, that packages stay small, that imports
// point down the layers, and that DynamoDB's limits stand in one file.
//
//	go run ./scripts/structure
//
// It prints one line per problem and exits with 1 when there is any. `make lint`
// runs it. The rules are in circle.go, size.go, layers.go and limits.go, each
// with what it allows and why; packages that may exceed a measure are listed,
// with the reason, in docs/ARCHITECTURE.md.
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
	exempt, err := readExemptions(dir)
	if err != nil {
		return nil, err
	}
	var all []problem
	for _, p := range m.packages {
		all = append(all, exempt.filter(p, circleProblems(p), sizeProblems(p))...)
	}
	all = append(all, exempt.unused()...)
	all = append(all, layerProblems(m)...)
	all = append(all, limitProblems(m)...)
	slices.SortStableFunc(all, func(a, b problem) int { return strings.Compare(a.where, b.where) })
	return all, nil
}
