package storetest

import (
	"errors"
	"testing"

	"github.com/keyheat/keyheat/store"
)

var producers = []obligation{
	{"a producer's batch is stored once", producerOnce},
	{"a producer that sent nothing for long is forgotten", producerForgotten},
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
