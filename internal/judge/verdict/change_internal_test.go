package verdict

import (
	"fmt"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/store"
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

// TestFiguresAreWrittenInTurn: a flood changes the figures of more findings and incidents than a
// pass writes. What has a step is written at once, and the others come in their turn.
func TestFiguresAreWrittenInTurn(t *testing.T) {
	t.Parallel()
	s := &State{known: newKnown(), draft: newDraft()}
	written := map[string]int{}
	const step, first, middle, last = 3 * mostFigures, 0, mostFigures + 1, 3*mostFigures - 1
	for pass := range 4 {
		for n := range step + 1 {
			id := fmt.Sprint(n)
			put(&s.draft.Findings, s.draft.findingAt, id, store.Finding{Fingerprint: id, Utilization: float64(pass)})
			s.draft.after.findings[id] = stored{document: []byte{byte(pass)}}
			s.draft.putIncident(store.Incident{ID: "i" + id})
			s.draft.after.incidents["i"+id] = incidentRecord{document: []byte{byte(pass)}}
		}
		s.draft.Transitions = []store.Transition{{Of: fmt.Sprint(step)}}
		s.draft.Notifications = []store.Notification{{Incident: fmt.Sprint("i", step)}}
		now, rest := s.draft.takeDue()
		if len(now.Findings) != mostFigures+1 || len(now.Incidents) != mostFigures+1 || len(now.Transitions) != 1 || len(now.Notifications) != 1 {
			t.Errorf("pass %d writes %d findings, %d incidents, %d steps and %d messages", pass, len(now.Findings), len(now.Incidents), len(now.Transitions), len(now.Notifications))
		}
		for _, f := range now.Findings {
			written[f.Fingerprint]++
			if f.Utilization != float64(pass) {
				t.Fatalf("pass %d writes the figures of pass %g", pass, f.Utilization)
			}
		}
		s.markWritten(rest)
		if f, _ := s.storedFinding(fmt.Sprint(last)); f.document[0] != byte(pass) {
			t.Errorf("after pass %d the finding is that of pass %d", pass, f.document[0])
		}
	}
	for n, want := range map[int]int{step: 4, first: 2, middle: 1, last: 1} {
		if got := written[fmt.Sprint(n)]; got != want {
			t.Errorf("the finding %d is written %d times, want %d", n, got, want)
		}
	}
}
