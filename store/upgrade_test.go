package store_test

import (
	"database/sql"
	"strings"
	"testing"
	"time"

	"github.com/pressly/goose/v3"

	"github.com/keyheat/keyheat/migrations"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// migrateTo brings an empty database to an old version of the schema.
func migrateTo(t *testing.T, url string, version int64) *sql.DB {
	t.Helper()
	engine, dialect := "postgres", goose.DialectPostgres
	if strings.HasPrefix(url, "sqlite:") {
		engine, dialect = "sqlite", goose.DialectSQLite3
	}
	dir, err := migrations.FS(engine)
	check(t, err)
	db := raw(t, url)
	provider, err := goose.NewProvider(dialect, db, dir)
	check(t, err)
	_, err = provider.UpTo(t.Context(), version)
	check(t, err)
	return db
}

// second is an event time as both engines write it in SQL.
const second = `'2026-11-21 12:00:00+00:00'`

// oldRows are rows of the third schema, in which tables and indexes were named
// in every row.
var oldRows = []string{
	`INSERT INTO windows VALUES ('orders', '', ` + second + `, 7, 1000, 2000, 1, 10, 20, '{"a":3}', TRUE, $1, ` + second + `)`,
	`INSERT INTO windows VALUES ('orders', 'by-date', ` + second + `, 8, 0, 3000, 0, 0, 0, '{}', FALSE, $1, ` + second + `)`,
	`INSERT INTO cardinalities VALUES ('users', '', ` + second + `, $1, ` + second + `)`,
	`INSERT INTO findings VALUES ('f', 'hot_gsi_key', 'orders', 'by-date', 'OPEN', 'critical', 'firing', 1.5,
		` + second + `, ` + second + `, ` + second + `, '{"key":"OPEN"}')`,
	`INSERT INTO hourly_peaks VALUES ('orders', '', -5, ` + second + `, 'S', 'OPEN', 900000, 0, ` + second + `)`,
	`INSERT INTO table_views VALUES ('carts', '', ` + second + `, '{"table":"carts"}')`,
	`INSERT INTO writers VALUES ('a', 'host-1', ` + second + `, ` + second + `, ` + second + `, 3, 2)`,
	`INSERT INTO notifications (id, fingerprint, event, route, payload, created, next_attempt, attempts, state, last_error)
		VALUES ('n', 'f', 'firing', 'r', $1, ` + second + `, ` + second + `, 0, 'pending', '')`,
	`INSERT INTO table_facts VALUES ('facts only', '{"wcu":1}', ` + second + `)`,
}

// TestMigratingKeepsWhatIsStored migrates a database with rows of the third schema.
func TestMigratingKeepsWhatIsStored(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, url string) {
		db := migrateTo(t, url, 3)
		body := []byte{0, 1, 0xff}
		for _, statement := range oldRows {
			var args []any
			if strings.Contains(statement, "$1") {
				args = []any{body}
			}
			if _, err := db.ExecContext(t.Context(), statement, args...); err != nil {
				t.Fatalf("%s: %v", statement, err)
			}
		}
		s := open(t, url)
		at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
		orders, byDate := sample.Target{Table: "orders"}, sample.Target{Table: "orders", Index: "by-date"}

		w, ok, err := s.Window(t.Context(), orders, at)
		check(t, err)
		if !ok || w.Requests != 7 || w.ThrottledWriteMilli != 20 || w.Vector["a"] != 3 || !w.Complete || string(w.Body) != string(body) {
			t.Errorf("the window is %+v (%t)", w, ok)
		}
		totals, err := s.Totals(t.Context())
		check(t, err)
		if len(totals) != 2 || totals[0].Target != orders || totals[1].Target != byDate || totals[1].WriteMilli != 3000 {
			t.Errorf("totals are %+v", totals)
		}
		minutes, err := s.Cardinalities(t.Context(), store.CardinalityQuery{Target: sample.Target{Table: "users"}})
		check(t, err)
		if len(minutes) != 1 || string(minutes[0].Registers) != string(body) {
			t.Errorf("minutes are %+v", minutes)
		}
		f, err := s.Finding(t.Context(), "f")
		check(t, err)
		if f.Target != byDate || f.Key != "OPEN" || f.Utilization != 1.5 || !f.LastSeen.Equal(at) || string(f.Document) != `{"key":"OPEN"}` {
			t.Errorf("the finding is %+v", f)
		}
		var five uint64 = 5
		peaks, err := s.HourPeaks(t.Context(), orders, -five, time.Time{})
		check(t, err)
		if len(peaks) != 1 || peaks[0].WriteMilli != 900_000 || !peaks[0].Hour.Equal(at) {
			t.Errorf("peaks are %+v", peaks)
		}
		views, err := s.TableViews(t.Context())
		check(t, err)
		if len(views) != 1 || views[0].Table != "carts" || string(views[0].Document) != `{"table":"carts"}` {
			t.Errorf("views are %+v", views)
		}
		writers, err := s.Writers(t.Context())
		check(t, err)
		if len(writers) != 1 || writers[0].Host != "host-1" || writers[0].LastSeq != 3 || writers[0].Lag != nil || writers[0].RefusedTables != nil {
			t.Errorf("writers are %+v, want one that reports nothing", writers)
		}
		due, err := s.DueNotifications(t.Context(), "r", 0)
		check(t, err)
		if len(due) != 1 || due[0].Incident != "" || string(due[0].Payload) != string(body) {
			t.Errorf("due are %+v", due)
		}
		facts, err := s.TableFacts(t.Context())
		check(t, err)
		if len(facts) != 1 || facts[0].Table != "facts only" || string(facts[0].JSON) != `{"wcu":1}` {
			t.Errorf("facts are %+v", facts)
		}
	})
}
