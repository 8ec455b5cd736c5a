package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// Lease is the right to do something alone, until it expires. All its times
// are the database's.
type Lease struct {
	Name, Holder string
	// Token rises whenever the lease is taken: the fencing token that Judge
	// checks, because a process may sleep through the end of its lease.
	Token int64
	// Expires is when another may take it.
	Expires time.Time
	// Writes counts the guarded writes of all the lease's holders. Judge compares and
	// raises it; the caller raises its own after each Judge. If the database has a lower
	// number than one seen before, it went back to an earlier state.
	Writes int64
	// Used is when the lease was used before it was taken; zero for a new one.
	Used time.Time
	// Session is the holder's, after whose end another may take the lease before it
	// expires; 0 for none.
	Session int64
}

// IsBehind reports whether a lease that was taken later shows that the database went
// back since this one was used: tokens and writes only rise.
func (l Lease) IsBehind(later Lease) bool {
	return later.Token <= l.Token || later.Writes < l.Writes
}

// JudgeLease is the lease that judges share, and that a purge takes from them.
const JudgeLease = "judge"

// AcquireLease takes a lease that is free or expired, or whose holder's session has ended,
// or takes one's own again. It returns false, and no error, while another holds it. A process
// that restarts under an old name is a new holder: the token rises for it too.
func (s *Store) AcquireLease(ctx context.Context, name, holder string, ttl time.Duration) (Lease, bool, error) {
	l := Lease{Name: name, Holder: holder}
	err := s.change(ctx, "take lease "+name, func(t *tx) error {
		l.Expires, l.Used, l.Session = utc(t.now.Add(ttl)), time.Time{}, s.Session()
		var before int64
		err := t.QueryRowContext(ctx, `SELECT used, session FROM leases WHERE name = $1`, name).Scan(&l.Used, &before)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		ended, err := s.sessionEnded(ctx, t, before)
		if err != nil {
			return err
		}
		if !ended {
			before = -1 // no lease has it
		}
		return t.QueryRowContext(ctx, `
			INSERT INTO leases (name, holder, token, expires, used, session)
			VALUES ($1, $2, 1, $3, $4, $5)
			ON CONFLICT (name) DO UPDATE
			SET holder = excluded.holder, token = leases.token + 1,
				expires = excluded.expires, used = excluded.used, session = excluded.session
			WHERE leases.expires <= excluded.used OR leases.holder = excluded.holder OR leases.session = $6
			RETURNING token, writes`,
			name, holder, l.Expires, t.now, l.Session, before).Scan(&l.Token, &l.Writes)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return Lease{}, false, nil
	}
	return l, err == nil, err
}

// RenewLease prolongs a lease by ttl from now. It fails with ErrLeaseLost when
// another has taken it, and with ErrWentBack when the database went back since; an
// expired lease that was not taken is renewed.
func (s *Store) RenewLease(ctx context.Context, l Lease, ttl time.Duration) (Lease, error) {
	err := s.change(ctx, "renew lease "+l.Name, func(t *tx) error {
		if err := t.useLease(ctx, l); err != nil {
			return err
		}
		// A judgement may have held the lease's row for longer than ttl.
		now, err := s.dialect.now(ctx, t.Tx)
		if err != nil {
			return err
		}
		l.Expires, l.Session = utc(now.Add(ttl)), s.Session()
		return t.run(ctx, setLeaseEnd, l.Expires, l.Session, l.Name)
	})
	return l, err
}

// ReleaseLease lets others take the lease at once. Releasing a lease that was
// lost changes nothing and is no error.
func (s *Store) ReleaseLease(ctx context.Context, l Lease) error {
	err := s.change(ctx, "release lease "+l.Name, func(t *tx) error {
		return t.endLease(ctx, l, t.now)
	})
	return unlessLost(err)
}

// unlessLost drops the errors of a lease that is no longer held, where that is no failure.
func unlessLost(err error) error {
	if errors.Is(err, ErrLeaseLost) || errors.Is(err, ErrWentBack) {
		return nil
	}
	return err
}

// useLease is the compare-and-swap on a lease's token. It locks the row until the
// transaction ends: another taker waits meanwhile. A row with fewer writes than known
// went back, and is not used: the database lacks everything since its last use.
func (t *tx) useLease(ctx context.Context, l Lease) error {
	return t.swapLease(ctx, l, `
		UPDATE leases SET used = $1 WHERE name = $2 AND holder = $3 AND token = $4 AND writes >= $5`,
		t.now, l.Name, l.Holder, l.Token, l.Writes)
}

// writeUnderLease is useLease with a compare-and-swap on the number of writes too.
func (t *tx) writeUnderLease(ctx context.Context, l Lease) error {
	return t.swapLease(ctx, l, `
		UPDATE leases SET used = $1, writes = writes + 1 WHERE name = $2 AND holder = $3 AND token = $4 AND writes = $5`,
		t.now, l.Name, l.Holder, l.Token, l.Writes)
}

// swapLease changes a lease's row, and returns why it cannot be used where there is none
// to change.
func (t *tx) swapLease(ctx context.Context, l Lease, update string, args ...any) error {
	if err := t.execFound(ctx, update, args...); !errors.Is(err, ErrNotFound) {
		return err
	}
	var stored Lease
	err := t.QueryRowContext(ctx, `SELECT holder, token, writes FROM leases WHERE name = $1`, l.Name).
		Scan(&stored.Holder, &stored.Token, &stored.Writes)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return fmt.Errorf("the lease is unknown: %w", ErrWentBack)
	case err != nil:
		return err
	case stored.Token < l.Token || stored.Writes < l.Writes || stored.Token == l.Token && stored.Holder != l.Holder:
		return fmt.Errorf("the lease is at write %d of token %d, after %d of %d: %w", stored.Writes, stored.Token, l.Writes, l.Token, ErrWentBack)
	}
	return ErrLeaseLost
}

// setLeaseEnd is for the transaction that has locked the lease's row.
const setLeaseEnd = `UPDATE leases SET expires = $1, session = $2 WHERE name = $3`

func (t *tx) endLease(ctx context.Context, l Lease, at time.Time) error {
	if err := t.useLease(ctx, l); err != nil {
		return err
	}
	return t.run(ctx, setLeaseEnd, at, l.Session, l.Name)
}
