// Package must ends a test that cannot go on.
package must

// test is a test of package testing, or of one that draws values for it.
type test interface {
	Helper()
	Fatal(args ...any)
}

// Succeed ends the test if a step of it failed. Helper takes a lock and looks at the stack, which
// is too slow for a step that a test takes a million times and that does not fail.
func Succeed(t test, err error) {
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
}
