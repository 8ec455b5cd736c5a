package diagnosis_test

import (
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/internal/diagnosis"
	"github.com/keyheat/keyheat/internal/testsupport/hostile"
)

// TestNoDiagnosisShowsATextRaw draws hot keys at random of which every text is an attack,
// until each reason that a key can have was given.
func TestNoDiagnosisShowsATextRaw(t *testing.T) {
	t.Parallel()
	m := hostile.New(2)
	given, kinds := map[detect.Diagnosis]int{}, map[detect.Kind]int{}
	check := func(what, text string) {
		t.Helper()
		if wrong := hostile.FaultOfSentence(text); wrong != "" {
			t.Fatalf("%s lets %s through: %q", what, wrong, text)
		}
	}
	for n := range 4000 {
		f := m.Finding([]detect.Kind{detect.HotKeyWrite, detect.HotKeyRead, detect.HotGSIKey}[n%3])
		if m.Odds(2) {
			f.Rolling = nil
		}
		var facts *detect.TableFacts
		if m.Odds(3) {
			facts = &detect.TableFacts{LSIs: []string{m.Text()}}
		}
		d := diagnosis.Diagnose(&f, facts)
		given[d.Reason]++
		check(string(d.Reason), d.Why)
		callers := map[string]float64{}
		if f.Evidence != nil {
			f.Evidence.Records *= 10
			for _, p := range f.Evidence.Callers {
				callers[p.Text] = 0.1 * m.Number()
			}
			check("the toll", diagnosis.Toll(&f))
		}
		for _, text := range []string{diagnosis.Replication(&f), diagnosis.WhySaturated(&f), diagnosis.WhyCombined(&f)} {
			check("a remark", text)
		}
		for _, of := range diagnosis.Related(&f, facts, callers) {
			kinds[of.Kind]++
			check(string(of.Kind), of.Why)
		}
	}
	for _, reason := range []detect.Diagnosis{detect.HotItem, detect.RollingKey, detect.LSIBlocked, detect.MonotonicSortKey, detect.MovingLoad, detect.Splittable, detect.Undetermined} {
		if given[reason] == 0 {
			t.Errorf("no key has the reason %s: %v", reason, given)
		}
	}
	for _, kind := range []detect.Kind{detect.LargeItem, detect.LargeCollection, detect.SingleCaller, detect.TestKey, detect.RetryStorm} {
		if kinds[kind] == 0 {
			t.Errorf("no key has a related finding %s: %v", kind, kinds)
		}
	}
}
