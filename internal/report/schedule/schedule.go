// Package schedule makes each report once when it is due, however many reporters share a
// store and however often they are killed.
//
// # When
//
// A schedule is a cron expression in a time zone. Its times follow a clock on a wall
// there, and each is due once: a time that the clock skips when daylight saving begins is
// due when the clock has skipped it, and a time that the clock shows twice is due the
// first time.
//
// # Once
//
// One reporter at a time makes reports: it holds a lease. If two do, the store accepts a
// schedule's report of a due time from one of them. Of several missed due times the last
// is made up, for the time since the report before it, so that the reports cover all
// time.
//
// A report is stored first, and then written to its schedule's folder; a folder that
// cannot be written is tried again until it can.
package schedule

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/keyheat/keyheat/internal/daemon"
	"github.com/keyheat/keyheat/internal/report"
	"github.com/keyheat/keyheat/store"
)

// Store is where reports are made from and kept; *store.Store is one.
type Store interface {
	report.Store
	AcquireLease(ctx context.Context, name, holder string, ttl time.Duration) (store.Lease, bool, error)
	SeeSchedule(ctx context.Context, name, spec string) (store.ReportSchedule, error)
	PutReport(ctx context.Context, r store.Report, notify []store.Notification) (bool, error)
	Reports(ctx context.Context, q store.ReportQuery) ([]store.Report, error)
	Report(ctx context.Context, id string) (store.Report, error)
	MarkFiled(ctx context.Context, id string) error
}

// Options configure a [Maker]. The zero value makes nothing.
type Options struct {
	Schedules []Schedule
	// Poll is defaultPoll when 0.
	Poll time.Duration
	// Holder names this process among the processes that share the store.
	Holder string
}

// Maker makes reports when they are due.
type Maker struct {
	measures
	options Options
	times   []Times
	store   Store
	log     *slog.Logger
	health  daemon.Health
}

// New returns a maker that is ready to Run.
func New(o Options, st Store, log *slog.Logger) (*Maker, error) {
	o.Poll = cmp.Or(o.Poll, defaultPoll)
	m := &Maker{options: o, store: st, log: log, measures: newMeasures(o.Schedules)}
	for _, s := range o.Schedules {
		if all := s.Faults(); len(all) > 0 {
			return nil, fmt.Errorf("report %s: %w", s.Name, all[0])
		}
		times, err := ParseTimes(s.Cron, s.Zone)
		if err != nil {
			return nil, err
		}
		m.times = append(m.times, times)
	}
	return m, nil
}

// Run makes reports until ctx ends. One that cannot be made is tried again, and is no
// reason for the reporter not to be ready.
func (m *Maker) Run(ctx context.Context) error {
	daemon.Every(ctx, m.options.Poll, m.pass)
	return nil
}

// pass makes due reports, if it is this process's turn.
func (m *Maker) pass(ctx context.Context) {
	_, mine, err := m.store.AcquireLease(ctx, "reports", m.options.Holder, lease)
	m.tell(ctx, daemon.Whole, err)
	if err != nil || !mine {
		return
	}
	for i, s := range m.options.Schedules {
		err := m.make(ctx, s, m.times[i])
		if err == nil {
			err = m.file(ctx, s)
		}
		m.tell(ctx, s.Name, err)
	}
}

// tell logs and counts an error of a schedule once, until it is over.
func (m *Maker) tell(ctx context.Context, name string, err error) {
	switch {
	case err == nil:
		m.health.Heal(name)
	case ctx.Err() == nil:
		m.measures.failed.Inc()
		if m.health.Fail(name, err.Error()) {
			m.log.Error("a report could not be made; trying again", "report", name, "error", err)
		}
	}
}

// make makes the report of the last due time, unless it is made.
func (m *Maker) make(ctx context.Context, s Schedule, times Times) error {
	known, err := m.store.SeeSchedule(ctx, s.Name, s.spec())
	if err != nil {
		return err
	}
	due := times.LastDue(known.Now.Add(-settleTime))
	if !due.After(known.Since) || !due.After(known.LastDue) {
		return nil
	}
	q := report.Request{Name: s.Name, From: begin(s, times, due, known.LastDue), To: due, Zone: s.Zone, Tables: s.Tables}
	rows, err := report.Load(ctx, m.store, q)
	if err != nil {
		return fmt.Errorf("make the report: %w", err)
	}
	report, err := report.New(rows)
	if err != nil {
		return fmt.Errorf("make the report: %w", err)
	}
	return m.put(ctx, s, report)
}

// begin returns when the period of a report begins; last is the due time of the one before,
// zero for none.
func begin(s Schedule, times Times, due, last time.Time) time.Time {
	if s.Period > 0 {
		return due.Add(-s.Period)
	}
	if !last.IsZero() {
		return last
	}
	if before := times.LastDue(due.Add(-time.Nanosecond)); !before.IsZero() {
		return before
	}
	return due.Add(-24 * time.Hour)
}

func (m *Maker) put(ctx context.Context, s Schedule, report *report.Report) error {
	document, err := json.Marshal(report)
	if err != nil {
		return err
	}
	outline, err := json.Marshal(report.Outline())
	if err != nil {
		return err
	}
	row := store.Report{
		ID: id(s.Name, report.To), Schedule: s.Name, Due: report.To, From: report.From, To: report.To,
		Outline: outline, Document: document,
	}
	if s.Folder == "" {
		row.Filed = report.Made // there is nothing to file
	}
	notify, err := notices(s, row.ID, report)
	if err != nil {
		return err
	}
	stored, err := m.store.PutReport(ctx, row, notify)
	if err == nil && stored {
		m.measures.made.WithLabelValues(s.Name).Inc()
		m.log.Info("made a report", "report", s.Name, "id", row.ID, "from", report.From, "to", report.To)
	}
	return err
}

func id(name string, due time.Time) string {
	sum := sha256.Sum256([]byte(name + "\x00" + due.UTC().Format(time.RFC3339)))
	return hex.EncodeToString(sum[:16])
}

func notices(s Schedule, id string, p *report.Report) ([]store.Notification, error) {
	payload, err := json.Marshal(p.Notice(id))
	if err != nil {
		return nil, err
	}
	var all []store.Notification
	for _, route := range s.Routes {
		all = append(all, store.Notification{ID: id + "-" + route, Fingerprint: id, Event: store.EventReport, Route: route, Payload: payload})
	}
	return all, nil
}

// file writes reports that the schedule's folder lacks. A reporter that is killed in
// between writes the same file again.
func (m *Maker) file(ctx context.Context, s Schedule) error {
	if s.Folder == "" {
		return nil
	}
	missing, err := m.store.Reports(ctx, store.ReportQuery{Schedule: s.Name, Unfiled: true, Limit: maxFiled})
	if err != nil {
		return err
	}
	for _, listed := range missing {
		row, err := m.store.Report(ctx, listed.ID)
		if errors.Is(err, store.ErrNotFound) { // pruned meanwhile
			continue
		}
		if err != nil {
			return err
		}
		report, err := report.Read(row.Document)
		if err != nil {
			return err
		}
		for _, f := range s.formats() {
			name := s.Name + "-" + row.Due.UTC().Format("20060102T1504Z") + f.Extension()
			if err := WriteFile(filepath.Join(s.Folder, name), report, f); err != nil {
				return err
			}
		}
		if err := m.store.MarkFiled(ctx, row.ID); err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	return nil
}

type measures struct {
	*daemon.MetricSet
	made   *prometheus.CounterVec
	failed prometheus.Counter
}

func newMeasures(all []Schedule) measures {
	s := daemon.NewMetrics("reports", nil)
	m := measures{
		MetricSet: s,
		made:      s.CounterVec("made_total", "Reports that this process stored, by schedule.", "schedule"),
		failed:    s.Counter("failures_total", "Attempts to make, store or file a report that failed; each is tried again."),
	}
	for _, of := range all {
		m.made.WithLabelValues(of.Name)
	}
	return m
}

// WriteFile writes a report to a file whole or not at all: who reads the folder never
// sees half of it.
func WriteFile(path string, p *report.Report, f report.Format) (err error) {
	// Reports name keys: the umask decides who reads them, and strangers never do.
	name := filepath.Join(filepath.Dir(path), ".keyheat-"+rand.Text())
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o640) //nolint:gosec // the group reads it where the umask lets it
	if err != nil {
		return fmt.Errorf("write a report: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("write a report: %w", err), os.Remove(file.Name()))
		}
	}()
	if err := errors.Join(p.Write(file, f), file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}
