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

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/board"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/awssdk"
	"github.com/keyheat/keyheat/sketch"
)

// partition is a DynamoDB that serves so many writes of a second and throttles the
// others because of their key range, each after some milliseconds.
type partition struct {
	mu       sync.Mutex
	limit    int
	served   map[int64]int
	attempts int
}

// latency is how long an attempt takes.
const latency = 3 * time.Millisecond

func (p *partition) Do(request *http.Request) (*http.Response, error) {
	_, _ = io.Copy(io.Discard, request.Body)
	status := p.decide()
	time.Sleep(latency)
	body := `{"ConsumedCapacity":{"TableName":"orders","CapacityUnits":1}}`
	if status != http.StatusOK {
		body = `{"__type":"com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException","message":"throttled",` +
			`"ThrottlingReasons":[{"reason":"TableWriteKeyRangeThroughputExceeded","resource":"arn:aws:dynamodb:eu-west-1:123456789012:table/orders"}]}`
	}
	return &http.Response{
		StatusCode: status, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
		Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}, "X-Amzn-Requestid": {"R1"}}, Request: request,
	}, nil
}

func (p *partition) decide() (status int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.attempts++
	second := time.Now().Unix()
	if p.served[second]++; p.served[second] > p.limit {
		return http.StatusBadRequest
	}
	return http.StatusOK
}

// exponential backs off with full jitter: a delay between zero and a bound that doubles with
// each attempt, up to 20 seconds.
func exponential(r *rand.Rand, from time.Duration) retry.BackoffDelayer {
	var mu sync.Mutex
	return retry.BackoffDelayerFunc(func(attempt int, _ error) (time.Duration, error) {
		mu.Lock()
		defer mu.Unlock()
		most := min(20*time.Second, from<<min(attempt, 20))
		return time.Duration(r.Float64() * float64(most)), nil
	})
}

// toll sums the cost of retries as the programs see it.
type toll struct {
	calls, failed int64
	waited        time.Duration
}

// TestDemandUnderRetries asks a partition for 1.5 times its limit, under each retry strategy.
// In every second the records' load equals the load that the programs requested, however often
// they tried. The records' waiting times and failures equal the programs' own.
func TestDemandUnderRetries(t *testing.T) {
	t.Parallel()
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
				demandUnder(t, func() aws.Retryer {
					return retry.NewStandard(func(o *retry.StandardOptions) {
						o.MaxAttempts, o.Backoff = c.attempts, exponential(random, c.from)
						if c.unbounded {
							o.RateLimiter = unlimited{}
						}
					})
				})
			})
		})
	}
}

// TestDemandUnderTheSDKsNewRetries repeats it with the SDK's new default from November 2026,
// behind an environment variable until then.
func TestDemandUnderTheSDKsNewRetries(t *testing.T) {
	t.Setenv("AWS_NEW_RETRIES_2026", "true")
	synctest.Test(t, func(t *testing.T) {
		own := demandUnder(t, nil).Options().Retryer
		longest := func(of error) (most time.Duration) {
			for range 100 {
				delay, err := own.RetryDelay(0, of)
				must.Succeed(t, err)
				most = max(most, delay)
			}
			return most
		}
		throttled, other := longest(&types.ProvisionedThroughputExceededException{}), longest(&types.InternalServerError{})
		if own.MaxAttempts() != 4 || throttled < time.Second/2 || other > 25*time.Millisecond {
			t.Errorf("the new mode is off: %d attempts, %v between them when throttled and %v otherwise", own.MaxAttempts(), throttled, other)
		}
	})
}

// demandUnder compares the records with the programs' own counts, for one retry strategy (nil
// for the SDK's default), and returns the client.
func demandUnder(t *testing.T, retryer func() aws.Retryer) *dynamodb.Client {
	t.Helper()
	const limit, offered, seconds, window = 20, 30, 60, 10
	table := &partition{limit: limit, served: map[int64]int{}}
	cfg := config(table)
	cfg.Retryer = retryer
	sink := &kept{}
	sampler, err := awssdk.Instrument(&cfg, awssdk.Options{Sink: sink, Caller: "reindex", Tables: sample.Schemas{"orders": {KeySchema: sample.Keys("pk")}}})
	must.Succeed(t, err)
	client := dynamodb.NewFromConfig(cfg)
	began := time.Now().Unix()
	var wanted [seconds / window]float64
	var running sync.WaitGroup
	var mu sync.Mutex
	var paid toll
	for s := range seconds {
		for range offered {
			wanted[s/window]++
			running.Go(func() {
				sent := time.Now()
				_, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{
					TableName: aws.String("orders"), Item: map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "k"}},
					ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
				})
				mu.Lock()
				defer mu.Unlock()
				paid.calls++
				paid.waited += time.Since(sent) - latency // minus the duration of one attempt
				if err != nil {
					paid.failed++
				}
			})
			time.Sleep(time.Second / offered)
		}
		// No rounding moves a request into another second.
		time.Sleep(time.Until(time.Unix(began+int64(s)+1, 0)))
	}
	running.Wait()
	must.Succeed(t, sampler.Close(t.Context()))
	var demand [seconds / window]float64
	var refused int64
	var told sample.Sent
	for _, r := range sink.records {
		at := (r.Time/1000 - began) / window
		if at < 0 || at >= int64(len(demand)) {
			t.Fatalf("a record of second %d", r.Time/1000-began)
		}
		demand[at] += float64(r.WCU) / 1000 * float64(r.N)
		if r.Throttle != "" {
			refused += r.N
		}
		if sent, tells := r.SentCalls(); tells {
			told = told.Plus(sent)
		}
	}
	if told.Calls != 1000*paid.calls || told.Attempts != 1000*int64(table.attempts) || told.Failed != 1000*paid.failed {
		t.Errorf("records tell %+v, programs made %d calls of %d attempts, and %d of them failed", told, paid.calls, table.attempts, paid.failed)
	}
	if waited := time.Duration(told.Waited) * time.Millisecond; (waited - paid.waited).Abs() > paid.waited/20 {
		t.Errorf("records tell that programs waited %v, it was %v", waited, paid.waited)
	} else {
		t.Logf("programs waited %v in retries, records tell %v; %d requests failed", paid.waited, waited, paid.failed)
	}
	paid.isFound(t, sink.records, began, seconds)
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
	return client
}

// isFound passes the records to a judge, with items so large that a partition serves 20 a
// second. The finding has the programs' waiting times and failures.
func (paid *toll) isFound(t *testing.T, records []sample.Record, began int64, seconds int) {
	t.Helper()
	b := board.New(board.Options{})
	b.Settle(began-1, true)
	shard := sketch.NewShard(sketch.Config{})
	for _, r := range records {
		r.WCU *= 50
		must.Succeed(t, shard.Add(&r))
	}
	d := sketch.NewDelta(sketch.Config{})
	shard.Seal(d)
	whole := map[int64]*sketch.Window{} // of records that came late, the second was open again
	for i := range d.Windows {
		w := &d.Windows[i]
		if known := whole[w.Second]; known != nil {
			known.Merge(w)
		} else {
			whole[w.Second] = w
		}
	}
	for s := range int64(seconds) {
		b.Observe(whole[began+s])
		b.Settle(began+s, true)
	}
	for _, f := range b.Findings() {
		if f.Subject != detect.KeyWrites {
			continue
		}
		r := f.Evidence.Retries
		if r == nil || r.Seconds != seconds || r.Estimated || r.Partial || len(r.Callers) != 1 || r.Callers[0].Caller != "reindex" {
			t.Fatalf("the finding says %+v of the programs' calls", r)
		}
		if math.Abs(r.Calls-float64(paid.calls)) > 0.01*float64(paid.calls) || r.Failed.Value != float64(paid.failed) || r.Callers[0].Failed != r.Failed.Value {
			t.Errorf("the finding says %+v, programs made %d calls, and %d of them failed", *r, paid.calls, paid.failed)
		}
		if math.Abs(r.Waited.Value-paid.waited.Seconds()) > 0.05*paid.waited.Seconds() {
			t.Errorf("the finding says that programs waited %v s, it was %v", r.Waited.Value, paid.waited)
		}
		if f.Shards != 3 {
			t.Errorf("%d shards for a demand of 1,500 write units a second", f.Shards)
		}
		return
	}
	t.Error("nothing is found")
}

// unlimited is a client without a quota of retries.
type unlimited struct{}

func (unlimited) GetToken(context.Context, uint) (func() error, error) {
	return func() error { return nil }, nil
}
func (unlimited) AddTokens(uint) error { return nil }
