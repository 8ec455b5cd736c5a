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

// findTests returns the names of all tests below a directory.
func findTests(dir string) (tests []string, err error) {
	err = readTests(dir, func(_, text string) {
		for _, m := range testFunc.FindAllStringSubmatch(text, -1) {
			tests = append(tests, m[1])
		}
	})
	return tests, err
}

// sleepProblems reports files of tests that sleep on the machine's clock: what a test waits
// for may take longer beside other work. The faults of e2e, and a runtime that freezes functions,
// last for a time by purpose.
func sleepProblems(dir string) (all []problem, err error) {
	err = readTests(dir, func(path, text string) {
		if strings.Contains(text, "time.Sleep(") && !strings.Contains(text, `"testing/synctest"`) && !within(path, "e2e") && !within(path, "clients/conformance") {
			all = append(all, problem{path, "time.Sleep without testing/synctest: wait for a state with internal/testsupport/await"})
		}
	})
	return all, err
}

// readTests passes the path and the text of each file of tests below a directory to a
// function, of its other modules too.
func readTests(dir string, see func(path, text string)) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != dir && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if below, _ := filepath.Rel(dir, path); err == nil {
			see(filepath.ToSlash(below), string(text))
		}
		return err
	})
}
