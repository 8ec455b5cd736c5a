package awssdk_test

import (
	"context"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/awssdk"
)

// partition is a DynamoDB that serves so many writes of a second and throttles the
// others because of their key range.
type partition struct {
	mu       sync.Mutex
	limit    int
	served   map[int64]int
	attempts int
}

func (p *partition) Do(request *http.Request) (*http.Response, error) {
	_, _ = io.Copy(io.Discard, request.Body)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.attempts++
	second := time.Now().Unix()
	status, body := http.StatusOK, `{"ConsumedCapacity":{"TableName":"orders","CapacityUnits":1}}`
	if p.served[second]++; p.served[second] > p.limit {
		status = http.StatusBadRequest
		body = `{"__type":"com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException","message":"throttled",` +
			`"ThrottlingReasons":[{"reason":"TableWriteKeyRangeThroughputExceeded","resource":"arn:aws:dynamodb:eu-west-1:123456789012:table/orders"}]}`
	}
	return &http.Response{
		StatusCode: status, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
		Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}, "X-Amzn-Requestid": {"R1"}}, Request: request,
	}, nil
}

// exponential backs off from a time on, twice as long each time, up to 20 seconds, each
// drawn from nothing to that.
func exponential(r *rand.Rand, from time.Duration) retry.BackoffDelayer {
	var mu sync.Mutex
	return retry.BackoffDelayerFunc(func(attempt int, _ error) (time.Duration, error) {
		mu.Lock()
		defer mu.Unlock()
		most := min(20*time.Second, from<<min(attempt, 20))
		return time.Duration(r.Float64() * float64(most)), nil
	})
}

// TestDemandUnderRetries asks a partition for half as much again as it serves, under each
// way in which clients try again: what records show as demand is what programs asked
// for, second for second, however often it was tried.
func TestDemandUnderRetries(t *testing.T) {
	t.Parallel()
	const limit, offered, seconds, window = 20, 30, 60, 10
	for _, c := range []struct {
		name      string
		attempts  int
		from      time.Duration
		unbounded bool // no quota of retries, as of legacy clients
	}{
		{"legacy: 25 ms, 10 retries", 11, 25 * time.Millisecond, true},
		{"standard: 100 ms, 3 attempts", 3, 100 * time.Millisecond, false},
		{"the default from November 2026: 1 s, 4 attempts", 4, time.Second, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				random := rand.New(rand.NewPCG(1, 7))
				table := &partition{limit: limit, served: map[int64]int{}}
				cfg := config(table)
				cfg.Retryer = func() aws.Retryer {
					return retry.NewStandard(func(o *retry.StandardOptions) {
						o.MaxAttempts, o.Backoff = c.attempts, exponential(random, c.from)
						if c.unbounded {
							o.RateLimiter = unlimited{}
						}
					})
				}
				sink := &kept{}
				sampler, err := awssdk.Instrument(&cfg, awssdk.Options{Sink: sink, Tables: sample.Schemas{"orders": {KeySchema: sample.Keys("pk")}}})
				if err != nil {
					t.Fatal(err)
				}
				client := dynamodb.NewFromConfig(cfg)
				began := time.Now().Unix()
				var wanted [seconds / window]float64
				var running sync.WaitGroup
				for s := range seconds {
					for range offered {
						wanted[s/window]++
						running.Go(func() {
							_, _ = client.PutItem(t.Context(), &dynamodb.PutItemInput{
								TableName: aws.String("orders"), Item: map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "k"}},
								ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
							})
						})
						time.Sleep(time.Second / offered)
					}
					// No rounding moves a request into another second.
					time.Sleep(time.Until(time.Unix(began+int64(s)+1, 0)))
				}
				running.Wait()
				if err := sampler.Close(t.Context()); err != nil {
					t.Fatal(err)
				}
				var demand [seconds / window]float64
				var refused int64
				for _, r := range sink.records {
					at := (r.Time/1000 - began) / window
					if at < 0 || at >= int64(len(demand)) {
						t.Fatalf("a record of second %d", r.Time/1000-began)
					}
					demand[at] += float64(r.WCU) / 1000 * float64(r.N)
					if r.Throttle != "" {
						refused += r.N
					}
				}
				for i := range demand {
					if math.Abs(demand[i]-wanted[i]) > 0.05*wanted[i] {
						t.Errorf("from second %d on the demand is %v, and programs asked for %v", i*window, demand[i], wanted[i])
					}
				}
				if amplified := float64(table.attempts) / (offered * seconds); amplified < 1.1 || refused == 0 {
					t.Errorf("%.2f attempts a request, %d throttled", amplified, refused)
				} else {
					t.Logf("%.2f attempts a request, %d throttled", amplified, refused)
				}
			})
		})
	}
}

// unlimited is a client without a quota of retries.
type unlimited struct{}

func (unlimited) GetToken(context.Context, uint) (func() error, error) {
	return func() error { return nil }, nil
}
func (unlimited) AddTokens(uint) error { return nil }
