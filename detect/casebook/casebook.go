package casebook

import (
	"cmp"
	"slices"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
)

// cases are all cases. The first that matches a finding is its case. Those that explain others
// come first: the design or the caller that makes keys hot, then the keys, then their table and
// their items.
var cases = []*Case{
	&timeKey, &movingSpot, &tooFewShards, &unevenShards, &fewValues, &testKey, &retryStorm, &oneCaller,
	&maskedKey, &replicatedKey, &eventualReads, &hotItem, &indexKey, &atLimit, &mayBeOver, &hotKey, &nearLimit, &contention,
	&scan, &walk, &ramp, &backPressure, &sharedPartition,
	&ownMaximum, &accountQuota, &indexCapacity, &noReason, &shortOfCapacity,
	&largeItem, &largeCollection, &tooManyShards,
	&collectionStopped, &collectionLags, &badSamples, &tablesRefused, &samplesLost, &samplesStopped, &coverageFell, &unseenKeys, &tooManyHotKeys,
}

// Codes returns the codes of all cases, in their order.
func Codes() []detect.Case {
	all := make([]detect.Case, len(cases))
	for i, c := range cases {
		all[i] = c.Code
	}
	return all
}

// Names returns the codes of all cases as texts, sorted.
func Names() []string {
	var all []string
	for _, c := range cases {
		all = append(all, string(c.Code))
	}
	slices.Sort(all)
	return all
}

// SubjectOf returns what the findings of a case are about; empty for the case of a watched
// subject alone.
func SubjectOf(code detect.Case) detect.Subject {
	if c := byCode(code); c != nil {
		return c.Subject
	}
	return ""
}

// Diagnose returns the case of a finding, as its figures are now.
func Diagnose(f *detect.Finding) detect.Case { return caseOf(f).Code }

// Settle gives each finding its case, as its figures are now.
func Settle(found []detect.Finding) {
	for i := range found {
		found[i].Case = Diagnose(&found[i])
	}
}

// Form returns the case that a case is a form of, which may be itself.
func Form(code detect.Case) detect.Case {
	if c := byCode(code); c != nil {
		return cmp.Or(c.FormOf, c.Code)
	}
	return code
}

func byCode(code detect.Case) *Case {
	if i := slices.IndexFunc(cases, func(c *Case) bool { return c.Code == code }); i >= 0 {
		return cases[i]
	}
	return nil
}

// caseOf returns the case of a finding.
func caseOf(f *detect.Finding) *Case {
	for _, c := range cases {
		if c.Matches != nil && f.Subject.IsWatched() && c.Matches(f) || !f.Subject.IsWatched() && c.Code == f.Case {
			return c
		}
	}
	return &Case{}
}

// New answers the five questions about a finding.
func New(f *detect.Finding) Answer {
	a := Answer{Case: caseOf(f), Callers: MainCallers(callersSeen(f))}
	a.Harm, a.Healing = harmOf(f, a.Blind), a.heals(f)
	a.Alike = len(a.Callers) > 0 && !standsOut(callersSeen(f))
	a.Move = moveFor(f, &a)
	if a.Healing.Outlook != Open && f.Healed == nil {
		a.Then = lastingFix(f)
	}
	return a
}

// NewFinding returns a pending finding, without figures, about a target or a key of it. Its
// case is not one of a watched subject.
func NewFinding(code detect.Case, t detect.Target, key sample.Key) detect.Finding {
	f := detect.NewFinding(byCode(code).Subject, t, key)
	become(&f, code)
	return f
}

// NewRelated returns a related finding with another case. It is Info, and is resolved when the
// original is.
func NewRelated(f *detect.Finding, code detect.Case, key sample.Text) detect.Finding {
	m := *f
	m.Key = key
	become(&m, code)
	m.Severity, m.State = detect.Info, detect.Pending
	if f.State == detect.Resolved {
		m.State = detect.Resolved
	}
	return m
}

// become gives a finding a case, and an incident of its own.
func become(f *detect.Finding, code detect.Case) {
	c := byCode(code)
	f.Case, f.Subject = code, c.Subject
	f.Identify()
	switch {
	case c.Blind:
		f.BelongTo("pipeline", string(code))
	case f.Key == "":
		f.BelongTo(Form(code), "")
	default:
		f.BelongTo(Form(code), f.KeyType+":"+string(f.Key))
	}
}
