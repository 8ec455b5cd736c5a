package options_test

import (
	"errors"
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/settings/options"
)

type config struct {
	Name   string
	Pause  time.Duration
	Tables []string
	Limits limits
	hidden int
}

type limits struct{ Keys, Bytes int }

func TestOrDefault(t *testing.T) {
	t.Parallel()
	defaults := config{Name: "d", Pause: time.Second, Tables: []string{"d"}, Limits: limits{1, 2}, hidden: 1}
	got := options.OrDefault(config{Pause: time.Minute, Tables: []string{}, Limits: limits{Keys: 7}, hidden: 3}, defaults)
	if got.Name != "d" || got.Pause != time.Minute {
		t.Errorf("name %q, pause %s: want the default of what is zero alone", got.Name, got.Pause)
	}
	if got.Tables == nil || len(got.Tables) != 0 {
		t.Errorf("tables %q: an empty list is no missing one", got.Tables)
	}
	if got.Limits != (limits{Keys: 7}) {
		t.Errorf("limits %+v: a struct is taken as a whole", got.Limits)
	}
	if got.hidden != 3 {
		t.Errorf("hidden %d: what no caller can set has no default", got.hidden)
	}
	if options.OrDefault(config{}, defaults).Limits != defaults.Limits {
		t.Error("a zero struct has no default")
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	var f options.Faults
	f.Add(nil)
	f.Check(false, "not wrong")
	if err := f.Err(); err != nil {
		t.Fatalf("nothing is wrong: %v", err)
	}
	f.Check(true, "%d tables: give at least 1", 0)
	f.Add(errors.New("no source"))
	const want = "0 tables: give at least 1\nno source"
	if err := f.Err(); err == nil || err.Error() != want {
		t.Errorf("got:\n%v\nwant:\n%s", err, want)
	}
}
