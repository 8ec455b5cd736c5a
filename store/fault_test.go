package store_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/daemon"
	"github.com/keyheat/keyheat/internal/testsupport/await"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/pgtest"
	"github.com/keyheat/keyheat/store"
)

var shard = store.PartitionID{Source: "kafka:keyheat/samples", Name: "0"}

// TestAmbiguousCommitIsResolved cuts the line at COMMIT, once before it and
// once after it reached the server. The collector sees the same error; only
// (writer, seq) tells which it was.
func TestAmbiguousCommitIsResolved(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		plan   int32
		stored bool
	}{
		{"the COMMIT was lost", cutBefore, false},
		{"the answer was lost", cutAfter, true},
	} {
		for _, writer := range []string{"known", "new"} {
			t.Run(c.name+", "+writer+" writer", func(t *testing.T) {
				t.Parallel()
				line, url := newProxy(t, pgtest.Database(t))
				s := open(t, url)
				if writer == "known" {
					check(t, s.StartWriter(t.Context(), store.Writer{ID: writer, Started: time.Now()}))
				}
				p, err := s.Claim(t.Context(), writer, store.Claim{PartitionID: shard, First: "0"})
				check(t, err)
				delta := store.Commit{Writer: writer, Seq: 1, Body: []byte("delta"),
					Moves: []store.Move{{PartitionID: shard, Epoch: p.Epoch, From: "0", To: "7"}}}

				line.plan.Store(c.plan)
				err = s.Commit(t.Context(), delta)
				if !errors.Is(err, store.ErrAmbiguous) || !errors.Is(err, store.ErrUnavailable) {
					t.Fatalf("a line cut at COMMIT returns %v, want ErrAmbiguous and ErrUnavailable", err)
				}
				if line.cuts.Load() != 1 {
					t.Fatalf("the line was cut %d times, want once", line.cuts.Load())
				}
				stored, err := s.IsCommitted(t.Context(), writer, 1)
				check(t, err)
				if stored != c.stored {
					t.Errorf("committed is %t, want %t", stored, c.stored)
				}
				again := s.Commit(t.Context(), delta)
				if c.stored != errors.Is(again, store.ErrDuplicate) || !c.stored && again != nil {
					t.Errorf("the same commit again returns %v", again)
				}
				expectOnce(t, s, "7")
			})
		}
	}
}

// expectOnce looks for one delta and the position moved with it.
func expectOnce(t *testing.T, s *store.Store, position string) {
	t.Helper()
	snap, err := s.Read(t.Context(), nil, store.ReadLimit{})
	check(t, err)
	positions, err := s.Positions(t.Context(), shard.Source)
	check(t, err)
	if len(snap.Deltas) != 1 || positions[0].Next != position {
		t.Errorf("there are %d deltas and the position is %s, want 1 and %s",
			len(snap.Deltas), positions[0].Next, position)
	}
}

// TestCommittedWaitsForACommitUnderWay holds a first commit open in another
// session: an answer before its end could only be a guess.
func TestCommittedWaitsForACommitUnderWay(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	s := open(t, url)
	other, err := raw(t, url).BeginTx(t.Context(), nil)
	check(t, err)
	_, err = other.Exec(`
		INSERT INTO writers (writer, host, started, stopped, seen, last_seq, last_delta)
		VALUES ('a', '', now(), now(), now(), 1, 1)`)
	check(t, err)

	answer := make(chan bool, 1)
	go func() {
		stored, err := s.IsCommitted(t.Context(), "a", 1)
		answer <- stored && err == nil
	}()
	waitForLock(t, url)
	select {
	case stored := <-answer:
		t.Fatalf("Committed returned %t while the commit was under way", stored)
	default:
	}
	check(t, other.Commit())
	if !<-answer {
		t.Error("after its end the commit is not known")
	}
}

// TestLateCommitIsNotMissed lets the earlier delta become visible later: drawn
// first, committed last. A reader with one cursor over an ascending id misses
// it for ever; the cursors for each writer do not.
func TestLateCommitIsNotMissed(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	s, db := open(t, url), raw(t, url)
	_, err := db.Exec(`ALTER TABLE deltas ADD COLUMN id BIGINT GENERATED ALWAYS AS IDENTITY`)
	check(t, err)
	bad := []store.BadSample{{Hour: time.Now(), Source: "s", Reason: "r", Count: 1}}
	check(t, s.Commit(t.Context(), store.Commit{Writer: "slow", Seq: 1, Bad: bad}))

	// The slow writer's second commit writes its delta and then waits for the
	// row that we hold.
	lock, err := db.BeginTx(t.Context(), nil)
	check(t, err)
	_, err = lock.Exec(`SELECT count FROM bad_samples WHERE writer = 'slow' FOR UPDATE`)
	check(t, err)
	slow := make(chan error, 1)
	go func() {
		slow <- s.Commit(t.Context(), store.Commit{Writer: "slow", Seq: 2, Body: []byte("early"), Bad: bad})
	}()
	waitForLock(t, url)
	check(t, s.Commit(t.Context(), store.Commit{Writer: "fast", Seq: 1, Body: []byte("late")}))

	var lastID int
	check(t, db.QueryRow(`SELECT max(id) FROM deltas`).Scan(&lastID))
	first, err := s.Read(t.Context(), nil, store.ReadLimit{})
	check(t, err)
	check(t, lock.Commit())
	check(t, <-slow)

	var naive int
	check(t, db.QueryRow(`SELECT count(*) FROM deltas WHERE id > $1`, lastID).Scan(&naive))
	if naive != 0 {
		t.Errorf("id > last finds %d rows: this test no longer shows what it should", naive)
	}
	after := map[string]int64{}
	for _, d := range first.Deltas {
		after[d.Writer] = d.Seq
	}
	second, err := s.Read(t.Context(), after, store.ReadLimit{})
	check(t, err)
	if len(first.Deltas) != 1 || len(second.Deltas) != 1 || string(second.Deltas[0].Body) != "early" {
		t.Errorf("read %+v and then %+v, want the fast one's delta and then the slow one's",
			first.Deltas, second.Deltas)
	}
}

// waitForLock returns when a session of the database waits for another.
func waitForLock(t *testing.T, url string) {
	t.Helper()
	db := raw(t, url)
	await.Until(t, "a transaction waits for a lock", func() bool {
		var waiting int
		check(t, db.QueryRow(`
			SELECT count(*) FROM pg_stat_activity
			WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&waiting))
		return waiting > 0
	})
}

// TestKilledServerIsWaitedFor kills Postgres under commits that go on. Every
// error must say that waiting helps, and in the end every delta must be there
// once.
func TestKilledServerIsWaitedFor(t *testing.T) {
	t.Parallel()
	server := pgtest.Run(t)
	s := open(t, server.URL("postgres"))
	p, err := s.Claim(t.Context(), "a", store.Claim{PartitionID: shard, First: "0"})
	check(t, err)
	wake := s.Listen(t.Context())
	const kills, last = 3, 300
	done := make(chan error, 1)
	reached := make(chan int64, last)
	go func() { done <- persist(t.Context(), s, p, last, reached) }()
	for seq := range reached {
		if seq%(last/(kills+1)) == 0 && seq < last {
			check(t, server.Kill())
			check(t, server.Start(t.Context()))
		}
	}
	check(t, <-done)

	snap, err := s.Read(t.Context(), nil, store.ReadLimit{Deltas: 2 * last})
	for errors.Is(err, store.ErrUnavailable) { // connections from before the last kill
		snap, err = s.Read(t.Context(), nil, store.ReadLimit{Deltas: 2 * last})
	}
	check(t, err)
	for i, d := range snap.Deltas {
		if d.Seq != int64(i+1) {
			t.Fatalf("delta %d has number %d", i+1, d.Seq)
		}
	}
	positions, err := s.Positions(t.Context(), "")
	check(t, err)
	if len(snap.Deltas) != last || positions[0].Next != fmt.Sprint(last) {
		t.Errorf("there are %d deltas and the position is %s, want %d", len(snap.Deltas), positions[0].Next, last)
	}
	expectWake(t, s, wake)
}

// persist commits as a collector does: it waits while the database is away and
// asks about what is ambiguous.
func persist(ctx context.Context, s *store.Store, p store.Position, last int64, reached chan<- int64) error {
	defer close(reached)
	for seq := int64(1); seq <= last; {
		to := fmt.Sprint(seq)
		err := s.Commit(ctx, store.Commit{Writer: "a", Seq: seq, Body: []byte(to),
			Moves: []store.Move{{PartitionID: shard, Epoch: p.Epoch, From: p.Next, To: to}}})
		stored := err == nil
		for errors.Is(err, store.ErrUnavailable) && !stored {
			daemon.Pause(ctx, 5*time.Millisecond)
			var asked error
			if stored, asked = s.IsCommitted(ctx, "a", seq); asked == nil {
				break
			} else if !errors.Is(asked, store.ErrUnavailable) {
				return asked
			}
		}
		switch {
		case stored:
			reached <- seq
			p.Next, seq = to, seq+1
		case !errors.Is(err, store.ErrUnavailable):
			return err
		}
	}
	return nil
}

// expectWake commits until a listener that lost its connection hears again.
func expectWake(t *testing.T, s *store.Store, wake <-chan struct{}) {
	t.Helper()
	for len(wake) > 0 {
		<-wake
	}
	check(t, s.Commit(t.Context(), store.Commit{Writer: "b", Seq: 1, Body: []byte{1}}))
	select {
	case <-wake:
	case <-time.After(await.Limit):
		t.Error("the listener does not hear after the server's restart")
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	must.Succeed(t, err)
}
