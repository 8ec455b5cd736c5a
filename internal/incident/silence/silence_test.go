package silence_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/incident/silence"
	"github.com/keyheat/keyheat/store"
)

var now = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// good is a request of which nothing is wrong.
func good() silence.Request {
	return silence.Request{Matchers: []string{" table = orders", `severity=~"warning|critical"`}, For: "2h", Reason: " load test "}
}

func TestRequests(t *testing.T) {
	t.Parallel()
	s, err := good().Silence("ada", now)
	if err != nil || !slices.Equal(s.Matchers, []string{`table="orders"`, `severity=~"warning|critical"`}) ||
		!s.StartsAt.Equal(now) || !s.EndsAt.Equal(now.Add(2*time.Hour)) || s.Author != "ada" || s.Reason != "load test" {
		t.Errorf("got %+v, %v", s, err)
	}
	for name, c := range map[string]struct {
		change     func(*silence.Request)
		start, end time.Time
	}{
		"later":         {func(r *silence.Request) { r.StartsAt = "30m" }, now.Add(30 * time.Minute), now.Add(150 * time.Minute)},
		"at a time":     {func(r *silence.Request) { r.StartsAt = "2026-11-22T14:00:00+01:00" }, now.Add(time.Hour), now.Add(3 * time.Hour)},
		"until a time":  {func(r *silence.Request) { r.For, r.EndsAt = "", "2026-11-22T12:00:01Z" }, now, now.Add(time.Second)},
		"since earlier": {func(r *silence.Request) { r.StartsAt = "2026-11-22T11:00:00Z" }, now.Add(-time.Hour), now.Add(time.Hour)},
	} {
		r := good()
		c.change(&r)
		if s, err := r.Silence("ada", now); err != nil || !s.StartsAt.Equal(c.start) || !s.EndsAt.Equal(c.end) {
			t.Errorf("%s: %s to %s, %v", name, s.StartsAt, s.EndsAt, err)
		}
	}
}

func TestAttacksOnRequests(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*silence.Request){
		"no reason":                   func(r *silence.Request) { r.Reason = " \t" },
		"1001 bytes is too long":      func(r *silence.Request) { r.Reason = strings.Repeat("x", 1001) },
		"not one line":                func(r *silence.Request) { r.Reason = "a\x1b[2Jb" },
		"no matchers":                 func(r *silence.Request) { r.Matchers = nil },
		"there is no \"tabel\"":       func(r *silence.Request) { r.Matchers[0] = "tabel=orders" },
		"17 matchers are too many":    func(r *silence.Request) { r.Matchers = slices.Repeat([]string{"table=orders"}, 17) },
		"whatever has none of it":     func(r *silence.Request) { r.Matchers = []string{"table=~.*"} },
		"empty text does not match":   func(r *silence.Request) { r.Matchers = []string{"owner=", "table!=orders", `labels.x!~"y"`} },
		"one of the two":              func(r *silence.Request) { r.For = "" },
		"when it ends: one of":        func(r *silence.Request) { r.EndsAt = "2026-11-23T12:00:00Z" },
		`"2" is no length of time`:    func(r *silence.Request) { r.For = "2" },
		`"-2h" is no length of time`:  func(r *silence.Request) { r.For = "-2h" },
		`start: "-1h" is no time`:     func(r *silence.Request) { r.StartsAt = "-1h" },
		`end: "tomorrow" is no time`:  func(r *silence.Request) { r.For, r.EndsAt = "", "tomorrow" },
		"which is over":               func(r *silence.Request) { r.For, r.EndsAt = "", "2026-11-22T12:00:00Z" },
		"ends before it starts":       func(r *silence.Request) { r.StartsAt, r.For, r.EndsAt = "2h", "", "2026-11-22T13:00:00Z" },
		"beyond a year":               func(r *silence.Request) { r.For = "9000h" },
		"lasts beyond a year from no": func(r *silence.Request) { r.StartsAt = "9000h" },
	} {
		r := good()
		change(&r)
		if s, err := r.Silence("ada", now); err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 500 {
			t.Errorf("want %q, got %+v, %v", want, s, err)
		}
	}
}

func TestSet(t *testing.T) {
	t.Parallel()
	made := func(id string, length time.Duration, matchers ...string) store.Silence {
		return store.Silence{ID: id, Matchers: matchers, EndsAt: now.Add(length), Author: "ada", Reason: "why"}
	}
	set, err := silence.NewSet([]store.Silence{
		made("short", time.Hour, "table=orders", "severity=warning"), made("long", 2*time.Hour, "table=orders"), made("other", 3*time.Hour, "table=orders", "subject=partition"),
		made("unreadable", time.Hour, "tabel=orders"), made("of everything", time.Hour),
	})
	if len(set) != 3 || err == nil || !strings.Contains(err.Error(), "silence unreadable: ") || !strings.Contains(err.Error(), "silence of everything: no matchers") {
		t.Errorf("a set of %d, %v", len(set), err)
	}
	i := detect.Incident{Target: detect.Target{Table: "orders"}, Severity: detect.Warning}
	root := detect.Finding{Subject: detect.KeyWrites}
	want := detect.Silenced{By: "long", Author: "ada", Reason: "why", Until: now.Add(2 * time.Hour)}
	if got := set.Match(&i, &root); got == nil || *got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	i.Table = "carts"
	if got := set.Match(&i, &root); got != nil {
		t.Errorf("a silence of another table silences it: %+v", got)
	}
	if !set.Has("short") || set.Has("unreadable") {
		t.Error("the set does not know what it has")
	}
}

// TestExpressionsAreCompiledOncePerChange: the same silences are the same set, and a
// silence that is added, changed or gone makes another one.
func TestExpressionsAreCompiledOncePerChange(t *testing.T) {
	t.Parallel()
	made := func(id, table string, length time.Duration) store.Silence {
		return store.Silence{ID: id, Matchers: []string{`table=~"` + table + `.*"`}, EndsAt: now.Add(length)}
	}
	var c silence.Cache
	i, root := detect.Incident{Target: detect.Target{Table: "orders"}}, detect.Finding{}
	read := func(want string, all ...store.Silence) silence.Set {
		t.Helper()
		set, err := c.Set(all)
		by := set.Match(&i, &root)
		if err != nil || (by != nil) != (want != "") || by != nil && by.By+" "+by.Until.Sub(now).String() != want {
			t.Errorf("got %+v, %v; want %q", by, err, want)
		}
		return set
	}
	read("")
	first := read("a 1h0m0s", made("a", "ord", time.Hour))
	if again := read("a 1h0m0s", made("a", "ord", time.Hour)); &again[0] != &first[0] {
		t.Error("the same silences are compiled again")
	}
	read("a 2h0m0s", made("a", "ord", 2*time.Hour))
	read("b 3h0m0s", made("b", "ord", 3*time.Hour), made("a", "ord", 2*time.Hour))
	read("", made("a", "carts", 2*time.Hour))
	read("")
	bad := store.Silence{ID: "bad", Matchers: []string{"nothing"}}
	for range 2 {
		if _, err := c.Set([]store.Silence{bad}); err == nil {
			t.Error("what is wrong is told only once")
		}
	}
}
