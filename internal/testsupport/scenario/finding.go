package scenario

import (
	"fmt"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/sample"
)

// NewFinding returns a finding about a watched subject or, given a case, with that case.
func NewFinding(about any, t detect.Target, key sample.Key) detect.Finding {
	switch about := about.(type) {
	case detect.Subject:
		f := detect.NewFinding(about, t, key)
		f.Case = casebook.Diagnose(&f)
		return f
	case detect.Case:
		return casebook.NewFinding(about, t, key)
	}
	panic(fmt.Sprintf("a finding about %T", about))
}

// IsAbout reports whether a finding is about a watched subject or, given a case, has that case.
func IsAbout(f *detect.Finding, about any) bool {
	subject, watched := about.(detect.Subject)
	return watched && f.Subject == subject || !f.Subject.IsWatched() && f.Case == about
}
