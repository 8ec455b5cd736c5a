package store_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/testsupport/await"
	"github.com/keyheat/keyheat/internal/testsupport/pgtest"
	"github.com/keyheat/keyheat/store"
)

// TestBusyFileIsWaitedFor holds SQLite's one write lock in another handle, as
// another process would, for a moment and then for too long.
func TestBusyFileIsWaitedFor(t *testing.T) {
	t.Parallel()
	url := sqliteFile(t)
	s, other := open(t, url), raw(t, url)
	other.SetMaxOpenConns(1)
	lock := func() { _, err := other.Exec(`BEGIN IMMEDIATE`); check(t, err) }
	release := func() { _, err := other.Exec(`ROLLBACK`); check(t, err) }

	lock()
	begun, done := make(chan struct{}), make(chan error, 1)
	go func() {
		close(begun)
		done <- s.Commit(t.Context(), store.Commit{Writer: "a", Seq: 1, Body: []byte{1}})
	}()
	<-begun
	if _, err := s.Read(t.Context(), nil, store.ReadLimit{}); err != nil {
		t.Errorf("a reader is stopped by a writer: %v", err)
	}
	release()
	if err := <-done; err != nil {
		t.Errorf("a commit beside a short transaction returns %v", err)
	}

	lock()
	defer release()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := s.Commit(ctx, store.Commit{Writer: "a", Seq: 2}); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("a commit that waited until its deadline returns %v, want ErrUnavailable", err)
	}
}

// TestDeadlockIsRetried makes two commits wait for each other in a circle,
// which Postgres ends by failing one of them.
func TestDeadlockIsRetried(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	// Postgres looks for a deadlock once, when a session has waited for so long: by then the
	// other one has to wait for it, also on a machine that pauses.
	s, db := open(t, url+"&deadlock_timeout=10s"), raw(t, url)
	bad := []store.BadSample{{Hour: time.Now(), Source: "s", Reason: "r", Count: 1}}
	check(t, s.Commit(t.Context(), store.Commit{Writer: "a", Seq: 1, Bad: bad}))

	// The other session holds the bad sample and will want the writer, which
	// the commit takes first.
	other, err := db.BeginTx(t.Context(), nil)
	check(t, err)
	_, err = other.Exec(`SET LOCAL deadlock_timeout = '10min'`)
	check(t, err)
	_, err = other.Exec(`SELECT count FROM bad_samples FOR UPDATE`)
	check(t, err)
	done := make(chan error, 1)
	go func() { done <- s.Commit(t.Context(), store.Commit{Writer: "a", Seq: 2, Bad: bad}) }()
	waitForLock(t, url)
	_, err = other.Exec(`SELECT writer FROM writers FOR UPDATE`)
	check(t, err)
	check(t, other.Commit())
	if err := <-done; err != nil {
		t.Errorf("the commit that lost a deadlock returns %v", err)
	}
	all, err := s.BadSamples(t.Context(), store.BadQuery{})
	check(t, err)
	if len(all) != 1 || all[0].Count != 2 {
		t.Errorf("the bad samples are %+v, want one row that counts 2", all)
	}
}

// TestEndedContextIsNotTheDatabasesFault keeps a stopping daemon from waiting
// for a database that is well.
func TestEndedContextIsNotTheDatabasesFault(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, url string) {
		s := open(t, url)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, readErr := s.Read(ctx, nil, store.ReadLimit{})
		_, gapErr := s.Gaps(ctx, store.GapQuery{})
		_, nowErr := s.Now(ctx)
		for _, err := range []error{readErr, gapErr, s.Commit(ctx, store.Commit{Writer: "a", Seq: 1}), nowErr} {
			if !errors.Is(err, context.Canceled) || errors.Is(err, store.ErrUnavailable) {
				t.Errorf("an ended context returns %v, want context.Canceled alone", err)
			}
		}
	})
}

// TestAReadEndsInItsTime: an endless query ends with the time of its reader, in the server too.
func TestAReadEndsInItsTime(t *testing.T) {
	t.Parallel()
	postgres := pgtest.Database(t)
	for url, endless := range map[string]string{
		postgres:      `SELECT pg_sleep(100000)`,
		sqliteFile(t): `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n`,
	} {
		s := open(t, url)
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		if err := s.Snapshot(ctx, endless); !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("%s returns %v", endless, err)
		}
	}
	db := raw(t, postgres)
	await.Until(t, "the server has ended the query", func() bool {
		var n int
		check(t, db.QueryRow(`SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%' AND state = 'active'`).Scan(&n))
		return n == 0
	})
}

// TestReadersApartHoldNobody: readers who use up their connections hold no one from the store's
// own.
func TestReadersApartHoldNobody(t *testing.T) {
	t.Parallel()
	for url, endless := range map[string]string{
		pgtest.Database(t): `SELECT pg_sleep(100000)`,
		sqliteFile(t):      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n`,
	} {
		s := open(t, url)
		apart, err := s.OpenApart()
		check(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		var reading sync.WaitGroup
		for range 4 * store.Readers {
			reading.Go(func() { _ = apart.Snapshot(ctx, endless) })
		}
		check(t, s.Commit(t.Context(), store.Commit{Writer: "a", Seq: 1}))
		if _, err := s.Read(t.Context(), nil, store.ReadLimit{}); err != nil {
			t.Error(err)
		}
		cancel()
		reading.Wait()
		check(t, apart.Close())
	}
}
