//go:build e2e

package e2e_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/keyheat/keyheat/internal/testsupport/await"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/awssdk"
	"github.com/keyheat/keyheat/sample/kafkasink"
)

// TestMiddlewareIsInvisibleAndRecordsEveryCall runs one program against a
// DynamoDB three times: bare, with the middleware, and with the middleware
// requesting consumed capacity. Its results are the same, and the records are its calls.
func TestMiddlewareIsInvisibleAndRecordsEveryCall(t *testing.T) {
	t.Parallel() // it mostly waits
	proxy := newThrottler(t, startMinistack(t))
	client := dynamodb.NewFromConfig(awsConfig(proxy.url))
	bare := runProgram(t, proxy, client, nil)

	for _, ask := range []bool{false, true} {
		var records []sample.Record
		cfg := awsConfig(proxy.url)
		sampler, err := awssdk.Instrument(&cfg, awssdk.Options{
			Sink: awssdk.SinkFunc(func(_ context.Context, r []sample.Record) error {
				records = append(records, r...)
				return nil
			}),
			AskCapacity: ask, Tables: ordersSchema,
		})
		must.Succeed(t, err)
		tapped := runProgram(t, proxy, dynamodb.NewFromConfig(cfg), client)
		must.Succeed(t, sampler.Close(t.Context()))
		for i, d := range apiCalls {
			if tapped[i] != bare[i] {
				t.Errorf("%s, asking %v: the program gets\n%s, without the middleware\n%s", d.name, ask, tapped[i], bare[i])
			}
		}
		stats := sampler.Stats()
		if stats.Panics+stats.Dropped+stats.UnknownKeys+stats.NotReadable != 0 || stats.Failed != 1 || stats.Sent != stats.Records {
			t.Errorf("counted %+v", stats)
		}
		if !ask {
			compareCalls(t, records)
		}
	}
}

var ordersSchema = sample.Schemas{"orders": {
	KeySchema: sample.Keys("pk", "sk"), Indexes: map[string]sample.IndexSchema{"by-status": {KeySchema: sample.Keys("status")}},
}}

// runProgram makes every call on a new table. The table is made by the other
// client, when there is one.
func runProgram(t *testing.T, proxy *throttler, client, maker *dynamodb.Client) (outcomes []string) {
	t.Helper()
	if maker == nil {
		maker = client
	}
	newOrders(t, maker)
	for _, d := range apiCalls {
		if d.arm != nil {
			d.arm(proxy)
		}
		outcomes = append(outcomes, outcome(d.do(t.Context(), client)))
	}
	return outcomes
}

// compareCalls compares the records with what the program did, whichever
// seconds they fell in.
func compareCalls(t *testing.T, records []sample.Record) {
	t.Helper()
	got, want := map[string]int64{}, map[string]int64{}
	for _, r := range records {
		key := r.PK.Text
		if r.Index != "" {
			key += "@" + r.Index
		}
		got[strings.TrimRight(fmt.Sprintf("%s %s %v %v %s", key, r.Op, float64(r.RCU)/1000, float64(r.WCU)/1000, r.Throttle), " ")] += r.N
	}
	for _, d := range apiCalls {
		for _, line := range d.want {
			words := strings.Split(line, " ")
			var n int64
			if _, err := fmt.Sscan(words[4], &n); err != nil {
				t.Fatal(err)
			}
			want[strings.Join(slices.Delete(words, 4, 5), " ")] += n
		}
	}
	for line, n := range want {
		if got[line] != n {
			t.Errorf("%q: %d requests, the program made %d", line, got[line], n)
		}
	}
	for line, n := range got {
		if want[line] == 0 {
			t.Errorf("%q: %d requests that the program did not make", line, n)
		}
	}
}

// TestFromAProgramToAFinding makes a key hot with items of 350 KB, three of which are too
// much for a second, until the finding is there.
func TestFromAProgramToAFinding(t *testing.T) {
	t.Parallel() // it mostly waits
	const topic = "program"
	w := newScenario(t, topic)
	w.startCollectors(t)
	cfg := awsConfig(startMinistack(t))
	newOrders(t, dynamodb.NewFromConfig(cfg))
	sink := kafkasink.New(kafkasink.Options{Brokers: []string{w.kafka.Addr}, Topic: topic})
	sampler, err := awssdk.Instrument(&cfg, awssdk.Options{Sink: sink, DescribeTables: true})
	must.Succeed(t, err)
	client := dynamodb.NewFromConfig(cfg)
	i := 0
	within(t, await.Limit, "the hot key is found", func() error {
		for range 10 {
			i++
			for _, it := range []map[string]int{{"n": 1, "bytes": 350 << 10}, {"n": 2 + i%50, "bytes": 100}} {
				if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: orders, Item: order(it["n"], it["bytes"])}); err != nil {
					t.Fatal(err)
				}
			}
		}
		found := w.findings(t)
		if len(found) != 1 || found[0].Key != "user#1" || found[0].Subject != "key_writes" || found[0].Severity != "critical" || found[0].Shards < 2 {
			return fmt.Errorf("findings %+v", found)
		}
		return nil
	})
	must.Succeed(t, sampler.Close(t.Context()))
	if err := sink.Close(); err != nil {
		t.Error(err)
	}
	stats := sampler.Stats()
	t.Logf("%+v", stats)
	if stats.Sent+stats.UnknownKeys != stats.Requests {
		t.Errorf("counted %+v", stats)
	}
	within(t, await.Limit, "the stored requests are the program's", func() error {
		got, err := w.totals()
		if err == nil && got.requests != stats.Sent {
			err = fmt.Errorf("stored %d, sent %d", got.requests, stats.Sent)
		}
		return err
	})
}
