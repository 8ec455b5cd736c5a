package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var (
	// namedTest is a test that a document names, or the beginning of one behind -run.
	namedTest = regexp.MustCompile(`(-run '?)?\b((?:Test|Fuzz)[A-Z][A-Za-z0-9_]*)`)
	// testFunc is a test in a file of tests.
	testFunc = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)[A-Z][A-Za-z0-9_]*)\(`)
)

// testProblems reports tests that a document names and no file of tests has: the document's
// claim is then without a proof.
func testProblems(dir string) (all []problem, err error) {
	tests, err := findTests(dir)
	if err != nil {
		return nil, err
	}
	err = readDocuments(dir, func(path, text string) {
		for _, m := range namedTest.FindAllStringSubmatch(text, -1) {
			isNamed := func(test string) bool { return test == m[2] || m[1] != "" && strings.HasPrefix(test, m[2]) }
			if !slices.ContainsFunc(tests, isNamed) {
				all = append(all, problem{path, "there is no test " + m[2]})
			}
		}
	})
	return all, err
}

// findTests returns the names of all tests below a directory, of its other modules too.
func findTests(dir string) (tests []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != dir && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		for _, m := range testFunc.FindAllSubmatch(text, -1) {
			tests = append(tests, string(m[1]))
		}
		return err
	})
	return tests, err
}
