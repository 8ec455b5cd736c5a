package causes_test

import (
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/internal/causes"
	"github.com/keyheat/keyheat/internal/testsupport/hostile"
)

// TestNoCauseShowsATextRaw draws findings of which every text is an attack, among them keys
// that are hot one after another.
func TestNoCauseShowsATextRaw(t *testing.T) {
	t.Parallel()
	m := hostile.New(12)
	check := func(f *detect.Finding) {
		t.Helper()
		if wrong := hostile.FaultOfSentence(f.Why); wrong != "" {
			t.Fatalf("%s lets %s through: %q", f.Kind, wrong, f.Why)
		}
	}
	kinds, moving, followed := hostile.Kinds(), 0, 0
	for n := range 200 {
		table := m.Text()
		var found []detect.Finding
		for i := range 5 {
			f := m.Finding([]detect.Kind{detect.HotKeyWrite, detect.HotKeyRead, detect.HotGSIKey}[n%3])
			f.Target = detect.Target{Table: table, Index: table}
			f.Key, f.KeyType, f.Severity = f.Key+string(rune('a'+i)), "S", detect.Critical
			f.Rolling, f.Sharding, f.Advice = nil, nil, nil
			f.FirstSeen = began.Add(time.Duration(5*i) * time.Second)
			f.LastSeen = f.FirstSeen.Add(4 * time.Second)
			f.Through = f.LastSeen
			found = append(found, f)
		}
		spots := causes.Moving(found, policy)
		moving += len(spots)
		found = append(found, spots...)
		for range 5 {
			f := m.Finding(kinds[n%len(kinds)])
			f.Advice = nil
			if m.Odds(2) {
				f.Target, f.Key = found[0].Target, found[0].Key
			}
			found = append(found, f)
		}
		causes.Assign(found, policy)
		for i := range found {
			if check(&found[i]); found[i].Kind.OfKey() && found[i].Reason == detect.MovingLoad {
				followed++
			}
		}
	}
	if moving < 20 || followed < 20 {
		t.Errorf("%d hot spots moved, and %d keys are of one", moving, followed)
	}
}
