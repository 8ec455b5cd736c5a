package casebook

import (
	"slices"

	"github.com/keyheat/keyheat/detect"
)

// Code names a case.
type Code string

// Case is one answer to the question why requests are refused, or will be.
type Case struct {
	Code Code
	// Matches reports whether this is the case of a finding that no earlier case matches.
	Matches func(*detect.Finding) bool
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

// cases are all cases. The first that matches a finding is its case.
var cases = append([]*Case{
	&timeKey, &eventualReads, &hotItem, &indexKey, &atLimit, &mayBeOver, &hotKey, &nearLimit,
	&retryStorm, &testKey, &oneCaller, &movingSpot, &fewValues, &tooFewShards, &tooManyShards, &unevenShards, &largeItem, &largeCollection,
	&scan, &walk, &ramp, &backPressure, &sharedPartition,
	&ownMaximum, &accountQuota, &indexCapacity, &noReason, &shortOfCapacity,
}, blindCases()...)

// Codes returns the codes of all cases, in their order.
func Codes() []Code {
	all := make([]Code, len(cases))
	for i, c := range cases {
		all[i] = c.Code
	}
	return all
}

// caseOf returns the case of a finding.
func caseOf(f *detect.Finding) *Case {
	i := slices.IndexFunc(cases, func(c *Case) bool { return c.Matches(f) })
	if i < 0 {
		return &Case{}
	}
	return cases[i]
}

// ofKind matches the findings of one kind.
func ofKind(k detect.Kind) func(*detect.Finding) bool {
	return func(f *detect.Finding) bool { return f.Kind == k }
}
