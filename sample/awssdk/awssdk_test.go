package awssdk_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyheat/keyheat/internal/testsupport/await"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/awssdk"
)

// instrument makes a client whose every request is answered alike.
func instrument(t *testing.T, options awssdk.Options, responses ...response) (*dynamodb.Client, *awssdk.Sampler) {
	t.Helper()
	cfg := config(&script{responses: responses})
	sampler, err := awssdk.Instrument(&cfg, options)
	must.Succeed(t, err)
	return dynamodb.NewFromConfig(cfg), sampler
}

func TestFoldedTotalsAreTheUnfoldedOnes(t *testing.T) {
	t.Parallel()
	folded, single := &kept{}, &kept{}
	cfg := config(&script{responses: []response{{body: `{}`}}})
	a, err := awssdk.Instrument(&cfg, awssdk.Options{Sink: folded, Tables: orders})
	must.Succeed(t, err)
	other := config(&script{responses: []response{{body: `{}`}}})
	b, err := awssdk.Instrument(&other, awssdk.Options{Sink: single, Tables: orders, Unfolded: true})
	must.Succeed(t, err)
	began := time.Now()
	for _, client := range []*dynamodb.Client{dynamodb.NewFromConfig(cfg), dynamodb.NewFromConfig(other)} {
		var all sync.WaitGroup
		for worker := range 4 {
			all.Go(func() {
				for i := range 500 {
					in := &dynamodb.PutItemInput{TableName: table, Item: row(fmt.Sprint(i%7), "a", strings.Repeat("x", (i+worker)%5*1000))}
					if _, err := client.PutItem(t.Context(), in); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
	}
	for _, s := range []*awssdk.Sampler{a, b} {
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if got, want := totals(folded), totals(single); fmt.Sprint(got) != fmt.Sprint(want) || len(got) != 7 {
		t.Errorf("folded %v, unfolded %v", got, want)
	}
	seconds := int(time.Since(began)/time.Second) + 2
	// Seven keys, five sizes, and a second's records may be taken in two parts.
	if most := 2 * 7 * 5 * seconds; len(single.records) != 2000 || len(folded.records) > most {
		t.Errorf("%d records, folded %d in %d seconds, more than %d", len(single.records), len(folded.records), seconds, most)
	}
}

// TestItemsOfOneCall checks that records state which requests were sampled together: of a batch
// with 24 items on one key, each item counts as 1/24 of a call, folded or not.
func TestItemsOfOneCall(t *testing.T) {
	t.Parallel()
	for _, unfolded := range []bool{false, true} {
		sink := &kept{}
		client, sampler := instrument(t, awssdk.Options{Sink: sink, Tables: orders, Unfolded: unfolded}, response{body: `{"UnprocessedItems":{}}`})
		var puts []types.WriteRequest
		for i := range 24 {
			item := row("1", "a", strings.Repeat("x", 100))
			item["sk"] = &types.AttributeValueMemberN{Value: fmt.Sprint(i)}
			puts = append(puts, types.WriteRequest{PutRequest: &types.PutRequest{Item: item}})
		}
		puts = append(puts, types.WriteRequest{PutRequest: &types.PutRequest{Item: row("2", "a", "x")}})
		for range 3 {
			in := &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"orders": puts}}
			if _, err := client.BatchWriteItem(t.Context(), in); err != nil {
				t.Fatal(err)
			}
		}
		must.Succeed(t, sampler.Close(t.Context()))
		calls := map[string]float64{}
		for _, r := range sink.records {
			calls[r.PK.Text] += r.Calls
			if together := float64(r.N) / r.Calls; r.PK.Text == "user#1" && math.Abs(together-24) > 1e-9 || r.PK.Text == "user#2" && together != 1 {
				t.Errorf("unfolded %t: %d requests of %v calls on %s", unfolded, r.N, r.Calls, r.PK.Text)
			}
		}
		if math.Abs(calls["user#1"]-3) > 1e-9 || calls["user#2"] != 3 {
			t.Errorf("unfolded %t: calls %v, want three on each key", unfolded, calls)
		}
	}
}

// totals returns requests and load by key.
func totals(k *kept) map[sample.Key][2]int64 {
	sums := map[sample.Key][2]int64{}
	for i := range k.records {
		r := &k.records[i]
		_, load := r.Load()
		was := sums[r.PK]
		sums[r.PK] = [2]int64{was[0] + r.N, was[1] + int64(load)}
	}
	return sums
}

func TestFixedRateIsInTheRecords(t *testing.T) {
	t.Parallel()
	sink := &kept{}
	client, sampler := instrument(t, awssdk.Options{Sink: sink, Tables: orders, Rate: 0.25}, response{body: `{}`})
	for range 4000 {
		if _, err := update(t.Context(), client); err != nil {
			t.Fatal(err)
		}
	}
	must.Succeed(t, sampler.Close(t.Context()))
	var n int64
	for _, r := range sink.records {
		if n += r.N; r.Rate != 0.25 {
			t.Errorf("kept with rate %v", r.Rate)
		}
	}
	// Six deviations of a binomial of 4,000 at a quarter.
	if n < 836 || n > 1164 {
		t.Errorf("kept %d of 4000", n)
	}
	if s := sampler.Stats(); s.Requests != 4000 || s.Kept != n {
		t.Errorf("counted %+v", s)
	}
}

func TestOffKeepsNothing(t *testing.T) {
	t.Parallel()
	sink := &kept{}
	client, sampler := instrument(t, awssdk.Options{Sink: sink, Rate: awssdk.Off}, response{body: `{}`})
	if _, err := update(t.Context(), client); err != nil {
		t.Fatal(err)
	}
	if err := sampler.Close(t.Context()); err != nil || len(sink.records) != 0 {
		t.Errorf("close: %v, %d records", err, len(sink.records))
	}
}

func TestAPanickingSinkIsContained(t *testing.T) {
	t.Parallel()
	sink := awssdk.SinkFunc(func(context.Context, []sample.Record) error { panic("sink") })
	client, sampler := instrument(t, awssdk.Options{Sink: sink, Tables: orders}, response{body: `{}`})
	if _, err := update(t.Context(), client); err != nil {
		t.Fatal(err)
	}
	if err := sampler.Close(t.Context()); err == nil {
		t.Error("what the sink did not take is lost without an error")
	}
	if s := sampler.Stats(); s.Panics != 1 || s.Dropped != 1 || s.SinkErrors != 1 || s.Sent != 0 {
		t.Errorf("counted %+v", s)
	}
}

// lossSink is a stuck sink until it is let go.
type lossSink struct {
	entered, goOn chan struct{}
	once          sync.Once
	lost          int64
	since, until  time.Time
}

func (s *lossSink) Write(context.Context, []sample.Record) error {
	s.once.Do(func() { close(s.entered); <-s.goOn })
	return nil
}

func (s *lossSink) Lose(n int64, since, until time.Time) {
	s.lost, s.since, s.until = s.lost+n, since, until
}

// TestASinkHearsWhatIsDropped: a sink that can tell of them is given the dropped records, with
// their times.
func TestASinkHearsWhatIsDropped(t *testing.T) {
	t.Parallel()
	sink := &lossSink{entered: make(chan struct{}), goOn: make(chan struct{})}
	client, sampler := instrument(t, awssdk.Options{Sink: sink, Tables: orders, MaxPending: 10, Unfolded: true}, response{body: `{}`})
	began := time.Now().Truncate(time.Millisecond)
	for i := range 51 {
		if _, err := update(t.Context(), client); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			<-sink.entered
		}
	}
	close(sink.goOn)
	must.Succeed(t, sampler.Close(t.Context()))
	if sink.lost != 40 || sink.lost != sampler.Stats().Dropped || sink.since.Before(began) || sink.until.Before(sink.since) || sink.until.After(time.Now()) {
		t.Errorf("the sink heard of %d from %s to %s, the sampler counted %+v", sink.lost, sink.since, sink.until, sampler.Stats())
	}
}

func TestAStuckSinkIsNoOnesWait(t *testing.T) {
	t.Parallel()
	entered := make(chan struct{})
	var once sync.Once
	sink := awssdk.SinkFunc(func(ctx context.Context, _ []sample.Record) error {
		once.Do(func() { close(entered) })
		<-ctx.Done()
		return ctx.Err()
	})
	client, sampler := instrument(t, awssdk.Options{Sink: sink, Tables: orders, MaxPending: 10, Unfolded: true}, response{body: `{}`})
	if _, err := update(t.Context(), client); err != nil {
		t.Fatal(err)
	}
	<-entered
	for range 50 {
		if _, err := update(t.Context(), client); err != nil {
			t.Fatal(err)
		}
	}
	if s := sampler.Stats(); s.Dropped != 40 {
		t.Errorf("a bound of 10 and 50 requests: counted %+v", s)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := sampler.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Close: %v", err)
	}
	if _, err := update(t.Context(), client); err != nil {
		t.Error(err)
	}
}

// TestFlushWaitsForTheSink: a function flushes before it answers. What the sink has not taken, and
// that it has not, is an error.
func TestFlushWaitsForTheSink(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sink, refuse := &kept{}, errors.New("no collector")
		var slow atomic.Int64 // nanoseconds
		var refuses atomic.Bool
		client, sampler := instrument(t, awssdk.Options{Sink: awssdk.SinkFunc(func(ctx context.Context, records []sample.Record) error {
			time.Sleep(time.Duration(slow.Load()))
			if refuses.Load() {
				return refuse
			}
			return sink.Write(ctx, records)
		}), Tables: orders}, response{body: `{}`})
		call := func(within time.Duration) error {
			time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second + 100*time.Millisecond))) // the tick is over
			_, failed := update(t.Context(), client)
			must.Succeed(t, failed)
			ctx, cancel := context.WithTimeout(t.Context(), within)
			defer cancel()
			return sampler.Flush(ctx)
		}
		for i := range 3 {
			must.Succeed(t, call(time.Millisecond))
			if len(sink.records) != i+1 {
				t.Errorf("the sink has %d records behind %d calls", len(sink.records), i+1)
			}
		}
		must.Succeed(t, sampler.Flush(t.Context())) // of nothing
		slow.Store(int64(time.Second))
		if err := call(10 * time.Millisecond); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a slow sink: %v", err)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if slow.Store(0); len(sink.records) != 4 {
			t.Errorf("the slow sink has %d records at last, want 4", len(sink.records))
		}
		refuses.Store(true)
		if err := call(time.Second); err == nil || !strings.Contains(err.Error(), "did not take 1 records") {
			t.Errorf("a sink that refuses: %v", err)
		}
		must.Succeed(t, sampler.Close(t.Context()))
		if err := sampler.Flush(t.Context()); err == nil || !strings.Contains(err.Error(), "closed") {
			t.Errorf("after Close: %v", err)
		}
	})
}

func TestCloseTwice(t *testing.T) {
	t.Parallel()
	_, sampler := instrument(t, awssdk.Options{Sink: &kept{}}, response{body: `{}`})
	for range 2 {
		if err := sampler.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

const description = `{"Table":{"TableName":"orders","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}],"GlobalSecondaryIndexes":[{"IndexName":"by-status","KeySchema":[{"AttributeName":"status","KeyType":"HASH"}]}]}}`

func TestTheSchemaIsLearnedOnceAndBeside(t *testing.T) {
	t.Parallel()
	sink := &kept{}
	client, sampler := instrument(t, awssdk.Options{Sink: sink, DescribeTables: true}, response{body: description})
	await.Until(t, "a record", func() bool {
		if _, err := put()(t.Context(), client); err != nil {
			t.Fatal(err)
		}
		return sampler.Stats().Records > 0
	})
	must.Succeed(t, sampler.Close(t.Context()))
	s := sampler.Stats()
	if len(sink.records) == 0 || sink.records[0].PK.Text != "user#1" || sink.records[0].SK.Text != "7" {
		t.Errorf("records %+v", sink.records)
	}
	if s.UnknownKeys == 0 || s.UnknownKeys+s.Records != s.Requests || s.DescribeErrors != 0 {
		t.Errorf("counted %+v", s)
	}
}

func TestATableThatCannotBeDescribedIsAskedForOnce(t *testing.T) {
	t.Parallel()
	transport := &script{responses: []response{{status: 400, body: `{"__type":"com.amazon.coral.service#AccessDeniedException","Message":"no"}`}}}
	cfg := config(transport)
	sampler, err := awssdk.Instrument(&cfg, awssdk.Options{Sink: &kept{}, DescribeTables: true})
	must.Succeed(t, err)
	client := dynamodb.NewFromConfig(cfg)
	for range 10 {
		if _, err := put()(t.Context(), client); err == nil {
			t.Error("the program does not get its error")
		}
	}
	await.Until(t, "an error is counted", func() bool { return sampler.Stats().DescribeErrors > 0 })
	must.Succeed(t, sampler.Close(t.Context()))
	if s := sampler.Stats(); s.DescribeErrors != 1 || len(transport.asked) != 11 {
		t.Errorf("counted %+v, %d requests", s, len(transport.asked))
	}
}

func TestHashedKeysHideAndStillCompare(t *testing.T) {
	t.Parallel()
	key := []byte("0123456789abcdef")
	sink := &kept{}
	client, sampler := instrument(t, awssdk.Options{Sink: sink, Tables: orders, HMACKey: key}, response{body: `{}`})
	for _, n := range []string{"1", "2"} {
		if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: table, Item: row(n)}); err != nil {
			t.Fatal(err)
		}
	}
	must.Succeed(t, sampler.Close(t.Context()))
	if len(sink.records) != 2 {
		t.Fatalf("records %+v", sink.records)
	}
	a, b := sink.records[0], sink.records[1]
	base, one, _ := strings.Cut(a.PK.Text, "#")
	other, two, _ := strings.Cut(b.PK.Text, "#")
	if base != other || one == two || a.SK != b.SK || a.SK.Type != "S" {
		t.Errorf("keys %v %v, %v %v", a.PK, b.PK, a.SK, b.SK)
	}
	for _, r := range sink.records {
		if line := string(r.AppendJSON(nil)); strings.Contains(line, "user") || strings.Contains(line, hex.EncodeToString(key)) {
			t.Errorf("a record shows %s", line)
		}
	}
}

func TestOneClientAlone(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	var sampler *awssdk.Sampler
	client := dynamodb.NewFromConfig(config(&script{responses: []response{{body: `{}`}}}), func(o *dynamodb.Options) {
		var err error
		if sampler, err = awssdk.InstrumentClient(o, awssdk.Options{Sink: awssdk.WriterSink(&out), Tables: orders, Caller: "shop"}); err != nil {
			t.Error(err)
		}
	})
	if _, err := update(t.Context(), client); err != nil {
		t.Fatal(err)
	}
	must.Succeed(t, sampler.Close(t.Context()))
	if line := out.String(); !strings.HasSuffix(line, `,`+k1+`,"op":"UpdateItem","calls":1,"attempts":1,"caller":"shop","region":"eu-west-1"}`+"\n") {
		t.Errorf("wrote %s", line)
	}
}

func TestWhatTheCallerHoldsIsNotWrittenTo(t *testing.T) {
	t.Parallel()
	transport := &script{responses: []response{{body: `{}`}}}
	cfg := config(transport)
	sampler, err := awssdk.Instrument(&cfg, awssdk.Options{Sink: &kept{}, Tables: orders, AskCapacity: true})
	must.Succeed(t, err)
	in := &dynamodb.PutItemInput{TableName: table, Item: row("1")}
	if _, err := dynamodb.NewFromConfig(cfg).PutItem(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	if in.ReturnConsumedCapacity != "" || transport.asked[0] != "INDEXES" {
		t.Errorf("the caller's input asks %q, the request %q", in.ReturnConsumedCapacity, transport.asked)
	}
	if err := sampler.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestATokenOfTheCallersIsLeftAlone(t *testing.T) {
	t.Parallel()
	_, _, transport := run(t, transactWrite, []response{{body: `{}`}}, awssdk.Options{Tables: orders, AskCapacity: true})
	if transport.asked[0] != "" {
		t.Errorf("the repeated token would come with %q once and without another time", transport.asked[0])
	}
}

func TestABrokenTransportIsTheProgramsOwn(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	cfg := config(broken{&calls})
	sampler, err := awssdk.Instrument(&cfg, awssdk.Options{Sink: &kept{}, Tables: orders})
	must.Succeed(t, err)
	if _, err := update(t.Context(), dynamodb.NewFromConfig(cfg)); !errors.Is(err, errBroken) {
		t.Errorf("the program gets %v", err)
	}
	if err := sampler.Close(t.Context()); err != nil || sampler.Stats().Failed != 1 {
		t.Errorf("close: %v, counted %+v", err, sampler.Stats())
	}
}

func TestOptionsThatCannotBe(t *testing.T) {
	t.Parallel()
	sink := &kept{}
	for name, o := range map[string]awssdk.Options{
		"no sink":       {},
		"rate above 1":  {Sink: sink, Rate: 1.5},
		"rate below 0":  {Sink: sink, Rate: -0.5},
		"two rates":     {Sink: sink, Rate: 0.5, MaxPerSecond: 100},
		"too few":       {Sink: sink, MaxPerSecond: 1},
		"short secret":  {Sink: sink, HMACKey: []byte("short")},
		"nameless key":  {Sink: sink, Tables: sample.Schemas{"orders": {}}},
		"negative room": {Sink: sink, MaxPending: -1},
	} {
		cfg := config(&script{responses: []response{{body: `{}`}}})
		if _, err := awssdk.Instrument(&cfg, o); err == nil || len(cfg.APIOptions) != 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAdaptiveRateAddsUp floods one key at an adaptive rate. The load of the records is within
// six standard deviations of the requested load.
func TestAdaptiveRateAddsUp(t *testing.T) {
	t.Parallel()
	sink := &kept{}
	client, sampler := instrument(t, awssdk.Options{Sink: sink, Tables: orders, MaxPerSecond: 200}, response{body: `{}`})
	const requests = 3000
	begun := time.Now()
	for range requests {
		if _, err := update(t.Context(), client); err != nil {
			t.Fatal(err)
		}
	}
	must.Succeed(t, sampler.Close(t.Context()))
	var estimate, variance float64
	for _, r := range sink.records {
		estimate += float64(r.N) / r.Rate
		variance += float64(r.N) * (1 - r.Rate) / (r.Rate * r.Rate)
	}
	if math.Abs(estimate-requests) > 6*math.Sqrt(variance) {
		t.Errorf("%d requests, the records stand for %.0f, deviation %.0f", requests, estimate, math.Sqrt(variance))
	}
	seconds := int64(time.Since(begun)/time.Second) + 2
	if s := sampler.Stats(); s.Requests != requests || s.Kept > 200*seconds {
		t.Errorf("counted %+v in %d seconds", s, seconds)
	}
}
