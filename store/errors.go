package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Errors that callers branch on.
var (
	// ErrFenced: a position was no longer the caller's to move, or not where
	// the caller believed. The error is a *FencedError.
	ErrFenced = errors.New("fenced: another process owns the position")
	// ErrDuplicate: this (writer, seq) is already committed, or the writer is
	// already beyond it.
	ErrDuplicate = errors.New("this commit is already stored")
	// ErrLeaseLost: the lease was taken by another holder.
	ErrLeaseLost = errors.New("the lease is held by another")
	// ErrWentBack: the database was set back to an earlier state, by a failover or a
	// restore: the caller's memory of it is outdated.
	ErrWentBack = errors.New("the database went back to an earlier state")
	// ErrHeld: other readers have the partition.
	ErrHeld = errors.New("other readers have the partition")
	// ErrFormerLog: the log was replaced by another one of its name before.
	ErrFormerLog = errors.New("this log was replaced before: the answer that named it is out of date")
	// ErrSchemaNewer: the database was migrated by a newer version of Keyheat.
	ErrSchemaNewer = errors.New("the database's schema is newer than this program")
	// ErrSchemaOlder: the database has not been migrated yet.
	ErrSchemaOlder = errors.New("the database's schema is older than this program")
	// ErrUnavailable: the database is unreachable, starting, stopping or overloaded.
	// Wait and try again.
	ErrUnavailable = errors.New("the database is unavailable")
	// ErrAmbiguous: the connection was lost during COMMIT, so that the
	// transaction may or may not be stored; it always comes with
	// ErrUnavailable. After a Commit ask Committed; after a Judge take the
	// lease again and load cursors and findings as a fresh start would.
	ErrAmbiguous = errors.New("it is not known whether the transaction was committed")
	// ErrNotFound: there is no such row.
	ErrNotFound = errors.New("not found")
)

// FencedError lists the positions that a Commit could not move.
type FencedError struct {
	// Lost are the partitions whose compare-and-swap changed no row, in key
	// order. Nothing of the Commit is stored, for the other partitions either.
	Lost []PartitionID
}

// Error lists the lost partitions.
func (e *FencedError) Error() string {
	names := make([]string, len(e.Lost))
	for i, id := range e.Lost {
		names[i] = id.String()
	}
	return fmt.Sprintf("%v: %s", ErrFenced, strings.Join(names, ", "))
}

// Is makes errors.Is(err, ErrFenced) hold.
func (e *FencedError) Is(target error) bool { return target == ErrFenced }

type heldError struct {
	PartitionID
	// Readers have it, one of them on Host; Refused wanted it.
	Readers, Refused, Host string
}

// Error names the partition's owner, and the remedy.
func (e *heldError) Error() string {
	return fmt.Sprintf("%s is read by the group %q, of which a collector runs on host %q: a second group, %q, would count the same samples again; stop the collectors of one, or let all use the same group",
		e.PartitionID, e.Readers, e.Host, e.Refused)
}

// Is makes errors.Is(err, ErrHeld) hold.
func (e *heldError) Is(target error) bool { return target == ErrHeld }

// ConflictError lists notifications whose IDs are in the outbox already, with other
// payloads. Nothing that was to be written with them is stored.
type ConflictError struct{ IDs []string }

// Error lists the IDs.
func (e *ConflictError) Error() string {
	return "the outbox holds other notifications with the IDs " + strings.Join(e.IDs, ", ")
}

// wrap adds the action, and the real cause if it is not the statement: the caller
// stopped, or the database is unavailable, which a passed deadline means too.
func wrap(ctx context.Context, doing string, err error) error {
	switch {
	case err == nil:
		return nil
	case isClassified(err):
		return fmt.Errorf("%s: %w", doing, err)
	case errors.Is(ctx.Err(), context.Canceled):
		return fmt.Errorf("%s: %w: %w", doing, context.Canceled, err)
	case ctx.Err() != nil || unavailable(err):
		return fmt.Errorf("%s: %w: %w", doing, ErrUnavailable, err)
	}
	return fmt.Errorf("%s: %w", doing, err)
}

func isClassified(err error) bool {
	return slices.ContainsFunc([]error{
		ErrFenced, ErrDuplicate, ErrLeaseLost, ErrWentBack, ErrHeld, ErrFormerLog, ErrSchemaNewer, ErrSchemaOlder,
		ErrUnavailable, ErrNotFound, sql.ErrNoRows,
	}, func(own error) bool { return errors.Is(err, own) })
}

// ambiguous wraps the error of a COMMIT. Only a response of the server that the
// transaction failed is certain: everything else, the end of the caller's
// context too, leaves open whether the server received the COMMIT.
func ambiguous(err error) error {
	if pg, is := errors.AsType[*pgconn.PgError](err); is && pg.SeverityUnlocalized == "ERROR" {
		return err
	}
	if _, is := errors.AsType[*sqlite.Error](err); is {
		return err
	}
	return fmt.Errorf("%w: %w: %w", ErrUnavailable, ErrAmbiguous, err)
}

// retryable reports whether the same transaction may succeed at once: it was rolled back
// only because of a concurrent one.
func retryable(err error) bool {
	if pg, is := errors.AsType[*pgconn.PgError](err); is {
		return pg.Code == "40001" || pg.Code == "40P01"
	}
	return busy(err)
}

// busy reports SQLite's lock conflicts; the extended codes share the low byte.
func busy(err error) bool {
	var lite *sqlite.Error
	if !errors.As(err, &lite) {
		return false
	}
	code := lite.Code() & 0xff
	return code == sqlite3.SQLITE_BUSY || code == sqlite3.SQLITE_LOCKED
}

// unavailable reports whether the cause is outside the statement: the network,
// the server's state, or a resource that an operator will free.
func unavailable(err error) bool {
	if pg, is := errors.AsType[*pgconn.PgError](err); is {
		return unavailableCode(pg.Code)
	}
	if lite, is := errors.AsType[*sqlite.Error](err); is {
		return busy(err) || lite.Code()&0xff == sqlite3.SQLITE_FULL
	}
	var connect *pgconn.ConnectError
	var network net.Error
	return errors.As(err, &connect) || errors.As(err, &network) ||
		errors.Is(err, driver.ErrBadConn) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		pgconn.SafeToRetry(err) // the connection was closed before
}

// unavailableCode reads Postgres's SQLSTATE (appendix A of its manual).
func unavailableCode(code string) bool {
	switch code {
	case "57P01", "57P02", "57P03", "57P05": // shutting down, crashed, starting, idle
		return true
	case "25006": // read only: a standby, in the middle of a failover
		return true
	case "40001", "40P01": // serialization failures that outlasted the retries
		return true
	}
	// Class 08 is the connection, 53 a lack of memory, disk or connections.
	return strings.HasPrefix(code, "08") || strings.HasPrefix(code, "53")
}
