package schedule_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keyheat/keyheat/internal/report"
	"github.com/keyheat/keyheat/internal/report/schedule"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// errKilled is what the store of a killed process returns from then on.
var errKilled = errors.New("killed")

// mortal is a store whose process is killed around one of its calls: before it, or
// after it and before the process hears of it.
type mortal struct {
	*store.Store
	mu     sync.Mutex
	left   int // calls until then; none for never
	before bool
	dead   bool
	kill   context.CancelFunc
}

func (m *mortal) call(f func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dead {
		return errKilled
	}
	m.left--
	if m.left != 0 {
		return f()
	}
	m.dead = true
	m.kill()
	if !m.before {
		_ = f()
	}
	return errKilled
}

func (m *mortal) AcquireLease(ctx context.Context, name, holder string, ttl time.Duration) (l store.Lease, ok bool, err error) {
	err = m.call(func() error {
		l, ok, err = m.Store.AcquireLease(context.WithoutCancel(ctx), name, holder, ttl)
		return err
	})
	return l, ok, err
}

func (m *mortal) SeeSchedule(ctx context.Context, name, spec string) (s store.ReportSchedule, err error) {
	err = m.call(func() error { s, err = m.Store.SeeSchedule(context.WithoutCancel(ctx), name, spec); return err })
	return s, err
}

func (m *mortal) PutReport(ctx context.Context, r store.Report, n []store.Notification) (ok bool, err error) {
	err = m.call(func() error { ok, err = m.Store.PutReport(context.WithoutCancel(ctx), r, n); return err })
	return ok, err
}

func (m *mortal) MarkFiled(ctx context.Context, id string) error {
	return m.call(func() error { return m.Store.MarkFiled(context.WithoutCancel(ctx), id) })
}

func (m *mortal) Report(ctx context.Context, id string) (r store.Report, err error) {
	err = m.call(func() error { r, err = m.Store.Report(context.WithoutCancel(ctx), id); return err })
	return r, err
}

func memory(t *testing.T) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), "sqlite::memory:", store.Options{})
	must(t, err)
	return s
}

// bubble runs f in virtual time, with a store that lives in it.
func bubble(t *testing.T, f func(t *testing.T, s *store.Store)) {
	synctest.Test(t, func(t *testing.T) {
		s := memory(t)
		defer func() { _ = s.Close() }()
		f(t, s)
	})
}

func sleepUntil(t *testing.T, text string) {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	must(t, err)
	time.Sleep(time.Until(at))
}

// live runs a reporter for a time, or until it is killed around a call.
func live(t *testing.T, s *store.Store, name string, all []schedule.Schedule, calls int, before bool, d time.Duration) {
	t.Helper()
	ctx, kill := context.WithTimeout(t.Context(), d)
	defer kill()
	m, err := schedule.New(schedule.Options{Schedules: all, Poll: 7 * time.Minute, Holder: name}, &mortal{Store: s, left: calls, before: before, kill: kill}, quiet)
	must(t, err)
	must(t, m.Run(ctx))
}

func dues(t *testing.T, s *store.Store, name string) (all []string) {
	t.Helper()
	rows, err := s.Reports(t.Context(), store.ReportQuery{Schedule: name})
	must(t, err)
	for _, r := range rows {
		all = append(all, r.Due.UTC().Format(time.RFC3339))
	}
	slices.Reverse(all)
	return all
}

// Two reporters, each killed around one call after the other and away for up to two
// hours, make each report once over both changes of the clock, and one file of each.
func TestEachOnceOverDaylightSavingWithKills(t *testing.T) {
	t.Parallel()
	for _, change := range []struct {
		name, from, to string
		want           map[string][]string
	}{
		{"spring", "2026-03-27T12:00:00Z", "2026-03-31T12:00:00Z", map[string][]string{
			"night": {"2026-03-28T01:30:00Z", "2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z", "2026-03-31T00:30:00Z"},
			"day":   {"2026-03-28T07:00:00Z", "2026-03-29T06:00:00Z", "2026-03-30T06:00:00Z", "2026-03-31T06:00:00Z"},
			"week":  {"2026-03-28T23:00:00Z"},
		}},
		{"autumn", "2026-10-23T12:00:00Z", "2026-10-27T12:00:00Z", map[string][]string{
			"night": {"2026-10-24T00:30:00Z", "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z", "2026-10-27T01:30:00Z"},
			"day":   {"2026-10-24T06:00:00Z", "2026-10-25T07:00:00Z", "2026-10-26T07:00:00Z", "2026-10-27T07:00:00Z"},
			"week":  {"2026-10-24T22:00:00Z"},
		}},
	} {
		t.Run(change.name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			all := []schedule.Schedule{
				{Name: "night", Cron: "30 2 * * *", Zone: "Europe/Berlin", Folder: folder, Routes: []string{"r"}},
				{Name: "day", Cron: "0 8 * * *", Zone: "Europe/Berlin"},
				{Name: "week", Cron: "0 0 * * SUN", Zone: "Europe/Berlin", Folder: folder, Formats: []report.Format{report.Markdown, report.JSON}},
			}
			bubble(t, func(t *testing.T, s *store.Store) {
				sleepUntil(t, change.from)
				for _, sch := range all { // as it would be had the schedules been there for long
					_, err := s.SeeSchedule(t.Context(), sch.Name, sch.Cron+" "+sch.Zone)
					must(t, err)
				}
				end, err := time.Parse(time.RFC3339, change.to)
				must(t, err)
				var g sync.WaitGroup
				for n := range 2 {
					random := rand.New(rand.NewPCG(26, uint64(n)))
					g.Go(func() {
						for life := 0; time.Now().Before(end); life++ {
							live(t, s, fmt.Sprintf("%d-%d", n, life), all, 1+random.IntN(40), random.IntN(2) == 0, min(time.Until(end), 12*time.Hour))
							time.Sleep(time.Duration(random.Int64N(int64(2 * time.Hour))))
						}
					})
				}
				g.Wait()
				live(t, s, "at last", all, 0, false, 30*time.Minute)
				files := make(map[string]bool)
				for _, sch := range all {
					if got := dues(t, s, sch.Name); !slices.Equal(got, change.want[sch.Name]) {
						t.Errorf("%s was made %v, want %v", sch.Name, got, change.want[sch.Name])
					}
					for _, due := range change.want[sch.Name] {
						at, _ := time.Parse(time.RFC3339, due)
						for _, ending := range map[string][]string{"night": {".html"}, "week": {".md", ".json"}}[sch.Name] {
							files[sch.Name+at.Format("-20060102T1504Z")+ending] = true
						}
					}
				}
				entries, err := os.ReadDir(folder)
				must(t, err)
				for _, e := range entries {
					if !files[e.Name()] {
						t.Errorf("there is a file %s", e.Name())
					}
					delete(files, e.Name())
				}
				if len(files) > 0 {
					t.Errorf("missing are %v", files)
				}
				told, err := s.DueNotifications(t.Context(), "r", 0)
				must(t, err)
				if len(told) != len(change.want["night"]) {
					t.Errorf("%d were told, want %d", len(told), len(change.want["night"]))
				}
			})
		})
	}
}

// The last of several missed runs is made up, for all of the time; nothing of before
// the schedule was there.
func TestMissedRunsAreMadeUpOnce(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, s *store.Store) {
		daily := []schedule.Schedule{{Name: "daily", Cron: "0 8 * * *"}}
		sleepUntil(t, "2026-11-10T12:00:00Z")
		live(t, s, "a", daily, 0, false, time.Hour)
		if got := dues(t, s, "daily"); got != nil {
			t.Fatalf("before the first due time there is %v", got)
		}
		sleepUntil(t, "2026-11-11T07:00:00Z")
		live(t, s, "b", daily, 0, false, 2*time.Hour)
		sleepUntil(t, "2026-11-14T20:00:00Z")
		live(t, s, "c", daily, 0, false, 30*time.Hour)
		want := []string{"2026-11-11T08:00:00Z", "2026-11-14T08:00:00Z", "2026-11-15T08:00:00Z"}
		if got := dues(t, s, "daily"); !slices.Equal(got, want) {
			t.Fatalf("made are %v, want %v", got, want)
		}
		rows, err := s.Reports(t.Context(), store.ReportQuery{})
		must(t, err)
		var periods []string
		for _, r := range rows {
			periods = append(periods, r.From.Format("02")+" to "+r.To.Format("02"))
		}
		if want := []string{"14 to 15", "11 to 14", "10 to 11"}; !slices.Equal(periods, want) {
			t.Errorf("periods are %v, want %v", periods, want)
		}

		// Written otherwise, it is due from now on.
		live(t, s, "d", []schedule.Schedule{{Name: "daily", Cron: "0 1 * * *"}}, 0, false, time.Hour)
		if got := dues(t, s, "daily"); len(got) != 3 {
			t.Errorf("a changed schedule was made up: %v", got)
		}
	})
}

// A folder that cannot be written holds nothing up, and has all reports in the end.
func TestFolderThatIsAway(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "later")
	all := []schedule.Schedule{
		{Name: "filed", Cron: "0 8 * * *", Folder: folder, Period: 48 * time.Hour, Tables: []string{"orders"}},
		{Name: "other", Cron: "0 8 * * *"},
	}
	bubble(t, func(t *testing.T, s *store.Store) {
		sleepUntil(t, "2026-11-10T12:00:00Z")
		live(t, s, "a", all, 0, false, 46*time.Hour)
		if got := dues(t, s, "other"); len(got) != 2 {
			t.Errorf("the other one was made %v", got)
		}
		must(t, os.Mkdir(folder, 0o700))
		live(t, s, "b", all, 0, false, time.Hour)
	})
	files, err := filepath.Glob(folder + "/*")
	must(t, err)
	if len(files) != 2 || filepath.Base(files[1]) != "filed-20261112T0800Z.html" {
		t.Fatalf("files are %v", files)
	}
	text, err := os.ReadFile(files[1])
	must(t, err)
	if !strings.Contains(string(text), "2026-11-10 08:00 UTC to 2026-11-12 08:00 UTC") || !strings.Contains(string(text), "orders") {
		t.Error("the file is not of two days of orders")
	}
}

// What the store holds is in the report, with what is not known.
func TestReportIsOfTheStore(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, s *store.Store) {
		sleepUntil(t, "2026-11-10T07:00:00Z")
		target := sample.Target{Region: "eu-west-1", Table: "orders"}
		l, _, err := s.AcquireLease(t.Context(), "judge", "j", time.Hour)
		must(t, err)
		must(t, s.Judge(t.Context(), l, store.Judgement{
			Incidents: []store.Incident{{ID: "i", Case: "hot_key", Subject: "key_writes", Target: target, Severity: "critical", State: "firing",
				OpenedAt: time.Now(), FiredAt: time.Now(), LastSeen: time.Now(), Root: "pruned", Document: []byte(`{"owner":"ada"}`)}},
			IncidentTransitions: []store.Transition{{Of: "i", At: time.Now(), From: "pending", To: "firing", Severity: "critical"}},
			Views:               []store.TargetDocument{{Target: target, Document: []byte(`{}`)}},
		}))
		live(t, s, "a", []schedule.Schedule{{Name: "daily", Cron: "0 8 * * *"}}, 0, false, 2*time.Hour)
		rows, err := s.Reports(t.Context(), store.ReportQuery{})
		must(t, err)
		if len(rows) != 1 {
			t.Fatalf("there are %d reports", len(rows))
		}
		row, err := s.Report(t.Context(), rows[0].ID)
		must(t, err)
		p, err := report.Read(row.Document)
		must(t, err)
		if len(p.Hot) != 1 || p.Hot[0].Owner != "ada" || p.Hot[0].Utilization != nil || *p.Hot[0].Times != 1 {
			t.Errorf("hot is %+v", p.Hot)
		}
		if len(p.NotSeen.Coverage) != 1 || p.NotSeen.Coverage[0].Write != nil {
			t.Errorf("coverage is %+v", p.NotSeen.Coverage)
		}
	})
}

func TestSchedulesThatAreWrong(t *testing.T) {
	t.Parallel()
	right := schedule.Schedule{Name: "weekly", Cron: "0 8 * * MON"}
	if all := right.Faults(); len(all) > 0 {
		t.Errorf("%v", all)
	}
	for says, change := range map[string]func(*schedule.Schedule){
		"the name":           func(s *schedule.Schedule) { s.Name = "../weekly" },
		"no cron expression": func(s *schedule.Schedule) { s.Cron = "weekly" },
		"time zone":          func(s *schedule.Schedule) { s.Zone = "Berlin" },
		"an hour or more":    func(s *schedule.Schedule) { s.Period = time.Minute },
		"markdown":           func(s *schedule.Schedule) { s.Formats = []report.Format{"pdf"} },
	} {
		wrong := right
		change(&wrong)
		if all := wrong.Faults(); len(all) != 1 || !strings.Contains(all[0].Error(), says) {
			t.Errorf("%+v: %v", wrong, all)
		}
		if _, err := schedule.New(schedule.Options{Schedules: []schedule.Schedule{wrong}}, nil, quiet); err == nil {
			t.Errorf("%+v was taken", wrong)
		}
	}
}
