package web_test

import (
	"context"
	"database/sql"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // to lock a table

	"github.com/keyheat/keyheat/internal/testsupport/await"
	"github.com/keyheat/keyheat/internal/testsupport/pgtest"
	"github.com/keyheat/keyheat/internal/web"
	"github.com/keyheat/keyheat/store"
)

// TestOneReaderHoldsNobodyElse: a client asks for many pages that the database does not answer.
// Another client's page comes at once, and the first one's later.
func TestOneReaderHoldsNobodyElse(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	st, err := store.Open(t.Context(), url, store.Options{Migrate: true})
	must(t, err)
	t.Cleanup(func() { must(t, st.Close()) })
	pages, err := st.OpenApart()
	must(t, err)
	t.Cleanup(func() { must(t, pages.Close()) })
	site, err := web.New(pages, slog.New(slog.DiscardHandler), web.Options{})
	must(t, err)
	ask := func(client, path string) int {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil)
		r.RemoteAddr = client + ":1"
		w := httptest.NewRecorder()
		site.ServeHTTP(w, r)
		return w.Code
	}
	db, err := sql.Open("pgx", url)
	must(t, err)
	defer db.Close()
	lock, err := db.BeginTx(t.Context(), nil)
	must(t, err)
	_, err = lock.ExecContext(t.Context(), `LOCK TABLE findings IN ACCESS EXCLUSIVE MODE`)
	must(t, err)
	var asking sync.WaitGroup
	var answered atomic.Int64
	for range 5 * store.Readers {
		asking.Go(func() {
			ask("10.0.0.1", "/api/v1/findings")
			answered.Add(1)
		})
	}
	await.Until(t, "the first client's pages wait for the database", func() bool {
		var n int
		must(t, db.QueryRow(`SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`).Scan(&n))
		return n >= store.Readers/2
	})
	if code := ask("10.0.0.2", "/api/v1/receivers"); code != http.StatusOK {
		t.Errorf("the other client gets %d", code)
	}
	if answered.Load() > 0 {
		t.Error("the other client waited for pages of the first one")
	}
	must(t, lock.Rollback())
	asking.Wait()
	if code := ask("10.0.0.1", "/api/v1/findings"); code != http.StatusOK {
		t.Errorf("the first client gets %d", code)
	}
}
