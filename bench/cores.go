package main

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/keyheat/keyheat/internal/collect"
	"github.com/keyheat/keyheat/internal/source"
)

const (
	// inMemory is how many messages there are, of memoryRate requests a second, as a
	// collector has that needs a second core. inChunk of them are counted at a time: some
	// 1 MiB, as much as a fetch has.
	inMemory, memoryRate, inChunk = 2_000_000, 500_000, 5_000
	memoryPartitions              = 8
)

// cores compares collectors of one core and of two whose messages are in memory: beside a
// broker on the same machine no second core would be free.
func cores() group {
	return group{
		name: "cores", unit: "record", wall: true,
		contenders: []contender{
			{name: "eight partitions in memory, one core", run: collectMemory, cores: 1},
			{name: "eight partitions in memory, two cores", run: collectMemory, cores: 2},
		},
		figures: []figure{{
			name: "two cores, eight partitions in memory, vs one core", goal: 1.8,
			ours: "eight partitions in memory, two cores", theirs: "eight partitions in memory, one core",
		}},
	}
}

// collectMemory takes messages through the collector's whole pipeline but its source, up
// to the last commit.
func collectMemory(m *meter) error {
	start := time.Now().Add(-time.Hour).UnixMilli()
	var messages [memoryPartitions][]source.Message
	for i := range inMemory {
		r := message(start+1000*int64(i)/memoryRate, i)
		messages[i%memoryPartitions] = append(messages[i%memoryPartitions], source.Message{Value: r.Value, Time: r.Timestamp.UnixMilli()})
	}
	kept := new(nowhere)
	c := collect.New(collect.Config{Source: "bench"}, kept, seed, quiet)
	committing, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Run(committing) }()
	m.start()
	var reading sync.WaitGroup
	failed := make([]error, memoryPartitions)
	for p := range messages {
		reading.Go(func() { failed[p] = foldAll(c, strconv.Itoa(p), messages[p]) })
	}
	reading.Wait()
	stop()
	err := errors.Join(append(failed, <-done)...)
	m.stop(inMemory)
	if err == nil && kept.bytes == 0 {
		err = errors.New("it stored nothing")
	}
	return err
}

// foldAll claims a partition, counts its messages in chunks, and releases it.
func foldAll(sink source.Sink, name string, messages []source.Message) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	p, err := sink.Claim(ctx, source.Claim{Partition: name, First: "0", Log: source.Log{ID: "memory", Start: "0", Partitions: memoryPartitions}})
	if err != nil {
		return err
	}
	nobody := func() bool { return false } // wants memory
	for at := 0; at < len(messages); at += inChunk {
		chunk := messages[at:min(at+inChunk, len(messages))]
		next := at + len(chunk)
		err := p.Fold(ctx, source.Batch{
			Messages: func(yield func(source.Message) bool) {
				for i := range chunk {
					if !yield(chunk[i]) {
						return
					}
				}
			},
			Next: strconv.Itoa(next), Time: chunk[len(chunk)-1].Time, End: next == len(messages), Lag: int64(len(messages) - next),
			Bytes: 200 * len(chunk), Wanted: nobody,
		})
		if err != nil {
			return err
		}
	}
	return p.Release(ctx)
}
