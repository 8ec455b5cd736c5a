package incident_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/internal/incident"
	"github.com/keyheat/keyheat/sample"
)

var histories = flag.Int("incident.histories", 100_000, "how many random histories TestPromises plays")

// TestPromises plays random harm of three keys, silences, receivers and restarts, and holds
// what is told to the promises of the package.
func TestPromises(t *testing.T) {
	t.Parallel()
	n := *histories
	if testing.Short() {
		n = min(n, 3000)
	}
	seeds, failed := make(chan uint64), make(chan string, 1)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for seed := range seeds {
				h := newHistory(seed)
				if h.play(); len(h.faults) > 0 {
					select {
					case failed <- fmt.Sprintf("history %d:\n%s\n%s", seed, h.story(), strings.Join(h.faults, "\n")):
					default:
					}
				}
			}
		})
	}
	for seed := range uint64(n) {
		seeds <- seed
	}
	close(seeds)
	workers.Wait()
	close(failed)
	for fault := range failed {
		t.Error(fault)
	}
}

var began = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

// key is one key's harm, and the finding that a board has of it.
type key struct {
	finding  detect.Finding
	harm     int // 0 for none, 1 near the limit, 2 above it
	until    int // the second at which the harm changes
	seconds  int // harmful ones of the episode
	harmedAt int // the newest harmful second
}

// history is a random one. The board in it is the simplest that finds, ends and forgets
// keys as the real one does.
type history struct {
	random  *rand.Rand
	second  int
	judged  int // the second up to which a judge has seen the load
	keys    []*key
	away    int // the second until which no judge runs
	policy  detect.Policy
	grouped bool // the keys have one cause
	silence int  // the second until which all is silenced
	more    bool // a second receiver is in the settings

	// What is stored.
	findings  map[string]detect.Finding
	incidents map[string]*detect.Incident
	// known is the last event that each receiver has of each incident.
	known  map[string]string
	fired  map[string]int   // since when an incident fires without a harmful second
	buffer []detect.Finding // of found, used again
	log    []func() string  // written out for a failure alone
	faults []string
}

func newHistory(seed uint64) *history {
	h := &history{
		random: rand.New(rand.NewPCG(seed, 40)), findings: map[string]detect.Finding{}, incidents: map[string]*detect.Incident{},
		known: map[string]string{}, fired: map[string]int{},
	}
	h.policy = detect.DefaultPolicy()
	h.policy.OnHarm = h.random.IntN(2) == 0
	h.policy.For = time.Duration(h.random.IntN(3)) * 10 * time.Second
	h.policy.KeepFiring = time.Duration(h.random.IntN(3)) * time.Minute
	for n := range 3 {
		f := detect.NewFinding(detect.KeyWrites, detect.Target{Table: "orders"}, sample.KeyString(fmt.Sprint("key-", n)))
		f.State = detect.Resolved
		h.keys = append(h.keys, &key{finding: f, harmedAt: -1000})
	}
	return h
}

func (h *history) note(format string, args ...any) {
	second := h.second
	h.log = append(h.log, func() string { return fmt.Sprintf("%4d "+format, append([]any{second}, args...)...) })
}

// story is what happened, a line each.
func (h *history) story() string {
	var b strings.Builder
	for _, line := range h.log {
		b.WriteString(line() + "\n")
	}
	return b.String()
}

func (h *history) fault(format string, args ...any) {
	h.faults = append(h.faults, fmt.Sprintf("second %d: ", h.second)+fmt.Sprintf(format, args...))
}

// play lets ten minutes pass in passes of ten seconds, and then five calm minutes.
func (h *history) play() {
	for h.second < 600 {
		h.change()
		h.pass(10)
		if len(h.faults) > 0 {
			return
		}
	}
	h.away, h.silence = 0, 0
	for _, k := range h.keys {
		k.harm, k.until = 0, 100_000
	}
	for range 10 {
		h.pass(30)
	}
	for id, i := range h.incidents {
		if i.State != detect.Resolved {
			h.fault("in the end %s is %s", id[:4], i.State)
		}
	}
}

// change lets something happen to what judges, and what is told to whom.
func (h *history) change() {
	switch h.random.IntN(24) {
	case 0:
		h.note("restart")
		h.restart()
	case 1:
		h.away = h.second + h.random.IntN(300)
		h.note("no judge until %d", h.away)
	case 2:
		h.silence = h.second + h.random.IntN(200)
		h.note("silenced until %d", h.silence)
	case 3:
		h.silence = 0
	case 4:
		h.more = !h.more
		h.note("second receiver: %t", h.more)
	case 5, 6:
		h.grouped = !h.grouped
		h.note("one cause: %t", h.grouped)
	case 7:
		k := h.keys[h.random.IntN(len(h.keys))]
		if h.second-k.harmedAt > 70 {
			k.finding.State = detect.Resolved // forgotten for want of memory, or over
		}
	}
}

// restart has another judge go on from what is stored: its board observes the last minutes
// again, and is not as far as the one before.
func (h *history) restart() {
	for id, i := range h.incidents {
		document, err := json.Marshal(i)
		read := new(detect.Incident)
		if err := errors.Join(err, json.Unmarshal(document, read)); err != nil {
			h.fault("%v", err)
		}
		h.incidents[id] = read
	}
	for _, k := range h.keys {
		if k.finding.State != detect.Resolved && k.seconds > 1 {
			replayed := k.finding
			k.finding.LastSeen = k.finding.LastSeen.Add(-time.Duration(h.random.IntN(3)) * time.Second)
			k.finding.Severity, k.finding.Lasting = detect.Warning, ""
			h.judge([]detect.Finding{k.finding})
			k.finding = replayed
		}
	}
}

// pass lets time pass, and a judge look if one is there.
func (h *history) pass(seconds int) {
	h.second += seconds
	if h.second < h.away {
		return
	}
	for h.judged < h.second {
		h.judged++
		for _, k := range h.keys {
			h.observe(k)
		}
		if h.judged%10 == 0 {
			h.judge(h.found())
		}
	}
	h.check()
}

// observe lets a key have its load of the judged second.
func (h *history) observe(k *key) {
	if h.judged >= k.until {
		k.harm, k.until = max(0, h.random.IntN(5)-2), h.judged+1+h.random.IntN(120)
	}
	f, at := &k.finding, began.Add(time.Duration(h.judged)*time.Second)
	quiet := h.judged - k.harmedAt
	switch {
	case k.harm > 0:
		if f.State == detect.Resolved {
			k.seconds = 0
			f.State, f.FirstSeen, f.Severity, f.Lasting = detect.Pending, at, detect.Warning, ""
		}
		k.seconds++
		k.harmedAt, f.LastSeen = h.judged, at
		f.Severity = []detect.Severity{detect.Warning, detect.Critical}[k.harm-1]
		if k.seconds >= 3 {
			f.State = detect.Firing
		}
		if k.seconds >= 10 && f.Lasting != detect.Critical {
			f.Lasting = f.Severity
		}
	case quiet > detect.ResolveSeconds:
		f.State = detect.Resolved
	}
}

// found returns what the board finds.
func (h *history) found() []detect.Finding {
	all := h.buffer[:0]
	for _, k := range h.keys {
		if f := k.finding; !f.LastSeen.IsZero() {
			if h.grouped {
				f.BelongTo(casebook.MovingSpot, "")
			}
			all = append(all, f)
		}
	}
	h.buffer = all
	return all
}

// judge compares findings with what is stored, as package verdict does.
func (h *history) judge(found []detect.Finding) {
	members := make([]incident.Member, len(found))
	for n := range found {
		stored := h.findings[found[n].Fingerprint]
		made := found[n].Incident
		found[n] = incident.Continue(&found[n], &stored, began.Add(time.Duration(h.judged)*time.Second).Unix())
		found[n].Incident = made
		members[n] = incident.Member{Finding: &found[n]}
		if !found[n].FirstSeen.After(stored.LastSeen) {
			members[n].Current = stored.Incident
		}
	}
	if len(found) == 0 {
		return
	}
	m := incident.Compare(members, func(id string) *detect.Incident { return h.incidents[id] }, began.Add(time.Duration(h.judged)*time.Second))
	for n, f := range found {
		f.Incident = m.To[n]
		h.findings[f.Fingerprint] = f
	}
	for _, merged := range m.Merged {
		h.take(incident.Merge(*h.incidents[merged.From], merged.Into, h.now()))
	}
	for n := range m.Evidence {
		h.step(h.stored(m.Evidence[n].ID), &m.Evidence[n])
	}
	for id, i := range h.incidents {
		if i.State != detect.Resolved && !h.isEvident(id) {
			h.step(*i, nil)
		}
	}
}

func (h *history) stored(id string) detect.Incident {
	if i := h.incidents[id]; i != nil {
		return *i
	}
	return detect.Incident{}
}

func (h *history) now() time.Time { return began.Add(time.Duration(h.second) * time.Second) }

// isEvident reports whether an incident has an open finding.
func (h *history) isEvident(id string) bool {
	for _, f := range h.findings {
		if f.Incident == id && f.State != detect.Resolved {
			return true
		}
	}
	return false
}

const pageWithin = 2 * time.Minute

func (h *history) step(before detect.Incident, e *incident.Evidence) {
	over := before.LastSeen
	if e != nil && e.LastSeen.After(over) {
		over = e.LastSeen
	}
	h.take(incident.Step(before, incident.Input{
		Evidence: e, OverSince: over, Policy: h.policy, PageWithin: pageWithin, Now: h.now(), Settled: began.Add(time.Duration(h.judged) * time.Second),
		Silenced: func(*detect.Incident) *detect.Silenced {
			if h.second < h.silence {
				return &detect.Silenced{By: "s"}
			}
			return nil
		},
		Receivers: h.receivers,
	}))
}

// receivers returns who gets an incident: one takes all, one critical ones, one is new.
func (h *history) receivers(i *detect.Incident) []string {
	all := []string{"each"}
	if i.Severity == detect.Critical {
		all = append(all, "critical")
	}
	if h.more {
		all = append(all, "more")
	}
	return all
}

// take stores an outcome, and holds each message to the one before it.
func (h *history) take(o incident.Outcome) {
	before := h.stored(o.After.ID)
	h.incidents[o.After.ID] = &o.After
	if before.State != o.After.State {
		h.note("%s: %s %s (%d findings, last seen %d)", o.After.ID[:4], o.After.State, o.After.Severity, len(o.After.Findings), int(o.After.LastSeen.Sub(began).Seconds()))
	}
	if len(o.Tell) > 0 && o.After.Revision <= before.Revision {
		h.fault("a message at revision %d after %d", o.After.Revision, before.Revision)
	}
	for _, to := range o.Tell {
		name := to.Receiver + " " + o.After.ID
		knows := h.known[name] != "" && h.known[name] != string(detect.EventResolved)
		if (to.Event == detect.EventFiring) == knows {
			h.fault("%s is told that %s is %s, and was told %q before", to.Receiver, o.After.ID[:4], to.Event, h.known[name])
		}
		if to.Event != detect.EventResolved && (h.second < h.silence || h.now().Sub(o.After.LastSeen) > pageWithin) {
			h.fault("%s is told what is silenced or too old", to.Receiver)
		}
		h.known[name] = string(to.Event)
		h.note("   %s: %s", to.Receiver, to.Event)
	}
}

// check holds the stored state, after a pass, to the promises.
func (h *history) check() {
	for _, k := range h.keys {
		f := h.findings[k.finding.Fingerprint]
		i := h.stored(f.Incident)
		// 1. A proven load above the limit fires, or is pending for the policy's time.
		if proven := k.harm == 2 && k.seconds >= 15 && h.second-k.harmedAt <= 10 && k.finding.LastSeen.Sub(k.finding.FirstSeen) > h.policy.For+20*time.Second; proven && i.State != detect.Firing {
			h.fault("%s is above the limit for %d seconds, and its incident is %q", f.Key, k.seconds, i.State)
		}
		if open := h.judged-k.harmedAt <= 10; open && f.State == detect.Resolved && k.harm > 0 && k.seconds > 1 {
			h.fault("%s is harmed now, and its finding is resolved", f.Key)
		}
		// 4. No finding is older than its evidence.
		if f.Fingerprint != "" && f.State != detect.Resolved && h.judged-k.harmedAt > 2*detect.ResolveSeconds+10 {
			h.fault("%s is %s %d seconds after its last harm", f.Key, f.State, h.judged-k.harmedAt)
		}
	}
	for id, i := range h.incidents {
		h.checkIncident(id, i)
	}
}

func (h *history) checkIncident(id string, i *detect.Incident) {
	// 2. It ends after its last harmful second, once that is known to be one.
	keep := h.policy.LifecycleOf(i.Severity).KeepFiring
	if age := h.now().Sub(i.LastSeen); i.State != detect.Resolved && age > keep+2*detect.ResolveSeconds*time.Second+30*time.Second {
		h.fault("%s is %s %s after its last harmful second", id[:4], i.State, age)
	}
	// 5. Told is true: nobody knows of one that is over, and all know of one that fires,
	// unless something holds that back.
	held := i.Silenced != nil || h.now().Sub(i.LastSeen) > 5*time.Second
	for _, receiver := range []string{"each", "critical", "more"} {
		knows := h.known[receiver+" "+id] != "" && h.known[receiver+" "+id] != string(detect.EventResolved)
		if knows && i.State != detect.Firing {
			h.fault("%s knows that %s fires, which is %s", receiver, id[:4], i.State)
		}
		if !knows && i.State == detect.Firing && !held && h.isEvident(id) && slices.Contains(h.receivers(i), receiver) {
			h.fault("%s does not know that %s fires", receiver, id[:4])
		}
	}
}
