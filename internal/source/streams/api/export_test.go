package api

// What follows lets tests reach what no server can be made to return in every
// form.

// CompareSequence is compareSequence.
func CompareSequence(a, b string) int { return compareSequence(a, b) }

// Explain is explain.
func Explain(operation string, err error) error { return explain(operation, err) }
