package deploy_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/collect"
	"github.com/keyheat/keyheat/internal/judge"
	"github.com/keyheat/keyheat/internal/judge/verdict"
	"github.com/keyheat/keyheat/internal/report"
	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/internal/testsupport/await"
	"github.com/keyheat/keyheat/internal/testsupport/pgtest"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// as returns the URL of a database for a role.
func as(t *testing.T, database, role string) string {
	t.Helper()
	u, err := url.Parse(database)
	must(t, err)
	u.User = url.UserPassword(role, "test")
	return u.String()
}

func must(t *testing.T, err error) {
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
}

// roles runs the file, and gives each role a password.
func roles(t *testing.T, db *pgx.Conn) {
	t.Helper()
	text, err := os.ReadFile("postgres/roles.sql")
	must(t, err)
	for range 2 { // it can be repeated
		_, err = db.Exec(t.Context(), string(text))
		must(t, err)
	}
	for _, role := range []string{"migrator", "collector", "reporter", "reader"} {
		_, err := db.Exec(t.Context(), `ALTER ROLE keyheat_`+role+` PASSWORD 'test'`)
		must(t, err)
	}
}

// TestRolesSuffice does all that each program does, each with its own role. The roles are
// made in an empty database, and again after another role's migration.
func TestRolesSuffice(t *testing.T) {
	t.Parallel()
	server := pgtest.Run(t).URL("postgres")
	owner, err := pgx.Connect(t.Context(), server)
	must(t, err)
	defer owner.Close(context.WithoutCancel(t.Context()))
	roles(t, owner)
	_, err = store.Migrate(t.Context(), server)
	must(t, err)
	roles(t, owner)

	n, err := store.Migrate(t.Context(), as(t, server, "keyheat_migrator"))
	if err != nil || n != 0 {
		t.Errorf("the migrator: %d steps, %v", n, err)
	}
	collected(t, as(t, server, "keyheat_collector"))
	reported(t, as(t, server, "keyheat_reporter"))
	shared(t, as(t, server, "keyheat_collector"))

	reader, err := store.Open(t.Context(), as(t, server, "keyheat_reader"), store.Options{})
	must(t, err)
	defer reader.Close()
	now, err := reader.Now(t.Context())
	must(t, err)
	_, err = report.Load(t.Context(), reader, report.Request{Zone: "UTC", From: now.Add(-time.Hour), To: now})
	must(t, err)
	if totals, err := reader.Totals(t.Context()); err != nil || len(totals) != 1 {
		t.Errorf("the reader sees %+v, %v", totals, err)
	}
	if targets, err := reader.Targets(t.Context()); err != nil || len(targets) != 1 {
		t.Errorf("the reader checks names among %+v, %v", targets, err)
	}

	// A later version's table reaches those who need it when the file is run again.
	migrator, err := pgx.Connect(t.Context(), as(t, server, "keyheat_migrator"))
	must(t, err)
	defer migrator.Close(context.WithoutCancel(t.Context()))
	_, err = migrator.Exec(t.Context(), `CREATE TABLE later (n INTEGER)`)
	must(t, err)
	roles(t, owner)
	refused(t, as(t, server, "keyheat_collector"), `SELECT * FROM later`)
	allowed(t, as(t, server, "keyheat_reporter"), `INSERT INTO later VALUES (1)`)
	allowed(t, as(t, server, "keyheat_reader"), `SELECT * FROM later`)

	for role, statements := range map[string][]string{
		"keyheat_collector": {
			`SELECT * FROM findings`, `SELECT * FROM windows`, `SELECT body FROM deltas`, `DELETE FROM deltas`, `UPDATE deltas SET body = ''`,
			`SELECT * FROM notifications`, `INSERT INTO notifications (id, fingerprint, event, route, payload, created, next_attempt, attempts, state, last_error) VALUES ('x','x','x','x','x',now(),now(),0,'pending','')`,
			`SELECT * FROM reports`, `UPDATE installation SET hash_seed = 1`, `DELETE FROM gaps`, `UPDATE leases SET token = 99`,
			`CREATE TABLE mine (n INTEGER)`, `DROP TABLE positions`, `TRUNCATE positions`, `INSERT INTO audit (at, who, action, about, detail) VALUES (now(), '', '', '', '')`,
		},
		"keyheat_reporter": {
			`UPDATE installation SET hash_seed = 1`, `DELETE FROM goose_db_version`, `UPDATE audit SET who = 'somebody else'`, `CREATE TABLE mine (n INTEGER)`,
			`DROP TABLE findings`, `TRUNCATE findings`, `CREATE ROLE mine`, `COPY findings TO PROGRAM 'cat'`,
		},
		"keyheat_reader": {
			`SELECT hash_seed FROM installation`, `SELECT payload FROM notifications`, `DELETE FROM findings`, `UPDATE findings SET state = 'resolved'`,
			`DELETE FROM gaps`, `CREATE TABLE mine (n INTEGER)`, `UPDATE leases SET token = 99`, `CREATE TEMPORARY TABLE mine (n INTEGER)`,
		},
		"keyheat_migrator": {`CREATE ROLE mine`, `COPY findings TO PROGRAM 'cat'`},
	} {
		for _, statement := range statements {
			refused(t, as(t, server, role), statement)
		}
	}
	for _, role := range []string{"migrator", "collector", "reporter", "reader"} {
		url := as(t, server, "keyheat_"+role)
		for _, statement := range []string{
			`SELECT lo_create(0)`, `SELECT lo_creat(-1)`, `SELECT lo_from_bytea(0, 'x')`, `SELECT lo_import('/etc/hostname')`, `SELECT lo_export(1, '/tmp/x')`,
			`SELECT lo_put(1, 0, 'x')`, `SELECT lo_get(1)`, `SELECT lo_open(1, 131072)`, `SELECT lo_unlink(1)`,
			`CREATE SCHEMA mine`, `CREATE EXTENSION pg_trgm`, `SELECT pg_read_file('/etc/hostname')`,
		} {
			refused(t, url, statement)
		}
		if role != "migrator" {
			refused(t, url, `CREATE TEMPORARY TABLE mine (n INTEGER)`)
			refused(t, url, `CREATE FUNCTION mine() RETURNS INTEGER LANGUAGE SQL AS 'SELECT 1'`)
			refused(t, url, `ALTER TABLE audit DISABLE ROW LEVEL SECURITY`)
		}
		if wake := `SELECT pg_notify('keyheat_commit', '')`; role == "reader" { // who commits wakes the judge
			refused(t, url, wake)
		} else {
			allowed(t, url, wake)
		}
	}
	vacuumed(t, as(t, server, "keyheat_migrator"), nil)
	vacuumed(t, as(t, server, "keyheat_reporter"), store.ErrNotOwner)
	auditKeepsTheYoung(t, owner, as(t, server, "keyheat_reporter"))
	for range 2 {
		if entries, err := reader.Audit(t.Context(), 0); err != nil || len(entries) == 0 {
			t.Errorf("the reader sees %+v in the audit, %v", entries, err)
		}
		roles(t, owner) // what it revokes stays revoked
	}

	_, err = owner.Exec(t.Context(), `CREATE ROLE stranger LOGIN PASSWORD 'test'`)
	must(t, err)
	if stranger, err := pgx.Connect(t.Context(), as(t, server, "stranger")); err == nil {
		stranger.Close(t.Context())
		t.Error("another role of the server connects")
	}
}

// vacuumed writes the tables again, as a purge does at its end.
func vacuumed(t *testing.T, database string, want error) {
	t.Helper()
	st, err := store.Open(t.Context(), database, store.Options{})
	must(t, err)
	defer st.Close()
	if err := st.Vacuum(t.Context()); !errors.Is(err, want) {
		t.Errorf("Vacuum: %v, want %v", err, want)
	}
}

// auditKeepsTheYoung has the reporter delete the audit: of the young entries none goes,
// also where the settings say that they are not kept, and none is written as an old one.
func auditKeepsTheYoung(t *testing.T, owner *pgx.Conn, reporter string) {
	t.Helper()
	entries := func() (n int) {
		must(t, owner.QueryRow(t.Context(), `SELECT count(*) FROM audit`).Scan(&n))
		return n
	}
	_, err := owner.Exec(t.Context(), `INSERT INTO audit (at, who, action, about, detail) VALUES (now() - INTERVAL '3 years', 'ada', 'old', '', ''), (now() - INTERVAL '360 days', 'ada', 'young', '', '')`)
	must(t, err)
	before := entries()
	st, err := store.Open(t.Context(), reporter, store.Options{})
	must(t, err)
	defer st.Close()
	_, err = st.Prune(t.Context(), store.Retention{Audit: time.Nanosecond})
	must(t, err)
	if n := entries(); n != before-1 {
		t.Errorf("of %d entries %d are left, want all but the old one", before, n)
	}
	refused(t, reporter, `INSERT INTO audit (at, who, action, about, detail) VALUES (now() - INTERVAL '3 years', '', '', '', '')`)
	refused(t, reporter, `UPDATE audit SET at = '2001-01-01'`)
	refused(t, reporter, `TRUNCATE audit`)
	allowed(t, reporter, `INSERT INTO audit (at, who, action, about, detail) VALUES (now(), '', '', '', '')`)
}

// attempt runs a statement in a transaction that is rolled back.
func attempt(t *testing.T, database, statement string) error {
	t.Helper()
	db, err := pgx.Connect(t.Context(), database)
	must(t, err)
	defer db.Close(context.WithoutCancel(t.Context()))
	tx, err := db.Begin(t.Context())
	must(t, err)
	defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
	_, err = tx.Exec(t.Context(), statement)
	return err
}

func allowed(t *testing.T, database, statement string) {
	t.Helper()
	if err := attempt(t, database, statement); err != nil {
		t.Errorf("%s: %v", statement, err)
	}
}

func refused(t *testing.T, database, statement string) {
	t.Helper()
	const insufficient, notOwner = "42501", "must be owner"
	err := attempt(t, database, statement)
	var failed *pgconn.PgError
	if !errors.As(err, &failed) || failed.Code != insufficient && !strings.Contains(failed.Message, notOwner) {
		t.Errorf("%s: %v, want it refused", statement, err)
	}
}

// collected counts, loses and releases a partition, as collectors of Kafka do.
func collected(t *testing.T, database string) {
	t.Helper()
	st, err := store.Open(t.Context(), database, store.Options{})
	must(t, err)
	defer st.Close()
	seed, err := st.HashSeed(t.Context())
	must(t, err)
	_, err = st.AllTargets(t.Context())
	must(t, err)
	c := collect.New(collect.Config{Source: "kafka:keyheat", Shards: 1, CommitInterval: 50 * time.Millisecond}, st, seed, slog.New(slog.DiscardHandler))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	for _, log := range []source.Log{{Cluster: "a", ID: "1", Start: "0"}, {Cluster: "a", ID: "2", Start: "0"}} {
		p, err := c.Claim(t.Context(), source.Claim{Partition: "samples/0", First: "0", Log: log})
		must(t, err)
		now := time.Now().Add(-20 * time.Second).UnixMilli()
		text := fmt.Sprintf(`{"ts":%d,"table":"orders","pk":"a","op":"PutItem","wcu":1,"n":1500}`+"\nnonsense\n", now)
		must(t, p.Fold(t.Context(), source.Batch{Next: "5", Time: now, End: true, Final: true, Messages: func(yield func(source.Message) bool) {
			yield(source.Message{Value: []byte(text), Time: now})
		}}))
		must(t, p.Gap(t.Context(), sample.Gap{From: "5", To: "9", Reason: "lost"}))
		must(t, p.Release(t.Context()))
	}
	must(t, st.ReportWriter(t.Context(), c.Writer(), store.WriterStatus{State: "ready"}))
	stop()
	must(t, <-ended)
}

// shared does what collectors of streams do beside. It comes last: a shard that nobody
// has read holds the seconds open.
func shared(t *testing.T, database string) {
	t.Helper()
	st, err := store.Open(t.Context(), database, store.Options{})
	must(t, err)
	defer st.Close()
	must(t, st.PutTableFacts(t.Context(), sample.Target{Table: "orders"}, []byte(`{}`)))
	_, err = st.Attend(t.Context(), "streams", "me", time.Minute)
	must(t, err)
	must(t, st.RegisterShards(t.Context(), "streams", "arn", []store.NewShard{{Name: "s1"}, {Name: "s2"}}, true))
	_, err = st.TakeShards(t.Context(), "streams", "me", []string{"s1"})
	must(t, err)
	must(t, st.FreeShard(t.Context(), "streams", "me", "s1"))
	_, err = st.OpenShards(t.Context(), "streams")
	must(t, err)
	_, err = st.Lineage(t.Context(), "streams", "arn")
	must(t, err)
	_, err = st.LastListed(t.Context(), "streams", "arn")
	must(t, err)
	must(t, st.Leave(t.Context(), "streams", "me"))
}

// reported judges what was collected, prunes and purges.
func reported(t *testing.T, database string) {
	t.Helper()
	st, err := store.Open(t.Context(), database, store.Options{})
	must(t, err)
	defer st.Close()
	judge, err := judge.New(judge.Config{Options: verdict.Options{Receivers: func(*detect.Incident) []string { return []string{"webhook"} }}}, st, "here", slog.New(slog.DiscardHandler))
	must(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- judge.Run(ctx) }()
	await.Until(t, "something is judged", func() bool {
		totals, err := st.Totals(t.Context())
		return err == nil && len(totals) == 1
	})
	stop()
	must(t, <-ended)
	_, err = st.Prune(t.Context(), store.Retention{})
	must(t, err)
	_, err = st.SeeSchedule(t.Context(), "daily", "0 9 * * *")
	must(t, err)
	_, err = st.PutReport(t.Context(), store.Report{ID: "r", Schedule: "daily", Due: time.Now(), Document: []byte(`{}`)}, []store.Notification{{Route: "webhook", Payload: []byte(`{}`)}})
	must(t, err)
	must(t, st.PutCloudWatch(t.Context(), store.CloudWatchRead{Target: sample.Target{Table: "orders"}, Attempted: time.Now()}, nil))
	due, err := st.DueNotifications(t.Context(), "webhook", 10)
	must(t, err)
	for _, n := range due {
		must(t, st.MarkDelivered(t.Context(), n.ID, ""))
	}
	added, err := st.AddSilence(t.Context(), store.Silence{Matchers: []string{"table=orders"}, EndsAt: time.Now().Add(time.Hour)})
	must(t, err)
	must(t, st.ExpireSilence(t.Context(), added.ID, "test"))
	_, err = st.PurgeKey(t.Context(), store.Purge{Table: sample.Target{Table: "orders"}, Eraser: none{}, Who: "test"})
	must(t, err)
}

// none is an eraser of a key that is nowhere.
type none struct{}

func (none) Window([]byte) ([]byte, error)   { return nil, nil }
func (none) Rollup([]byte) ([]byte, error)   { return nil, nil }
func (none) Delta([]byte) ([]byte, error)    { return nil, nil }
func (none) Document([]byte) ([]byte, error) { return nil, nil }
func (none) Text([]byte) ([]byte, error)     { return nil, nil }
