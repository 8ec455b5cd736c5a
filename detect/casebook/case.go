package casebook

import "github.com/keyheat/keyheat/detect"

// Case is one answer to the question why requests are refused, or will be.
type Case struct {
	Code detect.Case
	// Subject is what its findings are about. It is empty for a case of a watched subject:
	// Matches then reports whether this is the case of a finding that no earlier case matches.
	Subject detect.Subject
	Matches func(*detect.Finding) bool
	// FormOf is the case that this one is a form of, if any: on-call is not told again when one
	// form of a case turns into another.
	FormOf detect.Case
	// Heals is the outlook of an open finding, healsBySplit if it is nil.
	Heals func(*detect.Finding) Healing
	// Tonight is the action for an open finding that alerts, [Answer.slow] if it is nil.
	Tonight func(*detect.Finding, *Answer) Act
	// Futile reports that more capacity of the table does not help, though people would raise
	// it.
	Futile bool
	// Blind reports that Keyheat itself cannot see.
	Blind bool
}
