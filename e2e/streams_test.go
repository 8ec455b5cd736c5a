//go:build e2e

package e2e_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyheat/keyheat/internal/testsupport/await"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/streamstest"
	"github.com/keyheat/keyheat/internal/testsupport/streamstest/model"
)

// TestStreamsOfMinistack writes through the SDK to a DynamoDB that others wrote
// and follows the stream to findings. The oracle is the same writes, done to a
// table of the fake that nobody reads.
func TestStreamsOfMinistack(t *testing.T) {
	t.Parallel() // it mostly waits
	endpoint := startMinistack(t)
	client := dynamodb.NewFromConfig(awsConfig(endpoint))
	makeStreamed(t, client)
	shadow := streamstest.New(streamstest.Options{}).CreateTable(streamed)
	w := newStreamsScenario(t, endpoint, 1)
	w.startCollectors(t)
	put := func(i model.Item) {
		t.Helper()
		if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("orders"), Item: asAttributes(i)}); err != nil {
			t.Fatal(err)
		}
		must.Succeed(t, shadow.Put(i))
	}
	random := rand.New(rand.NewPCG(seed, 7))
	statuses := []string{"", "paid", "sent", "back"}
	for i := range 300 {
		item := orderItem(fmt.Sprint("user#", random.IntN(40)), fmt.Sprint(random.IntN(3)), statuses[random.IntN(4)], random.IntN(3000))
		if random.IntN(2) == 0 {
			item["day"], item["shop"] = model.S("monday"), model.S(fmt.Sprint("shop", random.IntN(3)))
		}
		put(item)
		if i%20 == 0 {
			key := item.Only("pk", "sk")
			if _, err := client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String("orders"), Key: asAttributes(key)}); err != nil {
				t.Fatal(err)
			}
			must.Succeed(t, shadow.Delete(key))
		}
	}
	// 60 items of 100 units: within a second or two, also on a busy machine.
	for i := range 60 {
		put(orderItem("user#hot", fmt.Sprint(i), "open", 100_000))
	}
	o := newOracle(shadow, nil)
	w.matches(t, o, time.Minute)
	critical := func(f found) error {
		if f.Severity != "critical" || f.OverSeconds == 0 {
			return fmt.Errorf("%+v", f)
		}
		return nil
	}
	w.finding(t, "key_writes", "", "user#hot", critical)
	w.finding(t, "key_writes", "by-status", "open", critical)
	w.collectors[0].ready(t)
	w.collectors[0].stop(t)
	t.Logf("units by index: %v", o.accounts)
}

// makeStreamed makes the table orders through the SDK.
func makeStreamed(t *testing.T, client *dynamodb.Client) {
	t.Helper()
	in := &dynamodb.CreateTableInput{
		TableName: &streamed.Name, BillingMode: types.BillingModePayPerRequest, KeySchema: elements(streamed.Key),
		StreamSpecification: &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages},
	}
	for _, name := range []string{"pk", "sk", "status", "day", "shop"} {
		in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{AttributeName: aws.String(name), AttributeType: types.ScalarAttributeTypeS})
	}
	for _, x := range streamed.Indexes {
		projection := types.ProjectionTypeAll
		if x.Projection != "" {
			projection = types.ProjectionType(x.Projection)
		}
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
			IndexName: aws.String(x.Name), KeySchema: elements(x.Key), Projection: &types.Projection{ProjectionType: projection},
		})
	}
	if _, err := client.CreateTable(t.Context(), in); err != nil {
		t.Fatal(err)
	}
}

func elements(k model.Key) (all []types.KeySchemaElement) {
	for _, name := range k.Partition {
		all = append(all, types.KeySchemaElement{AttributeName: aws.String(name), KeyType: types.KeyTypeHash})
	}
	for _, name := range k.Sort {
		all = append(all, types.KeySchemaElement{AttributeName: aws.String(name), KeyType: types.KeyTypeRange})
	}
	return all
}

// asAttributes is an item of strings as the SDK takes it.
func asAttributes(i model.Item) map[string]types.AttributeValue {
	out := map[string]types.AttributeValue{}
	for name, v := range i {
		out[name] = &types.AttributeValueMemberS{Value: *v.S}
	}
	return out
}

// TestStreamsKilledCollectors writes to the fake for a minute while its shards
// split and roll over, and kills one of two collectors 20 times, each time while
// it reads. A third one is frozen until its shards are others', and wakes; and
// the table gets a new stream on the way.
func TestStreamsKilledCollectors(t *testing.T) {
	t.Parallel() // it mostly waits
	const kills = 20
	fake := streamstest.New(streamstest.Options{
		Seed: seed, Shards: 4, Lag: 500 * time.Millisecond, Delay: 300 * time.Millisecond, EmptyPages: 0.1, Throttles: 0.02, Errors: 0.01, PageRecords: 100,
	})
	table := fake.CreateTable(streamed)
	table.EnableStream(streamstest.NewAndOldImages)
	w := newStreamsScenario(t, serve(t, fake), 3)
	w.startCollectors(t)
	zombie := w.collectors[2]
	stop := make(chan struct{})
	var writing sync.WaitGroup
	writing.Go(func() { writeAndSplit(t, table, stop) })
	began := time.Now()
	random := rand.New(rand.NewPCG(seed, 3))
	for i := range kills {
		switch i {
		case 2:
			w.reading(t, fake, zombie.name)
			zombie.signal(t, syscall.SIGSTOP)
		case 10:
			table.DisableStream()
			table.EnableStream(streamstest.NewAndOldImages)
		}
		c := w.collectors[i%2]
		w.reading(t, fake, c.name)
		time.Sleep(time.Duration(random.IntN(1500)) * time.Millisecond)
		c.kill(t)
		time.Sleep(time.Duration(random.IntN(500)) * time.Millisecond)
		c.start(t)
	}
	close(stop)
	writing.Wait()
	lasted := time.Since(began)
	if lasted < 30*time.Second {
		t.Errorf("%d kills in %s: the frozen collector's lease may not have run out", kills, lasted)
	}
	zombie.signal(t, syscall.SIGCONT)
	// Between two streams a write has no record.
	o := newOracle(table, func(w model.Write) bool { return w.Stream != "" })
	w.matches(t, o, time.Minute)
	w.finding(t, "key_writes", "", "user#hot", o.hotAs("", "user#hot"))
	w.finding(t, "key_writes", "by-status", "open", o.hotAs("by-status", "open"))
	if lost := w.gaps(t); len(lost) > 0 {
		t.Errorf("gaps were recorded: %+v", lost)
	}
	for _, c := range w.collectors {
		c.ready(t)
		c.stop(t)
	}
	most, shard := fake.MostReaders()
	if most > 2 {
		t.Errorf("shard %s had %d readers at a time", shard, most)
	}
	if rate := fake.Rate("DescribeStream"); rate > 10 {
		t.Errorf("%d DescribeStream in a second", rate)
	}
	t.Logf("%d kills in %s, %d shards, %d records counted once, at most %d readers a shard; units by index: %v",
		kills, lasted.Round(time.Second), len(table.Shards()), len(table.Written()), most, o.accounts)
}

// writeAndSplit writes 200 small items a second, and in three of ten seconds
// 160 of 12 units to one key; every two seconds a shard splits or rolls over.
func writeAndSplit(t *testing.T, table *streamstest.Table, stop <-chan struct{}) {
	random := rand.New(rand.NewPCG(seed, 5))
	statuses := []string{"", "paid", "sent", "back"}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		for range 10 {
			item := orderItem(fmt.Sprint("user#", random.IntN(60)), fmt.Sprint(random.IntN(3)), statuses[random.IntN(4)], random.IntN(2000))
			if err := table.Put(item); err != nil {
				t.Error(err)
			}
		}
		for i := range 8 {
			if n%200 >= 60 {
				break
			}
			if err := table.Put(orderItem("user#hot", fmt.Sprint(n, "-", i), "open", 12_200)); err != nil {
				t.Error(err)
			}
		}
		if open := table.OpenShards(); n%40 == 39 {
			if id := open[random.IntN(len(open))]; len(open) < 10 {
				table.Split(id)
			} else {
				table.Roll(id)
			}
		}
	}
}

// reading waits until a process has got records since it was last started.
func (w *scenario) reading(t *testing.T, fake *streamstest.Fake, caller string) {
	t.Helper()
	since := fake.Now()
	within(t, await.Limit, caller+" reads", func() error {
		for _, c := range fake.Calls("GetRecords") {
			if c.Caller == caller && c.Records > 0 && c.Time.After(since) {
				return nil
			}
		}
		return errors.New("no records yet")
	})
}

// TestStreamsSaturation: a partition takes 1,000 units a second and refuses the
// rest, which no stream shows.
func TestStreamsSaturation(t *testing.T) {
	t.Parallel() // it mostly waits
	fake := streamstest.New(streamstest.Options{PartitionWrites: 1000})
	table := fake.CreateTable(streamed)
	table.EnableStream(streamstest.NewAndOldImages)
	base := fake.Now().Truncate(time.Second).Add(-10 * time.Second)
	for second := range 8 {
		for i := range 1300 {
			err := table.PutAt(base.Add(time.Duration(second)*time.Second), orderItem("user#hot", fmt.Sprint(second, "-", i), "", 10))
			if full := i >= 1000; (err != nil) != full {
				t.Fatalf("second %d, write %d: %v", second, i, err)
			}
		}
	}
	w := newStreamsScenario(t, serve(t, fake), 1)
	w.startCollectors(t)
	w.matches(t, newOracle(table, nil), time.Minute)
	f := w.finding(t, "key_writes", "", "user#hot", func(f found) error {
		if f.Severity != "critical" || f.OverSeconds != 0 || f.SaturatedSeconds < 3 {
			return fmt.Errorf("%+v", f)
		}
		return nil
	})
	w.collectors[0].stop(t)
	t.Logf("%d writes refused; %d seconds of a flat top, a peak of %.0f units", table.Refused(), f.SaturatedSeconds, f.Peak.WCU.Value)
}

// TestStreamsFrozenFor16Minutes freezes a collector until its iterators have
// expired.
func TestStreamsFrozenFor16Minutes(t *testing.T) {
	t.Parallel() // it mostly waits
	fake := streamstest.New(streamstest.Options{Shards: 2})
	fake.Advance(-16 * time.Minute) // collectors refuse records ahead of the store's clock
	table := fake.CreateTable(streamed)
	table.EnableStream(streamstest.NewAndOldImages)
	w := newStreamsScenario(t, serve(t, fake), 1)
	w.startCollectors(t)
	c := w.collectors[0]
	writeSome(t, fake, "user#hot")
	w.matches(t, newOracle(table, nil), time.Minute)
	c.signal(t, syscall.SIGSTOP)
	writeSome(t, fake, "user#while-frozen")
	fake.Advance(16 * time.Minute)
	c.signal(t, syscall.SIGCONT)
	writeSome(t, fake, "user#after")
	o := newOracle(table, nil)
	w.matches(t, o, time.Minute)
	for _, key := range []string{"user#hot", "user#while-frozen", "user#after"} {
		w.finding(t, "key_writes", "", key, o.hotAs("", key))
	}
	if lost := w.gaps(t); len(lost) > 0 {
		t.Errorf("gaps were recorded: %+v", lost)
	}
	expired := 0
	for _, call := range fake.Calls("GetRecords") {
		if call.Code == "ExpiredIteratorException" {
			expired++
		}
	}
	if expired == 0 || expired > 10 {
		t.Errorf("%d requests with an iterator that had expired, want one a shard", expired)
	}
	c.ready(t)
	c.stop(t)
}

// TestStreamsStoppedFor25Hours loses what was trimmed meanwhile, records it as
// gaps, and goes on with what is left. The fake's day ends ten minutes ago, because the
// daemons' clocks cannot be moved; a gap's beginning, which is theirs, is held
// by the source's own tests.
func TestStreamsStoppedFor25Hours(t *testing.T) {
	t.Parallel() // it mostly waits
	fake := streamstest.New(streamstest.Options{Shards: 2})
	fake.Advance(-25*time.Hour - 10*time.Minute)
	table := fake.CreateTable(streamed)
	table.EnableStream(streamstest.NewAndOldImages)
	w := newStreamsScenario(t, serve(t, fake), 1)
	w.startCollectors(t)
	c := w.collectors[0]
	writeSome(t, fake, "user#before")
	w.matches(t, newOracle(table, nil), time.Minute)
	c.stop(t)
	stopped := fake.Now()
	writeSome(t, fake, "user#lost")
	fake.Advance(65 * time.Minute)
	trimmed := fake.Now() // what is older is gone in the end
	writeSome(t, fake, "user#kept")
	fake.Advance(24*time.Hour - 5*time.Minute)
	writeSome(t, fake, "user#after")
	c.start(t)
	o := newOracle(table, func(w model.Write) bool { return w.Time.Before(stopped) || w.Time.After(trimmed) })
	w.matches(t, o, time.Minute)
	w.finding(t, "key_writes", "", "user#after", o.hotAs("", "user#after"))
	gaps := w.gaps(t)
	if len(gaps) != 2 {
		t.Errorf("%d gaps, want one for each of the two shards that were trimmed: %+v", len(gaps), gaps)
	}
	for _, g := range gaps {
		if g.Until == nil || g.Until.Before(stopped.Add(time.Second)) || g.Until.After(fake.Now()) {
			t.Errorf("a gap until %v; what is missing was written between %s and %s", g.Until, stopped, trimmed)
		}
	}
	kept := w.finding(t, "key_writes", "", "user#kept", func(f found) error {
		if len(f.Quality.Gaps) == 0 {
			return errors.New("it is not marked with the gap in which it may have begun")
		}
		return nil
	})
	for _, step := range w.history(t, kept) {
		if step.To == "firing" && step.Code != "too_old" {
			t.Errorf("yesterday's finding was reported: %+v", step)
		}
	}
	c.ready(t)
	c.stop(t)
}

// writeSome writes, in each of the two seconds that come, 100 items of 12 units
// to a key that is hot for it, and to every shard something.
func writeSome(t *testing.T, fake *streamstest.Fake, hot string) {
	t.Helper()
	table, first := fake.Table("orders"), fake.Now().Truncate(time.Second).Add(time.Second)
	for n := range 400 {
		i, at := n%200, first.Add(time.Duration(n/200)*time.Second)
		item := orderItem(fmt.Sprint("user#", i), "0", "paid", i)
		if i%2 == 0 {
			item = orderItem(hot, fmt.Sprint(n), "open", 12_200)
		} else {
			item["body"] = model.S(fmt.Sprint(hot, " ", n))
		}
		must.Succeed(t, table.PutAt(at, item))
	}
}
