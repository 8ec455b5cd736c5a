package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/keyheat/keyheat/internal/daemon"
)

// Every commit wakes the listeners on Postgres. They poll too, less often where
// they are woken, because a notification may be lost (a connection that breaks,
// a pooler between).
const (
	channel      = "keyheat_commit"
	pollEvery    = time.Second
	pollNotified = 5 * time.Second
)

// notify wakes the listeners after a commit. It is outside of the transaction,
// because NOTIFY inside makes Postgres commit one transaction at a time. Its
// failure delays the listeners until they poll, so it is not reported.
func (s *Store) notify(ctx context.Context) {
	if s.pool != nil {
		_, _ = s.pool.Exec(ctx, `SELECT pg_notify($1, '')`, channel)
	}
}

// Listen returns a channel that receives when there may be something new to
// Read: after a Commit on Postgres, every second on SQLite. Wakes that were not
// received are merged into one. The channel is closed when ctx ends. Meanwhile the process
// has a session, as far as there can be one, so that its leases end when it dies.
func (s *Store) Listen(ctx context.Context) <-chan struct{} {
	wake := make(chan struct{}, 1)
	go func() {
		defer close(wake)
		daemon.Signal(wake)
		if s.pool == nil {
			s.tick(ctx, wake)
			return
		}
		for ctx.Err() == nil {
			s.listen(ctx, wake)
			daemon.Signal(wake)
			daemon.Pause(ctx, pollEvery)
		}
	}()
	return wake
}

func (s *Store) tick(ctx context.Context, wake chan<- struct{}) {
	if s.path != "" {
		session, end := beginFileSession(s.path)
		s.session.Store(session)
		defer end()
		defer s.session.CompareAndSwap(session, 0)
	}
	for ctx.Err() == nil {
		daemon.Pause(ctx, pollEvery)
		daemon.Signal(wake)
	}
}

// listen waits for notifications on a connection of its own until that breaks
// or ctx ends.
func (s *Store) listen(ctx context.Context, wake chan<- struct{}) {
	conn, err := pgx.ConnectConfig(ctx, s.pool.Config().ConnConfig)
	if err != nil {
		return
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, "LISTEN "+channel); err != nil {
		return
	}
	session, err := beginSession(ctx, conn)
	if err != nil {
		return
	}
	s.session.Store(session)
	defer s.session.CompareAndSwap(session, 0)
	for ctx.Err() == nil && !conn.IsClosed() {
		daemon.Signal(wake)
		waiting, cancel := context.WithTimeout(ctx, pollNotified)
		_, err := conn.WaitForNotification(waiting)
		cancel()
		if err != nil && waiting.Err() == nil {
			return
		}
	}
}
