package incident_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/internal/incident"
	"github.com/keyheat/keyheat/sample"
)

// look is one look at an incident.
type look struct {
	at int // seconds after the beginning
	// seen is how many seconds before that the newest harmful one is.
	seen     int
	severity detect.Severity
	state    detect.State
	lasting  detect.Severity
	cause    detect.Case
	harmless bool // only a design is left of it

	silenced, undecided bool
	more                bool // a second receiver is in the settings
	full                bool // other incidents have used up the messages of this moment
}

func (l look) evidence() *incident.Evidence {
	if l.state == "" {
		return nil
	}
	f := detect.NewFinding(detect.KeyWrites, detect.Target{Table: "orders"}, sample.KeyString("a"))
	f.Severity, f.State, f.FirstSeen, f.LastSeen = l.severity, l.state, began, began.Add(time.Duration(l.at-l.seen)*time.Second)
	if l.cause != "" {
		f.Case, f.Subject = l.cause, casebook.SubjectOf(l.cause)
	}
	return &incident.Evidence{
		Incident: casebook.NewIncident("i", &f, []*detect.Finding{&f}), Lasting: l.lasting, OfKeys: l.state != detect.Pending, Harm: !l.harmless && l.state != detect.Resolved,
	}
}

// hot returns looks every ten seconds at a load that goes on, from one second to another.
func hot(from, to int, as look) (all []look) {
	for at := from; at < to; at += 10 {
		as.at = at
		all = append(all, as)
	}
	return all
}

func TestSteps(t *testing.T) {
	t.Parallel()
	const critical, warning = detect.Critical, detect.Warning
	fires, milder := look{severity: critical, state: detect.Firing, lasting: critical}, look{severity: warning, state: detect.Firing, lasting: warning}
	pending, over := look{severity: critical, state: detect.Pending}, look{severity: critical, state: detect.Resolved, seen: 70}
	with := func(l look, change func(*look)) look { change(&l); return l }
	join := func(parts ...[]look) []look { return slices.Concat(parts...) }
	keep := func(p *detect.Policy) { p.KeepFiring = time.Minute }
	for sentence, c := range map[string]struct {
		policy func(*detect.Policy)
		looks  []look
		want   string // "second receiver event" each, then the state
	}{
		"a load that lasts is told once, and its end once": {nil, join(hot(0, 60, fires), []look{with(over, func(l *look) { l.at = 130 })}), "0 a firing, 130 a resolved: resolved"},
		"a short one ends before it fires":                 {nil, []look{pending, with(over, func(l *look) { l.at = 70 })}, ": resolved"},
		"its severity falls, and it is observed on":        {nil, join(hot(0, 30, fires), hot(30, 90, milder), []look{with(over, func(l *look) { l.at = 160 })}), "0 a firing, 160 a resolved: resolved"},
		"its severity rises":                               {nil, join(hot(0, 30, milder), hot(30, 60, fires)), "0 a firing, 30 a updated: firing"},
		"it can fire again at once":                        {nil, join(hot(0, 30, fires), []look{with(over, func(l *look) { l.at = 100 })}, hot(110, 130, fires)), "0 a firing, 100 a resolved, 110 a firing: firing"},
		"it waits for the policy's time":                   {func(p *detect.Policy) { p.For = 30 * time.Second }, hot(0, 60, fires), "30 a firing: firing"},
		"it waits for lasting harm":                        {func(p *detect.Policy) { p.OnHarm = true }, join(hot(0, 20, with(fires, func(l *look) { l.lasting = "" })), hot(20, 40, fires)), "20 a firing: firing"},
		"it fires on for a while, and is hot again":        {keep, join(hot(0, 30, fires), []look{with(over, func(l *look) { l.at, l.seen = 79, 59 })}, hot(90, 110, fires)), "0 a firing: firing"},
		"it fires on for a while, and ends":                {keep, join(hot(0, 30, fires), []look{with(over, func(l *look) { l.at, l.seen = 79, 59 }), {at: 81}}), "0 a firing, 81 a resolved: resolved"},
		"its evidence is lost":                             {nil, join(hot(0, 30, fires), []look{{at: 40}}), "0 a firing, 40 a resolved: resolved"},
		"only a design is left of it":                      {nil, join(hot(0, 30, fires), []look{with(pending, func(l *look) { l.at, l.seen, l.harmless = 100, 70, true })}), "0 a firing, 100 a resolved: resolved"},
		"a silence holds the beginning back":               {nil, join(hot(0, 30, with(fires, func(l *look) { l.silenced = true })), hot(30, 50, fires)), "30 a firing: firing"},
		"a silence ends after the load has":                {nil, join(hot(0, 30, with(fires, func(l *look) { l.silenced = true })), []look{with(fires, func(l *look) { l.at, l.seen = 40, 20 }), with(fires, func(l *look) { l.at, l.seen = 50, 30 }), with(over, func(l *look) { l.at = 100 })}), ": resolved"},
		"a silence holds no end back":                      {nil, join(hot(0, 30, fires), []look{with(over, func(l *look) { l.at, l.silenced = 100, true })}), "0 a firing, 100 a resolved: resolved"},
		"it gets worse under a silence":                    {nil, join(hot(0, 10, milder), hot(10, 30, with(fires, func(l *look) { l.silenced = true })), hot(30, 50, fires)), "0 a firing, 30 a updated: firing"},
		"what is over is not told late":                    {nil, []look{with(fires, func(l *look) { l.at, l.seen = 900, 890 }), {at: 910}}, ": resolved"},
		"what goes on is told once the judge has caught up": {
			nil, []look{with(fires, func(l *look) { l.at, l.seen = 900, 890 }), with(fires, func(l *look) { l.at, l.seen = 901, 300 }), with(fires, func(l *look) { l.at, l.seen = 902, 2 })}, "902 a firing: firing",
		},
		"a flood holds the beginning back":     {nil, join(hot(0, 30, with(fires, func(l *look) { l.full = true })), hot(30, 50, fires)), "30 a firing: firing"},
		"a flood holds an update back":         {nil, join(hot(0, 10, milder), hot(10, 30, with(fires, func(l *look) { l.full = true })), hot(30, 50, fires)), "0 a firing, 30 a updated: firing"},
		"a flood holds the end back":           {nil, join(hot(0, 30, fires), []look{with(over, func(l *look) { l.at, l.full = 100, true }), {at: 110, full: true}, {at: 120}}), "0 a firing, 120 a resolved: resolved"},
		"what nobody knows of ends in a flood": {nil, []look{with(fires, func(l *look) { l.full = true }), {at: 100, full: true}}, ": resolved"},
		"a new receiver is told alone":         {nil, join(hot(0, 20, fires), hot(20, 40, with(fires, func(l *look) { l.more = true }))), "0 a firing, 20 b firing: firing"},
		"another cause is told":                {nil, join(hot(0, 20, fires), hot(20, 40, with(fires, func(l *look) { l.cause = casebook.MovingSpot }))), "0 a firing, 20 a updated: firing"},
		"that it heals is told":                {nil, join(hot(0, 40, with(fires, func(l *look) { l.undecided = true })), hot(40, 60, fires)), "0 a firing, 40 a updated: firing"},
		"it is repeated":                       {func(p *detect.Policy) { p.Repeat = time.Minute }, hot(0, 130, fires), "0 a firing, 60 a updated, 120 a updated: firing"},
	} {
		policy := detect.DefaultPolicy()
		if c.policy != nil {
			c.policy(&policy)
		}
		var i detect.Incident
		var told []string
		for _, l := range c.looks {
			out := incident.Step(i, l.input(policy, &i))
			for _, to := range out.Tell {
				told = append(told, fmt.Sprintf("%d %s %s", l.at, to.Receiver, to.Event))
			}
			i = out.After
		}
		if got := strings.Join(told, ", ") + ": " + string(i.State); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", sentence, got, c.want)
		}
	}
}

func (l look) input(policy detect.Policy, before *detect.Incident) incident.Input {
	e := l.evidence()
	over := before.LastSeen
	if e != nil && e.LastSeen.After(over) {
		over = e.LastSeen
	}
	return incident.Input{
		Evidence: e, OverSince: over, Undecided: l.undecided, Policy: policy, PageWithin: 2 * time.Minute, Full: l.full, Now: began.Add(time.Duration(l.at) * time.Second), Settled: began.Add(time.Duration(l.at) * time.Second),
		Silenced: func(*detect.Incident) *detect.Silenced {
			if l.silenced {
				return &detect.Silenced{By: "s"}
			}
			return nil
		},
		Receivers: func(*detect.Incident) []string {
			if l.more {
				return []string{"a", "b"}
			}
			return []string{"a"}
		},
	}
}

// TestContinue: which finding holds after a restart, and after a severity has fallen.
func TestContinue(t *testing.T) {
	t.Parallel()
	finding := func(state detect.State, severity detect.Severity, from, to int) *detect.Finding {
		f := detect.NewFinding(detect.KeyWrites, detect.Target{Table: "orders"}, sample.KeyString("a"))
		f.State, f.Severity = state, severity
		f.FirstSeen, f.LastSeen = began.Add(time.Duration(from)*time.Second), began.Add(time.Duration(to)*time.Second)
		return &f
	}
	const pending, firing, resolved = detect.Pending, detect.Firing, detect.Resolved
	const critical, warning = detect.Critical, detect.Warning
	for sentence, c := range map[string]struct {
		found, stored *detect.Finding
		settled       int
		want          string
	}{
		"a finding begins":                             {finding(pending, warning, 0, 1), &detect.Finding{}, 0, "pending warning 1"},
		"it goes on":                                   {finding(firing, critical, 0, 9), finding(pending, warning, 0, 3), 9, "firing critical 9"},
		"it goes on, and is milder":                    {finding(firing, warning, 0, 9), finding(firing, critical, 0, 3), 9, "firing warning 9"},
		"it is milder, and over":                       {finding(resolved, warning, 0, 9), finding(firing, critical, 0, 9), 70, "resolved warning 9"},
		"the board is not as far yet":                  {finding(firing, critical, 0, 3), finding(firing, critical, 0, 9), 3, "firing critical 9"},
		"it is as far, and has not seen the worst yet": {finding(pending, warning, 5, 9), finding(firing, critical, 0, 9), 9, "firing critical 9"},
		"the board has forgotten its last seconds":     {finding(resolved, critical, 0, 3), finding(firing, critical, 0, 9), 100, "resolved critical 9"},
		"it begins anew":                               {finding(pending, warning, 80, 81), finding(resolved, critical, 0, 9), 81, "pending warning 81"},
	} {
		got := incident.Continue(c.found, c.stored, began.Add(time.Duration(c.settled)*time.Second).Unix())
		if text := fmt.Sprintf("%s %s %.0f", got.State, got.Severity, got.LastSeen.Sub(began).Seconds()); text != c.want {
			t.Errorf("%s: got %s, want %s", sentence, text, c.want)
		}
	}
}

// TestFilters: which incidents a receiver gets.
func TestFilters(t *testing.T) {
	t.Parallel()
	orders := detect.Incident{Target: detect.Target{Account: "111122223333", Table: "orders-eu"}, Severity: detect.Critical}
	mild, own, info := orders, detect.Incident{Severity: detect.Critical}, orders
	mild.Severity, info.Severity = detect.Warning, detect.Info
	for sentence, c := range map[string]struct {
		filter incident.Filter
		i      detect.Incident
		want   bool
	}{
		"no filter takes all":                    {incident.Filter{}, orders, true},
		"a pattern of the table":                 {incident.Filter{Tables: []string{"carts", "orders-*"}}, orders, true},
		"another table":                          {incident.Filter{Tables: []string{"carts"}}, orders, false},
		"another account":                        {incident.Filter{Tables: []string{"orders-*"}, Accounts: []string{"999988887777"}}, orders, false},
		"a milder severity":                      {incident.Filter{Severities: []string{"critical"}}, mild, false},
		"Keyheat itself is of every table":       {incident.Filter{Tables: []string{"carts"}, Accounts: []string{"1"}}, own, true},
		"nobody gets what is only worth knowing": {incident.Filter{}, info, false},
	} {
		if got := c.filter.Takes(&c.i); got != c.want {
			t.Errorf("%s: takes it: %t", sentence, got)
		}
	}
	wrong := incident.Filter{Tables: []string{"[", ""}, Severities: []string{"info"}}
	if faults := wrong.Faults(); len(faults) != 3 {
		t.Errorf("the faults are %v", faults)
	}
}

// TestAnEndedFindingMakesANewLifeNoWorse: the board reports the ends of findings for a while.
func TestAnEndedFindingMakesANewLifeNoWorse(t *testing.T) {
	t.Parallel()
	finding := func(key string, state detect.State, severity detect.Severity, from, to int) *detect.Finding {
		f := detect.NewFinding(detect.KeyWrites, detect.Target{Table: "orders"}, sample.KeyString(key))
		f.State, f.Severity, f.Incident = state, severity, "i"
		f.FirstSeen, f.LastSeen = began.Add(time.Duration(from)*time.Second), began.Add(time.Duration(to)*time.Second)
		return &f
	}
	over := detect.Incident{ID: "i", State: detect.Resolved, Severity: detect.Critical}
	ended, begun := finding("a", detect.Resolved, detect.Critical, 0, 9), finding("b", detect.Firing, detect.Warning, 90, 99)
	m := incident.Compare([]incident.Member{{Finding: ended, Current: "i"}, {Finding: begun}}, func(string) *detect.Incident { return &over }, began.Add(100*time.Second))
	if e := m.Evidence; len(e) != 1 || e[0].Severity != detect.Warning || !e[0].OpenedAt.Equal(begun.FirstSeen) || !slices.Equal(e[0].Findings, []string{begun.Fingerprint}) {
		t.Errorf("the evidence is %+v", e)
	}
}
