package verdict

import (
	"slices"
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/incident"
)

// unresolved are the findings that are not resolved.
type unresolved struct {
	// findings are they by fingerprint, and subjects their fingerprints by what they are
	// about.
	findings map[string]detect.Finding
	subjects map[subject]map[string]bool
}

func newUnresolved() unresolved {
	return unresolved{map[string]detect.Finding{}, map[subject]map[string]bool{}}
}

// subject is the table and key of findings, for any account and Region. A table's account
// and Region may become known while it has findings, because a collector or a producer
// begins to tell them, or be lost again with an older one beside.
type subject struct {
	about, table, index, keyType, key string
}

func subjectOf(f *detect.Finding) subject {
	return subject{f.About(), f.Table, f.Index, f.KeyType, string(f.Key)}
}

// targets yields the tables and indexes with findings, one for each finding.
func (u *unresolved) targets(yield func(detect.Target) bool) {
	for _, f := range u.findings {
		if !yield(f.Target) {
			return
		}
	}
}

// record takes over a finding's state.
func (u *unresolved) record(f *detect.Finding) {
	of := subjectOf(f)
	if f.State == detect.Resolved {
		delete(u.findings, f.Fingerprint)
		if delete(u.subjects[of], f.Fingerprint); len(u.subjects[of]) == 0 {
			delete(u.subjects, of)
		}
		return
	}
	u.findings[f.Fingerprint] = *f
	if u.subjects[of] == nil {
		u.subjects[of] = make(map[string]bool, 1)
	}
	u.subjects[of][f.Fingerprint] = true
}

// twins returns the fingerprints of the other findings that may be about the same key as
// this one, in the order of their targets.
func (u *unresolved) twins(f *detect.Finding) (all []string) {
	for fingerprint := range u.subjects[subjectOf(f)] {
		if target := u.findings[fingerprint].Target; fingerprint != f.Fingerprint && target.MayBe(f.Target) {
			all = append(all, fingerprint)
		}
	}
	slices.SortFunc(all, func(a, b string) int { return u.findings[a].Target.Compare(u.findings[b].Target) })
	return all
}

// lost returns the findings that the board, which has found some, does not have any more
// and that are over, as resolved.
func (u *unresolved) lost(found []detect.Finding, settled int64) (all []detect.Finding) {
	has := make(map[string]bool, len(found))
	for i := range found {
		has[found[i].Fingerprint] = true
	}
	for fingerprint, f := range u.findings {
		if !has[fingerprint] && incident.IsLost(&f, settled) {
			f.State = detect.Resolved
			all = append(all, f)
		}
	}
	slices.SortFunc(all, func(a, b detect.Finding) int { return strings.Compare(a.Fingerprint, b.Fingerprint) })
	return all
}
