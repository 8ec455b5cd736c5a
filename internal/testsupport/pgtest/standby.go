package pgtest

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Standby starts a server that follows a primary and takes only queries, until Promote. It
// is stopped when the test ends. It has the primary's password. from is where it reaches the
// primary, as URL or Through return it: while that link is cut, it falls behind.
func Standby(t testing.TB, primary *Server, from string) *Server {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	s, err := start(ctx, &Server{bin: primary.bin, password: primary.password}, func(s *Server, ctx context.Context) error {
		// It writes down where the primary is, too.
		return s.program(ctx, "pg_basebackup", "--pgdata="+s.data(), "--dbname="+from,
			"--wal-method=stream", "--write-recovery-conf", "--checkpoint=fast", "--no-sync")
	})
	need(t, err)
	stopAtEnd(t, s)
	return s
}

// Promote makes a standby a primary, with what it has received of the old one.
func (s *Server) Promote(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.URL("postgres"))
	if err != nil {
		return fmt.Errorf("promote: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var promoted bool
	if err := conn.QueryRow(ctx, `SELECT pg_promote(true, 60)`).Scan(&promoted); err != nil {
		return fmt.Errorf("promote: %w", err)
	}
	if !promoted {
		return fmt.Errorf("promote: the standby takes too long: %s", s.lastLog())
	}
	return nil
}
