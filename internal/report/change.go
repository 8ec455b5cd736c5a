package report

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/forecast"
	"github.com/keyheat/keyheat/store"
)

// The events of notifications.
const (
	EventFiring   = "firing"
	EventUpdated  = "updated"
	EventResolved = "resolved"
)

// noteOld marks in the history that nobody was told, because it came to light
// long after it happened. Its end is not told either.
const noteOld = "too old to notify"

// stored is what the store has of a finding.
type stored struct {
	finding  detect.Finding
	document []byte
	// told says that firing was told, so that the end will be.
	told bool
}

// known is the stored findings, as far as the board speaks of them.
type known map[string]stored

// lookUp answers what is stored of a finding; nothing of a new one.
func (k known) lookUp(ctx context.Context, st Store, fingerprint string) (stored, error) {
	if s, known := k[fingerprint]; known {
		return s, nil
	}
	row, err := st.Finding(ctx, fingerprint)
	if errors.Is(err, store.ErrNotFound) {
		return stored{}, nil
	}
	if err != nil {
		return stored{}, err
	}
	s := stored{document: row.Document}
	if err := json.Unmarshal(row.Document, &s.finding); err != nil {
		return stored{}, fmt.Errorf("stored finding %s: %w", fingerprint, err)
	}
	if s.finding.State == detect.Firing {
		if s.told, err = wasTold(ctx, st, fingerprint); err != nil {
			return stored{}, err
		}
	}
	k[fingerprint] = s
	return s, nil
}

// wasTold says whether a finding's last beginning was told.
func wasTold(ctx context.Context, st Store, fingerprint string) (bool, error) {
	history, err := st.FindingHistory(ctx, fingerprint)
	if err != nil {
		return false, err
	}
	told := true
	for _, t := range history {
		if t.To == string(detect.Firing) && t.From != t.To {
			told = t.Note != noteOld
		}
	}
	return told, nil
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

// note compares what the board says with what is stored, or about to be.
func (d *draft) note(ctx context.Context, t *term, now time.Time) error {
	for _, f := range t.findings() {
		f.Gaps = gapsOf(&f, t.lost)
		growth, err := t.forecastOf(ctx, &f)
		if err != nil {
			return err
		}
		forecast.Apply(&f, growth, t.policy(f.Table, f.Index).Headroom)
		document, err := json.Marshal(f)
		if err != nil {
			return fmt.Errorf("write finding %s: %w", f.Fingerprint, err)
		}
		before, changed := d.after[f.Fingerprint]
		if !changed {
			if before, err = t.known.lookUp(ctx, t.store, f.Fingerprint); err != nil {
				return err
			}
		}
		if !bytes.Equal(before.document, document) && !isOlder(f, before) {
			d.put(row(f, document))
			d.after[f.Fingerprint] = d.compare(f, before, document, t.config, now)
		}
		if f.State == detect.Resolved {
			delete(t.takenUp, f.Fingerprint) // only now: the store may fail lookUp
		}
	}
	return nil
}

// findings are the board's, and those of a judge before that were taken up and
// that the board has let go of: it does so when they are over.
func (t *term) findings() []detect.Finding {
	found := t.board.Findings()
	if len(t.takenUp) == 0 {
		return found
	}
	gone := maps.Clone(t.takenUp)
	for i := range found {
		delete(gone, found[i].Fingerprint)
	}
	for _, f := range gone {
		f.State = detect.Resolved
		found = append(found, f)
	}
	return found
}

func (d *draft) put(f store.Finding) {
	if i, already := d.at[f.Fingerprint]; already {
		d.findings[i] = f
		return
	}
	d.at[f.Fingerprint] = len(d.findings)
	d.findings = append(d.findings, f)
}

// isOlder says that what the board says of a finding is not news but a part of
// what is stored. After a restart the board is shown the past again, and says
// for a while what was true then.
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
	// The beginning of an episode that is over is not shown again when it is
	// too long ago.
	return f.State == detect.Resolved && old.State == detect.Resolved && f.FirstSeen.After(old.FirstSeen)
}

// rank is how far an episode has come.
func rank(s detect.State) int {
	return slices.Index([]detect.State{detect.Pending, detect.Firing, detect.Resolved}, s)
}

func row(f detect.Finding, document []byte) store.Finding {
	return store.Finding{
		Fingerprint: f.Fingerprint, Kind: string(f.Kind), Table: f.Table, Index: f.Index, Key: f.Key,
		Severity: string(f.Severity), State: string(f.State), Utilization: f.Utilization,
		FirstSeen: f.FirstSeen, LastSeen: f.LastSeen, Document: document,
	}
}

// compare adds the steps from what was stored to what is.
func (d *draft) compare(f detect.Finding, before stored, document []byte, config Config, now time.Time) stored {
	after := stored{finding: f, document: document, told: before.told}
	switch {
	case f.State != before.finding.State && f.State == detect.Firing:
		after.told = d.begin(f, before.finding.State, document, config, now)
	case f.State != before.finding.State:
		d.step(f, before.finding.State, now, "")
		if f.State == detect.Resolved && before.told {
			d.tell(f, EventResolved, document, config)
		}
		after.told = false
	case worse(f.Severity, before.finding.Severity):
		d.step(f, before.finding.State, now, fmt.Sprintf("severity rises from %s", before.finding.Severity))
		if before.told && !isOld(f, config, now) {
			d.tell(f, EventUpdated, document, config)
		}
	}
	return after
}

// begin writes that a finding fires, and tells it unless it is long past.
func (d *draft) begin(f detect.Finding, from detect.State, document []byte, config Config, now time.Time) (told bool) {
	if isOld(f, config, now) {
		d.step(f, from, now, noteOld)
		return false
	}
	d.step(f, from, now, "")
	d.tell(f, EventFiring, document, config)
	return true
}

// isOld says that the finding's newest second is too long past to wake anybody.
func isOld(f detect.Finding, config Config, now time.Time) bool {
	return now.Sub(f.LastSeen) > config.PageWithin
}

func (d *draft) step(f detect.Finding, from detect.State, now time.Time, note string) {
	d.transitions = append(d.transitions, store.Transition{
		Fingerprint: f.Fingerprint, At: now, From: string(from), To: string(f.State),
		Severity: string(f.Severity), Note: note,
	})
}

func (d *draft) tell(f detect.Finding, event string, document []byte, config Config) {
	for _, route := range config.Routes {
		d.notifications = append(d.notifications, store.Notification{
			Fingerprint: f.Fingerprint, Event: event, Route: route, Payload: document,
		})
	}
}

func worse(a, b detect.Severity) bool { return a == detect.Critical && b == detect.Warning }

// maxKnown bounds what is remembered of stored findings. What is forgotten is
// looked up again.
const maxKnown = 64 << 10

// apply takes over what was written.
func (k known) apply(d *draft) {
	if len(k) > maxKnown {
		clear(k)
	}
	for fingerprint, s := range d.after {
		k[fingerprint] = s
	}
}
