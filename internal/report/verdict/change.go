package verdict

import (
	"fmt"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// The events of notifications.
const (
	eventFiring   = "firing"
	eventUpdated  = "updated"
	eventResolved = "resolved"
)

// noteTooOld marks in the history that no notification was sent, because the
// finding was made long after it happened. None is sent of its end either.
const noteTooOld = "too old to notify"

// stored is what the store has of a finding.
type stored struct {
	finding  detect.Finding
	document []byte
	// notified reports that firing was notified, so that the end will be.
	notified bool
}

// known is what is stored of the findings that the board has.
type known map[string]stored

// newStored reads a stored finding and its history.
func newStored(row store.Finding, history []store.Transition) (stored, error) {
	f, err := detect.ReadFinding(row.Document)
	if err != nil {
		return stored{}, fmt.Errorf("stored finding %s: %w", row.Fingerprint, err)
	}
	s := stored{finding: f, document: row.Document}
	s.notified = s.finding.State == detect.Firing && wasNotified(history)
	return s, nil
}

// SetEarlier records what is stored of a finding.
func (s *State) SetEarlier(row store.Finding, history []store.Transition) error {
	earlier, err := newStored(row, history)
	if err == nil {
		s.known[row.Fingerprint] = earlier
	}
	return err
}

// wasNotified reports whether a finding's last change to firing was notified.
func wasNotified(history []store.Transition) bool {
	notified := true
	for _, t := range history {
		if t.To == string(detect.Firing) && t.From != t.To {
			notified = t.Note != noteTooOld
		}
	}
	return notified
}

// draft is what is to be written of findings: everything since the last
// judgement that was stored.
type draft struct {
	// findings are the newest of each, in the order in which they changed
	// first.
	findings      []store.Finding
	transitions   []store.Transition
	notifications []store.Notification
	// at is where each finding is in findings, after what will be stored then.
	at    map[string]int
	after known
}

func newDraft() *draft { return &draft{at: make(map[string]int), after: make(known)} }

func (d *draft) addTo(j *store.Judgement) {
	j.Findings, j.Transitions, j.Notifications = d.findings, d.transitions, d.notifications
}

func (d *draft) put(f store.Finding) {
	if i, already := d.at[f.Fingerprint]; already {
		d.findings[i] = f
		return
	}
	d.at[f.Fingerprint] = len(d.findings)
	d.findings = append(d.findings, f)
}

// isOlder reports whether the board's finding is not newer than the stored one.
// After a restart the board observes stored windows again, and its findings are
// for a while those of that time.
func isOlder(f detect.Finding, before stored) bool {
	old := before.finding
	if f.LastSeen.Before(old.LastSeen) {
		return true
	}
	if f.FirstSeen.After(old.LastSeen) {
		return false // another episode
	}
	switch {
	case worse(old.Severity, f.Severity): // it is the episode's worst
		return true
	case f.LastSeen.Equal(old.LastSeen) && rank(f.State) < rank(old.State):
		return true
	}
	// The beginning of a resolved episode is not replayed when it is too long
	// ago.
	return f.State == detect.Resolved && old.State == detect.Resolved && f.FirstSeen.After(old.FirstSeen)
}

// rank is how far an episode has come.
func rank(s detect.State) int {
	return slices.Index([]detect.State{detect.Pending, detect.Firing, detect.Resolved}, s)
}

func row(f detect.Finding, document []byte) store.Finding {
	return store.Finding{
		Fingerprint: f.Fingerprint, Kind: string(f.Kind), Target: sample.Target{Table: f.Table, Index: f.Index}, Key: f.Key,
		Severity: string(f.Severity), State: string(f.State), Utilization: f.Utilization,
		FirstSeen: f.FirstSeen, LastSeen: f.LastSeen, Document: document,
	}
}

// compare adds the steps from what was stored to what is.
func (d *draft) compare(f detect.Finding, before stored, document []byte, o Options, now time.Time) stored {
	after := stored{finding: f, document: document, notified: before.notified}
	switch {
	case f.State != before.finding.State && f.State == detect.Firing:
		after.notified = d.fire(f, before.finding.State, document, o, now)
	case f.State != before.finding.State:
		d.step(f, before.finding.State, now, "")
		if f.State == detect.Resolved && before.notified {
			d.notify(f, eventResolved, document, o)
		}
		after.notified = false
	case worse(f.Severity, before.finding.Severity):
		d.step(f, before.finding.State, now, fmt.Sprintf("severity rises from %s", before.finding.Severity))
		if before.notified && !tooOld(f, o, now) {
			d.notify(f, eventUpdated, document, o)
		}
	}
	return after
}

// fire records that a finding fires, and notifies unless that is too long ago.
func (d *draft) fire(f detect.Finding, from detect.State, document []byte, o Options, now time.Time) (notified bool) {
	if tooOld(f, o, now) {
		d.step(f, from, now, noteTooOld)
		return false
	}
	d.step(f, from, now, "")
	d.notify(f, eventFiring, document, o)
	return true
}

// tooOld reports whether the finding's newest second is too long ago to notify.
func tooOld(f detect.Finding, o Options, now time.Time) bool {
	return now.Sub(f.LastSeen) > o.PageWithin
}

func (d *draft) step(f detect.Finding, from detect.State, now time.Time, note string) {
	d.transitions = append(d.transitions, store.Transition{
		Fingerprint: f.Fingerprint, At: now, From: string(from), To: string(f.State),
		Severity: string(f.Severity), Note: note,
	})
}

func (d *draft) notify(f detect.Finding, event string, document []byte, o Options) {
	for _, route := range o.Routes {
		d.notifications = append(d.notifications, store.Notification{
			Fingerprint: f.Fingerprint, Event: event, Route: route, Payload: document,
		})
	}
}

func worse(a, b detect.Severity) bool { return a == detect.Critical && b == detect.Warning }

// MaxKnown bounds what is remembered of stored findings. What is forgotten is
// loaded again.
const MaxKnown = 64 << 10

// apply takes over what was written.
func (k known) apply(d *draft) {
	if len(k) > MaxKnown {
		clear(k)
	}
	for fingerprint, s := range d.after {
		k[fingerprint] = s
	}
}
