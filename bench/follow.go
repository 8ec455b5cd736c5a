package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/keyheat/keyheat/internal/collect"
	"github.com/keyheat/keyheat/internal/source/kafka"
)

const (
	// catchUp is how long a contender has to reach the ends of its topic's partitions,
	// followFor how long it is measured after that.
	catchUp, followFor = 4 * time.Second, 6 * time.Second
	// produceEvery is how often records are produced.
	produceEvery = 10 * time.Millisecond
)

// live are topics to which records of 200 bytes come while they are read: so many
// partitions, and records a second in all.
var live = []struct {
	name       string
	partitions int32
	rate       int
}{
	{"busy", 32, 32_000},
	{"quiet", 200, 4_000},
}

func follows() group {
	g := group{name: "follow", unit: "record", prepare: startTraffic}
	for _, t := range live {
		ours, theirs := fmt.Sprintf("keyheat, %d partitions, %d/s", t.partitions, t.rate), fmt.Sprintf("franz-go, %d partitions, %d/s", t.partitions, t.rate)
		g.contenders = append(g.contenders,
			contender{name: ours, run: func(m *meter) error { return followWithKeyheat(m, t.name) }},
			contender{name: theirs, run: func(m *meter) error { return followWithFranz(m, t.name) }})
		g.figures = append(g.figures, figure{name: fmt.Sprintf("following %d partitions vs franz-go that only reads", t.partitions), ours: ours, theirs: theirs})
	}
	return g
}

// startTraffic starts a broker, and produces to its topics until it is ended.
func startTraffic() (environment []string, end func(), err error) {
	addr, stop, err := startBroker()
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, len(live))
	end = func() {
		cancel()
		for range live {
			if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
				fmt.Fprintln(os.Stderr, "follow: the producer failed, so that the figures mean nothing:", err)
			}
		}
		stop()
	}
	for _, t := range live {
		created := make(chan struct{})
		go func() { done <- produce(ctx, addr, t.name, t.partitions, t.rate, created) }()
		<-created
	}
	return []string{brokerVariable + "=" + addr}, end, nil
}

// produce creates a topic, and writes records of now to all of its partitions in turn until
// ctx ends.
func produce(ctx context.Context, addr, topic string, partitions int32, rate int, created chan<- struct{}) error {
	ready := sync.OnceFunc(func() { close(created) })
	defer ready()
	p, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.DefaultProduceTopic(topic), kgo.ProducerLinger(produceEvery),
		kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		return err
	}
	defer p.Close()
	if _, err := kadm.NewClient(p).CreateTopic(ctx, partitions, 1, nil, topic); err != nil {
		return err
	}
	ready()
	failed := make(chan error, 1)
	tick := time.NewTicker(produceEvery)
	defer tick.Stop()
	for i := 0; ; {
		select {
		case <-ctx.Done():
			return nil
		case err := <-failed:
			return err
		case <-tick.C:
		}
		now := time.Now().UnixMilli()
		for range rate / int(time.Second/produceEvery) {
			r := message(now, i)
			r.Partition = int32(i) % partitions
			i++
			p.Produce(ctx, r, func(_ *kgo.Record, err error) {
				if err != nil {
					select {
					case failed <- err:
					default:
					}
				}
			})
		}
	}
}

// follow measures what reads the topic, which tells how many records it has read.
func follow(m *meter, read func() int64) error {
	for began := time.Now(); read() == 0; time.Sleep(produceEvery) { // a new broker's first group takes seconds
		if time.Since(began) > time.Minute {
			return errors.New("nothing was read in a minute")
		}
	}
	time.Sleep(catchUp)
	before := read()
	m.start()
	time.Sleep(followFor)
	m.stop(int(read() - before))
	return nil
}

func followWithKeyheat(m *meter, topic string) error {
	c := collect.New(collect.Config{Source: "bench"}, new(nowhere), seed, quiet)
	k := kafka.New(kafka.Config{
		Brokers: []string{broker()}, Topics: []string{topic}, Group: fmt.Sprint("bench-", time.Now().UnixNano()),
	}, quiet)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 2)
	w := &watch{Sink: c, meter: new(meter), finish: func() {}, messages: -1}
	go func() { done <- c.Run(ctx) }()
	go func() { done <- k.Run(ctx, w) }()
	err := follow(m, w.count)
	cancel()
	return errors.Join(err, <-done, <-done)
}

func followWithFranz(m *meter, topic string) error {
	c, err := kgo.NewClient(kgo.SeedBrokers(broker()), kgo.ConsumeTopics(topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.FetchMaxPartitionBytes(1<<20))
	if err != nil {
		return err
	}
	var read atomic.Int64
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			fetches := c.PollFetches(context.Background())
			if fetches.IsClientClosed() {
				return
			}
			fetches.EachRecord(func(*kgo.Record) { read.Add(1) })
		}
	}()
	err = follow(m, read.Load)
	c.Close()
	<-done
	return err
}
