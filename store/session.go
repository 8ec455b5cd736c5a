package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"

	"github.com/jackc/pgx/v5"
)

// A session shows that a process lives: while Listen runs, the process holds a lock that
// the operating system or the server releases when the process dies. Leases name the
// session of their holder, so that others need not wait until a dead holder's lease
// expires. Whatever hides a death (a cut network, a frozen process) keeps the lock, and the
// lease expires as one without a session does.
//
// On Postgres the lock is an advisory lock of the connection that listens. A pooler gives a
// client's statements to several connections, so that a lock would outlive the client or be
// another one's: behind one there is no session. On SQLite the lock is on another database
// beside the first.

func newSession() int64 { return 1 + rand.Int64N(1<<62) }

// Session returns the session that the leases of this process name now; 0 for none.
func (s *Store) Session() int64 { return s.session.Load() }

// beginSession begins a session on a connection of its own to Postgres, which ends with
// it. It returns 0 behind a pooler, whose clients see another process ID than the
// server's.
func beginSession(ctx context.Context, conn *pgx.Conn) (session int64, err error) {
	var pid uint32
	if err := conn.QueryRow(ctx, `SELECT pg_backend_pid()`).Scan(&pid); err != nil || pid != conn.PgConn().PID() {
		return 0, err
	}
	session = newSession()
	_, err = conn.Exec(ctx, `SELECT pg_advisory_lock($1)`, session)
	return session, err
}

// sessionEnded reports whether the session of a lease's holder has ended; false where that
// is not known.
func (s *Store) sessionEnded(ctx context.Context, t *tx, session int64) (ended bool, err error) {
	switch {
	case session == 0 || session == s.Session():
		return false, nil
	case s.pool != nil:
		err = t.QueryRowContext(ctx, `SELECT pg_try_advisory_xact_lock($1)`, session).Scan(&ended)
		return ended, err
	case s.path != "":
		return fileSessionEnded(ctx, s.path, session), nil
	}
	return false, nil
}

// sessionFile returns the file of a session beside a SQLite database. No two sessions share
// one, so that it may be removed.
func sessionFile(path string, session int64) string {
	return fmt.Sprintf("%s-session-%d", path, session)
}

// beginFileSession begins a session on SQLite. It returns 0 where there can be none; end ends
// the session.
func beginFileSession(path string) (session int64, end func()) {
	session = newSession()
	name := sessionFile(path, session)
	unlock, err := lockBeside(context.Background(), name)
	if err != nil {
		return 0, func() {}
	}
	return session, func() {
		_ = os.Remove(name)
		unlock()
	}
}

// fileSessionEnded reports whether nobody holds the lock of a session, and removes its file
// then.
func fileSessionEnded(ctx context.Context, path string, session int64) bool {
	name := sessionFile(path, session)
	if _, err := os.Stat(name); err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	unlock, err := lockBeside(ctx, name)
	if err != nil {
		return false
	}
	unlock()
	_ = os.Remove(name)
	return true
}
