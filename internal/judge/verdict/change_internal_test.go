package verdict

import (
	"fmt"
	"testing"

	"github.com/keyheat/keyheat/detect"
)

// TestWhatIsOpenIsNotForgotten: when too much is remembered, what has ended is forgotten. An
// open incident that nobody remembers could not end.
func TestWhatIsOpenIsNotForgotten(t *testing.T) {
	t.Parallel()
	k, d := newKnown(), newDraft()
	for n := range MaxKnown + 1 {
		id := fmt.Sprint(n)
		k.incidents[id] = incidentRecord{Incident: detect.Incident{ID: id}}
		k.findings[id] = stored{finding: detect.Finding{Fingerprint: id, Incident: id}}
	}
	k.apply(d, map[string]bool{"7": true})
	if _, known := k.incidents["7"]; !known || len(k.incidents) != 1 {
		t.Errorf("%d incidents are known, the open one: %t", len(k.incidents), known)
	}
	if _, known := k.findings["7"]; !known || len(k.findings) != 1 {
		t.Errorf("%d findings are known, the open incident's: %t", len(k.findings), known)
	}
}
