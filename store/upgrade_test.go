package store_test

import (
	"context"
	_ "embed"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/pressly/goose/v3"

	"github.com/keyheat/keyheat/migrations"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

//go:embed testdata/0.1.0.sql
var firstRelease string

// makeFirstRelease fills an empty database with the rows of the first release, under its
// schema.
func makeFirstRelease(t *testing.T, url string, body []byte) {
	t.Helper()
	engine, dialect := "postgres", goose.DialectPostgres
	if strings.HasPrefix(url, "sqlite:") {
		engine, dialect = "sqlite", goose.DialectSQLite3
	}
	dir, err := migrations.FS(engine)
	check(t, err)
	db := raw(t, url)
	_, err = provider(t, db, dialect, dir).UpTo(t.Context(), 1)
	check(t, err)
	for statement := range strings.SplitSeq(strings.TrimSpace(firstRelease), ";\n") {
		var args []any
		if _, sql, _ := strings.Cut(statement, "INSERT"); strings.Contains(sql, "$1") {
			args = []any{body}
		}
		if _, err := db.ExecContext(t.Context(), statement, args...); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// TestADatabaseOfTheFirstReleaseIsRead migrates a database of version 0.1.0 to the newest
// schema, and reads each row through the store.
func TestADatabaseOfTheFirstReleaseIsRead(t *testing.T) {
	body := []byte{0, 1, 0xff}
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	orders := sample.Target{Account: "111122223333", Region: "eu-west-1", Table: "orders"}
	byDate := orders
	byDate.Index = "by-date"
	partition := store.PartitionID{Source: "kafka:c", Name: "samples/0"}
	offset, lag, share := 1500*time.Microsecond, int64(7), 0.25
	finding := store.Finding{Fingerprint: "f", Case: "index_key", Subject: "key_writes", Target: byDate, Key: "OPEN", Severity: "critical", State: "firing", Utilization: 1.5,
		FirstSeen: at, LastSeen: at, UpdatedAt: at, Document: []byte(`{"case":"index_key","subject":"key_writes","key":"OPEN"}`)}
	window := store.Window{Target: orders, Second: at, Requests: 7, ReadMilli: 1000, WriteMilli: 2000, ThrottledRequests: 1, ThrottledReadMilli: 10, ThrottledWriteMilli: 20,
		Vector: map[string]int64{"a": 3}, Complete: true, Body: body}
	report := store.Report{ID: "p", Schedule: "daily", Due: at, From: at, To: at, Made: at, Outline: []byte(`{"hot":0}`), Document: []byte(`{"hot":[{"case":"hot_key","subject":""},{"case":"too_few_shards","subject":""}]}`)}
	rows := map[string]struct {
		read func(ctx context.Context, s *store.Store) (any, error)
		want any
	}{
		"writers": {func(ctx context.Context, s *store.Store) (any, error) { return s.Writers(ctx) }, []store.Writer{{ID: "a", Host: "host-1", Started: at.Add(-time.Hour), Seen: at, LastSeq: 3,
			WriterStatus: store.WriterStatus{Version: "0.1.0", State: "ready", ClockOffset: &offset, Lag: &lag, RefusedTables: []string{"carts"}, BadShare: &share}}}},
		"positions": {func(ctx context.Context, s *store.Store) (any, error) { return s.Positions(ctx, "") }, []store.Position{{
			PartitionID: partition, Next: "42", Epoch: 5, Writer: "a", Mark: "leader 3", Log: "topic-2", Readers: "keyheat"}}},
		"watermarks": {func(ctx context.Context, s *store.Store) (any, error) { return s.Watermarks(ctx) }, []store.Watermark{{
			PartitionID: partition, Epoch: 5, Time: at, Lag: 7, Writer: "a", Moved: at, Seen: at}}},
		"deltas": {func(ctx context.Context, s *store.Store) (any, error) {
			snap, err := s.Read(ctx, nil, store.ReadLimit{})
			return snap.Deltas, err
		}, []store.Delta{{Writer: "a", Seq: 2, Version: 1, Body: body, Committed: at}}},
		"gaps": {func(ctx context.Context, s *store.Store) (any, error) { return s.Gaps(ctx, store.GapQuery{}) }, []store.Gap{{
			Gap: sample.Gap{Source: "kafka:c", Partition: "samples/0", From: "5", To: "9", Since: at, Until: at, Reason: "lost"}, Noticed: at}}},
		"bad samples": {func(ctx context.Context, s *store.Store) (any, error) { return s.BadSamples(ctx, store.BadQuery{}) }, []store.BadSample{{
			Hour: at, Source: "kafka:c", Reason: "syntax", Count: 4, Excerpts: []sample.Text{`{"ts":`}, Writer: "a"}}},
		"a stream": {func(ctx context.Context, s *store.Store) (any, error) { return s.Lineage(ctx, "streams", "arn") },
			store.Stream{Listed: at, Names: []string{"s1"}}},
		"cursors": {func(ctx context.Context, s *store.Store) (any, error) { return s.Cursors(ctx) }, map[string]int64{"a": 1}},
		"windows": {func(ctx context.Context, s *store.Store) (any, error) {
			return s.Windows(ctx, store.WindowQuery{Target: orders})
		}, []store.Window{window}},
		"totals": {func(ctx context.Context, s *store.Store) (any, error) {
			all, err := s.Totals(ctx)
			targets := make([]sample.Target, len(all))
			for i, total := range all {
				targets[i] = total.Target
			}
			return targets, err
		}, []sample.Target{orders, byDate}},
		"seen minutes": {func(ctx context.Context, s *store.Store) (any, error) {
			return s.SeenMinutes(ctx, at, at.Add(time.Minute), 0)
		}, []store.SeenMinute{{Minute: at, Seconds: 5}}},
		"roll-ups": {func(ctx context.Context, s *store.Store) (any, error) {
			return s.Rollups(ctx, store.RollupQuery{Target: orders, Level: 60})
		}, []store.Rollup{{Target: orders, Level: 60, Begins: at, Body: body}}},
		"views": {func(ctx context.Context, s *store.Store) (any, error) { return s.TableViews(ctx) },
			[]store.TargetDocument{{Target: orders, Updated: at, Document: []byte(`{"table":"orders"}`)}}},
		"table facts": {func(ctx context.Context, s *store.Store) (any, error) { return s.TableFacts(ctx) },
			[]store.TargetDocument{{Target: orders, Document: []byte(`{"wcu":1}`), Updated: at}}},
		"CloudWatch": {func(ctx context.Context, s *store.Store) (any, error) {
			return s.CloudWatchMinutes(ctx, orders, time.Time{})
		}, []store.CloudWatchMinute{{Target: orders, Minute: at, Metrics: map[string]float64{"WriteThrottleEvents": 3}}}},
		"findings": {func(ctx context.Context, s *store.Store) (any, error) { return s.Finding(ctx, "f") }, finding},
		"a finding's history": {func(ctx context.Context, s *store.Store) (any, error) { return s.FindingHistory(ctx, "f") },
			[]store.Transition{{Of: "f", At: at, From: "pending", To: "firing", Severity: "critical", Note: "silenced", About: "s", Until: at}}},
		"incidents": {func(ctx context.Context, s *store.Store) (any, error) { return s.Incident(ctx, "i") }, store.Incident{
			ID: "i", Case: "index_key", Subject: "key_writes", Target: byDate, Severity: "critical", State: "firing", OpenedAt: at, FiredAt: at, LastSeen: at, Revision: 2, Root: "f",
			Findings: []string{"f"}, Document: []byte(`{"id":"i","case":"index_key","subject":"key_writes","told":{"case":"short_of_capacity","subject":"table","root":"f"}}`)}},
		"an incident's history": {func(ctx context.Context, s *store.Store) (any, error) {
			return s.IncidentTransitions(ctx, time.Time{}, store.Infinity, 0)
		},
			[]store.Transition{{Of: "i", At: at, To: "firing", Severity: "critical", Note: "silenced", About: "s", Until: at}}},
		"due notifications": {func(ctx context.Context, s *store.Store) (any, error) { return s.DueNotifications(ctx, "r", 0) }, []store.Notification{{
			ID: "n", Fingerprint: "f", Event: "firing", Route: "r", Incident: "i", Payload: body, Created: at, NextAttempt: at, Attempts: 2, Refusals: 1, State: store.Pending, LastError: "timeout"}}},
		"receivers": {func(ctx context.Context, s *store.Store) (any, error) { return s.Receivers(ctx) }, []store.Receiver{{
			Route: "r", Failures: 2, LastError: "timeout", FailedSince: at, NextAttempt: at, Attempted: at, Pending: 1, Oldest: at}}},
		"silences": {func(ctx context.Context, s *store.Store) (any, error) { return s.Silences(ctx, store.SilenceQuery{}) }, []store.Silence{{
			ID: "s", State: store.SilenceActive, Matchers: []string{`table="orders"`, `case!="one_caller"`, `subject="key_writes"`, `index=""`, `subject="partition"`, `case!="back_pressure"`, `cause=~"hot_.*"`}, StartsAt: at, EndsAt: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), Author: "ada", Reason: "load test"}}},
		"reports": {func(ctx context.Context, s *store.Store) (any, error) { return s.Report(ctx, "p") }, report},
		"the audit": {func(ctx context.Context, s *store.Store) (any, error) { return s.Audit(ctx, 0) },
			[]store.AuditEntry{{At: at, Who: "ada", Action: "add a silence", About: "s", Detail: `table="orders"`}}},
	}
	onEveryEngine(t, func(t *testing.T, url string) {
		makeFirstRelease(t, url, body)
		s := open(t, url)
		for name, row := range rows {
			if got, err := row.read(t.Context(), s); err != nil || !reflect.DeepEqual(got, row.want) {
				t.Errorf("%s (%v): read\n%+v, want\n%+v", name, err, got, row.want)
			}
		}
		lease, held, err := s.AcquireLease(t.Context(), store.JudgeLease, "reporter-2", time.Minute)
		if err != nil || !held || lease.Token != 10 || lease.Writes != 70 {
			t.Errorf("the lease is %+v (%t, %v), want it after token 9 with 70 writes", lease, held, err)
		}
	})
}
