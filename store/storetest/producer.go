package storetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

var producers = []obligation{
	{"a producer's batch is stored once", producerOnce},
	{"a producer that sent nothing for long is forgotten", producerForgotten},
	{"the oldest tables are the first stored", oldestTargets},
	{"the producers that have been idle the longest give way", producerRoom},
}

// send commits one batch of a producer that two collectors may have.
func send(t *testing.T, s *store.Store, writer string, seq int64, from, to string) error {
	return s.Commit(t.Context(), store.Commit{Writer: writer, Seq: seq, Version: 1, Body: body(writer, seq), Moves: []store.Move{
		{PartitionID: store.PartitionID{Source: store.Push, Name: "producer/p"}, From: from, To: to, Mark: "m" + to}}})
}

func producerOnce(t *testing.T, s *store.Store) {
	producer := func() store.Position { return value[store.Position](t)(s.Producer(t.Context(), "producer/p")) }
	equal(t, "next of a new producer", producer().Next, "")
	must(t, send(t, s, "a", 1, "", "2"))
	if err := send(t, s, "b", 1, "", "2"); !errors.Is(err, store.ErrFenced) {
		t.Errorf("another collector stores the first batch again: %v", err)
	}
	equal(t, "next", producer().Next, "2")
	must(t, send(t, s, "b", 2, "2", "3"))
	if err := send(t, s, "a", 2, "2", "3"); !errors.Is(err, store.ErrFenced) {
		t.Errorf("another collector stores the second batch again: %v", err)
	}
	equal(t, "next and mark", []string{producer().Next, producer().Mark}, []string{"3", "m3"})
	equal(t, "deltas", names(read(t, s, nil)), []string{"a/1", "b/2"})
	equal(t, "watermarks", len(read(t, s, nil).Watermarks), 0)
}

func producerForgotten(t *testing.T, s *store.Store) {
	must(t, send(t, s, "a", 1, "", "2"))
	equal(t, "pruned while young", prune(t, s, store.Retention{})["positions"], int64(0))
	equal(t, "pruned", prune(t, s, store.Retention{Producers: soon})["positions"], int64(1))
	equal(t, "next", value[store.Position](t)(s.Producer(t.Context(), "producer/p")).Next, "")
}

// producerRoom holds that names are counted by their prefix, and that only idle names whose
// newest batch cannot count again give way, the oldest first.
func producerRoom(t *testing.T, s *store.Store) {
	const idle = -time.Minute // every name is
	room := func(prefix string, most int64, idle time.Duration) int64 {
		return value[int64](t)(s.ProducerRoom(t.Context(), prefix, most, idle))
	}
	add := func(seq int64, name, mark string) {
		must(t, s.Commit(t.Context(), store.Commit{Writer: "a", Seq: seq, Moves: []store.Move{
			{PartitionID: store.PartitionID{Source: store.Push, Name: name}, To: "2", Mark: mark}}}))
	}
	add(1, "user@ärger%/untimed", "m")
	for i := range int64(3) {
		add(2+i, fmt.Sprint("user@ärger%/", i), store.TimedMark+"m")
	}
	add(5, "user@b/0", store.TimedMark+"m")
	equal(t, "room", room("user@ärger%/", 10, idle), int64(6))
	equal(t, "another user's room", room("user@b/", 10, idle), int64(9))
	equal(t, "room without idle names", room("user@ärger%/", 4, time.Hour), int64(0))
	equal(t, "room when one gives way", room("user@ärger%/", 4, idle), int64(1))
	for name, next := range map[string]string{"untimed": "2", "0": "", "1": "2", "2": "2"} {
		equal(t, "next of "+name, value[store.Position](t)(s.Producer(t.Context(), "user@ärger%/"+name)).Next, next)
	}
	equal(t, "room when all give way", room("user@ärger%/", 1, idle), int64(0))
	equal(t, "name of the second choice", value[store.Position](t)(s.Producer(t.Context(), "x", "user@b/0")).Name, "user@b/0")
	equal(t, "name of a new one", value[store.Position](t)(s.Producer(t.Context(), "x", "y")).Name, "x")
}

func oldestTargets(t *testing.T, s *store.Store) {
	var want []sample.Target
	for _, name := range []string{"users", "carts", "orders"} {
		of := sample.Target{Account: "123456789012", Region: "eu-west-1", Table: name}
		must(t, s.PutTableFacts(t.Context(), of, []byte(`{}`)))
		want = append(want, of)
	}
	equal(t, "all", value[[]sample.Target](t)(s.OldestTargets(t.Context(), 10)), want)
	equal(t, "the oldest two", value[[]sample.Target](t)(s.OldestTargets(t.Context(), 2)), want[:2])
}
