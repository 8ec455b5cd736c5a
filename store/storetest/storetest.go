// Package storetest is the store's contract as one suite of tests, which every
// engine has to pass. Each obligation is a function named after what must hold.
package storetest

import (
	"context"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// Open returns an empty, migrated store that is closed when the test ends.
type Open func(t *testing.T) *store.Store

// obligation is one sentence of the contract and its test.
type obligation struct {
	name  string
	check func(t *testing.T, s *store.Store)
}

// Run tests the contract, every obligation on a store of its own.
func Run(t *testing.T, open Open) {
	for _, contract := range [][]obligation{
		positions, claims, producers, commits, badSamples, gaps, reading, judging, heat, findings, incidents, outbox, leases, streams, tableFacts, cloudWatch, reports, targets, silences, retention, purging, text,
	} {
		for _, o := range contract {
			t.Run(o.name, func(t *testing.T) {
				t.Parallel()
				o.check(t, open(t))
			})
		}
	}
}

// byStatus is the index that most obligations are about.
var byStatus = sample.Target{Table: "orders", Index: "by-status"}

// noon is an event time; what it is does not matter.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 123456000, time.UTC)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func value[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		must(t, err)
		return v
	}
}

func equal[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\n got %+v\nwant %+v", what, got, want)
	}
}

// near checks that a time is about now on the database's clock.
func near(t *testing.T, what string, got time.Time) {
	t.Helper()
	if age := time.Since(got); age < -time.Minute || age > time.Minute {
		t.Errorf("%s is %s, which is not about now", what, got)
	}
}

func partition(n int) store.PartitionID {
	return store.PartitionID{Source: "kafka:keyheat/samples", Name: fmt.Sprint(n)}
}

func claim(t *testing.T, s *store.Store, writer string, n int) store.Position {
	t.Helper()
	return value[store.Position](t)(s.Claim(t.Context(), writer, store.Claim{PartitionID: partition(n), First: "0"}))
}

// commit is a delta of a writer that moves nothing.
func commit(t *testing.T, s *store.Store, writer string, seq int64) {
	t.Helper()
	must(t, s.Commit(t.Context(), store.Commit{
		Writer: writer, Seq: seq, Version: 1, Body: body(writer, seq),
	}))
}

func body(writer string, seq int64) []byte { return fmt.Appendf(nil, "%s/%d\x00\xff", writer, seq) }

func read(t *testing.T, s *store.Store, after map[string]int64) store.Snapshot {
	t.Helper()
	return value[store.Snapshot](t)(s.Read(t.Context(), after, store.ReadLimit{}))
}

// names are the deltas of a snapshot as "writer/seq".
func names(snap store.Snapshot) []string {
	var all []string
	for _, d := range snap.Deltas {
		all = append(all, fmt.Sprintf("%s/%d", d.Writer, d.Seq))
	}
	return all
}

// lead takes the judge's lease.
func lead(t *testing.T, s *store.Store, holder string) store.Lease {
	t.Helper()
	l, ok, err := s.AcquireLease(t.Context(), "judge", holder, time.Minute)
	must(t, err)
	if !ok {
		t.Fatalf("%s does not get the free lease", holder)
	}
	return l
}

func judge(t *testing.T, s *store.Store, j store.Judgement) {
	t.Helper()
	must(t, s.Judge(context.WithoutCancel(t.Context()), lead(t, s, "reporter"), j))
}
