package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/judge"
	"github.com/keyheat/keyheat/internal/judge/verdict"
	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/internal/testsupport/await"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/pgtest"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

var purgedHours = flag.Int("reporter.purgehours", 2, "how many hours are collected before a key is purged: 24 at night")

// hashSecret is of the policies that hash.
const hashSecret = "aGFzaC1zZWNyZXQtY2FuYXJ5LTAxMjM0NTY3ODk="

// TestPurgeForgets collects hours in which a value is a partition key, sort key, caller,
// attribute, id, key shard, dated key and key of an index, with a judge that restarts each
// hour, purges it beside a running judge, and looks for it in every row and in every byte
// of the database's files.
func TestPurgeForgets(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{"plain", "hmac", "prefix(3)"} {
		t.Run(policy+" on SQLite", func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			forgets(t, "sqlite:"+filepath.Join(dir, "keyheat.db"), policy, func() string { return dir })
		})
		t.Run(policy+" on Postgres", func(t *testing.T) {
			t.Parallel()
			if testing.Short() && policy != "plain" {
				t.Skip("make test-full hides keys on Postgres too: what it stores of them is what SQLite stores")
			}
			url := pgtest.Run(t).URL("postgres")
			forgets(t, url, policy, func() string {
				db := openSQL(t, url)
				defer db.Close()
				if _, err := db.ExecContext(t.Context(), "CHECKPOINT"); err != nil {
					t.Fatal(err)
				}
				var dir string
				must.Succeed(t, db.QueryRowContext(t.Context(), "SHOW data_directory").Scan(&dir))
				return dir
			})
		})
	}
}

func forgets(t *testing.T, url, policy string, directory func() string) {
	if _, err := store.Migrate(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	st, err := store.Open(t.Context(), url, store.Options{})
	must.Succeed(t, err)
	defer st.Close()
	begin := time.Now().Add(-time.Duration(*purgedHours) * time.Hour).Truncate(time.Hour)
	out := &heard{all: map[string]*bytes.Buffer{}}
	var running *judge.Judge
	for hour := range *purgedHours {
		start := begin.Add(time.Duration(hour) * time.Hour)
		collectAll(t, url, policy, hashSecret, out, fmt.Sprint(hour+1), start.Add(judgedSeconds*time.Second), everywhere(start))
		var stop func()
		running, stop = runJudge(t, st, fmt.Sprint("judge ", hour))
		awaitSeconds(t, st, judgedSeconds*(hour+1))
		if hour < *purgedHours-1 {
			stop()
		} else {
			defer stop() // it runs while the key is purged
		}
	}
	written(t, st)

	config := filepath.Join(t.TempDir(), "reporter.yaml")
	secret := filepath.Join(filepath.Dir(config), "keys.secret")
	text := fmt.Sprintf("store: {url: %q}\npolicy: {keys: %s}\n", url, policy)
	must.Succeed(t, errors.Join(os.WriteFile(config, []byte(text), 0o600), os.WriteFile(secret, []byte(hashSecret+"\n"), 0o600)))
	forms, fewest := append(hashesOf(t, config, secret), canary), 6
	await.Until(t, fmt.Sprintf("the key in %d places: looking for it shows nothing", fewest), func() bool {
		before := &heard{all: map[string]*bytes.Buffer{}}
		dump(t, url, before)
		return len(before.with(forms[0]))+len(filesWith(t, directory(), forms[0])) >= fewest
	})
	purge := []string{"keys", "purge", canary, "--table", "orders", "--config", config, "--keys-secret-file", secret}
	if code, would := reporter(t, append(purge, "--dry-run")...); code != cli.OK || !strings.HasPrefix(would, "a purge would delete ") || strings.Contains(would, canary) {
		t.Errorf("a dry run: %d %s", code, would)
	}
	code, printed := reporter(t, purge...)
	if code != cli.OK {
		t.Fatalf("exit code %d: %s", code, printed)
	}
	ended := time.Now()
	await.Until(t, "a judge, whose lease the purge took", func() bool { return running.Judges(time.Since(ended)) })
	code, again := reporter(t, purge...)
	if code != cli.OK || again != "no row of orders names the key: it was purged before, or VALUE, --table or --type is misspelt\n" {
		t.Errorf("the running judge wrote it again: %d %s", code, again)
	}
	after := &heard{all: map[string]*bytes.Buffer{}}
	dump(t, url, after)
	for _, form := range forms {
		if places := slices.Concat(after.with(form), filesWith(t, directory(), form)); len(places) > 0 {
			t.Errorf("after %q %s is still in %v", printed, form, places)
		}
	}
	if policy == "plain" && !slices.Contains(after.with("bystander"), "summaries") {
		t.Error("another key is gone too")
	}
}

// judgedSeconds are the seconds of each hour that have requests.
const judgedSeconds = 20

// everywhere returns an hour's samples: a value in everything that a sample can have it in.
func everywhere(start time.Time) iter.Seq[source.Message] {
	return func(yield func(source.Message) bool) {
		for i := range judgedSeconds {
			at := start.Add(time.Duration(i) * time.Second)
			var text strings.Builder
			for _, pk := range []string{canary, canary + "#SHARD_0", canary + "#SHARD_1", canary + at.Format("#2006-01-02"), canary + at.Format("#2006-01-02T15"), "alice#" + canary, "bystander"} {
				fmt.Fprintf(&text, `{"ts":%d,"table":"orders","pk":%q,"op":"PutItem","wcu":1,"n":1200,"id":"%s-%d"}`+"\n", at.UnixMilli(), pk, canary, i)
			}
			fmt.Fprintf(&text, `{"ts":%d,"table":"orders","pk":"bystander","sk":%q,"op":"PutItem","wcu":1,"n":900,"caller":%[2]q,"attempts":3,"attrs":{"email":%[2]q},"call":"%[2]s-%d"}`+"\n", at.UnixMilli(), canary, i)
			fmt.Fprintf(&text, `{"ts":%d,"table":"orders","index":"by-email","pk":%q,"op":"Query","rcu":1,"n":3500}`+"\n", at.UnixMilli(), canary)
			if !yield(source.Message{Value: []byte(text.String()), Time: at.UnixMilli()}) {
				return
			}
		}
	}
}

// runJudge runs a judge whose notifications nobody sends.
func runJudge(t *testing.T, st *store.Store, holder string) (j *judge.Judge, stop func()) {
	t.Helper()
	j, err := judge.New(judge.Config{Options: verdict.Options{Receivers: func(*detect.Incident) []string { return []string{"webhook"} }}}, st, holder, slog.New(slog.DiscardHandler))
	must.Succeed(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- j.Run(ctx) }()
	return j, func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

func awaitSeconds(t *testing.T, st *store.Store, seconds int) {
	t.Helper()
	await.Until(t, fmt.Sprint(seconds, " judged seconds"), func() bool {
		all, err := st.Windows(t.Context(), store.WindowQuery{Target: sample.Target{Table: "orders"}, Limit: 10_000})
		return err == nil && len(all) >= seconds
	})
}

// written stores what people and schedules write: a report and a silence that name the key.
func written(t *testing.T, st *store.Store) {
	t.Helper()
	_, err := st.SeeSchedule(t.Context(), "daily", "0 9 * * *")
	if err == nil {
		_, err = st.PutReport(t.Context(), store.Report{
			ID: "r", Schedule: "daily", Due: time.Now(), Outline: []byte(`{"worst":"` + canary + `"}`), Document: []byte(`{"hot":["` + canary + `#SHARD_0"]}`),
		}, []store.Notification{{Route: "webhook", Payload: []byte(`{"outline":{"worst":"` + canary + `"}}`)}})
	}
	if err == nil {
		_, err = st.AddSilence(t.Context(), store.Silence{Matchers: []string{"table=orders"}, Reason: canary + " is known", EndsAt: time.Now().Add(time.Hour)})
	}
	must.Succeed(t, err)
}

func reporter(t *testing.T, args ...string) (code int, printed string) {
	t.Helper()
	var out bytes.Buffer
	code = cli.Run(t.Context(), command(), args, cli.Streams{Out: &out, Err: &out})
	return code, out.String()
}

// hashesOf returns how the key stands in what was collected.
func hashesOf(t *testing.T, config, secret string) []string {
	t.Helper()
	code, printed := reporter(t, "keys", "hash", canary, "--table", "orders", "--config", config, "--keys-secret-file", secret)
	if code != cli.OK {
		t.Fatalf("exit code %d: %s", code, printed)
	}
	return strings.Fields(printed)
}

// filesWith returns the files of a database that have a text, but for Postgres'
// write-ahead log.
func filesWith(t *testing.T, dir, text string) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist): // gone meanwhile
			return nil
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "pg_wal":
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		content, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if bytes.Contains(content, []byte(text)) {
			paths = append(paths, path)
		}
		return err
	})
	must.Succeed(t, err)
	return paths
}

// openSQL opens a database of either engine.
func openSQL(t *testing.T, url string) *sql.DB {
	t.Helper()
	engine, name := "pgx", url
	if path, is := strings.CutPrefix(url, "sqlite:"); is {
		engine, name = "sqlite", path
	}
	db, err := sql.Open(engine, name)
	must.Succeed(t, err)
	return db
}
