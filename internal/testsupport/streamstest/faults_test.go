package streamstest_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"go.uber.org/goleak"

	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/streamstest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestRates calls as fast as time allows, which in a bubble is at once.
func TestRates(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := setup(t, streamstest.Options{})
		for round := range 3 {
			for i := range 13 {
				_, err := w.client.DescribeStream(t.Context(), &dynamodbstreams.DescribeStreamInput{StreamArn: &w.arn})
				if i < 10 && err != nil {
					t.Errorf("second %d, call %d: %v", round, i, err)
				} else if i >= 10 {
					w.is(err, "ThrottlingException")
				}
			}
			time.Sleep(time.Second)
		}
		if got := w.fake.Rate("DescribeStream"); got != 13 {
			t.Errorf("a rate of %d, want 13", got)
		}
		for i := range 6 {
			_, err := w.client.ListStreams(t.Context(), &dynamodbstreams.ListStreamsInput{})
			if i == 5 {
				w.is(err, "ThrottlingException")
			}
		}
	})
}

func TestThreeReadersAreOneTooMany(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := setup(t, streamstest.Options{})
		shard := w.table.OpenShards()[0]
		read := func(name string) error {
			client := w.reader(name)
			it := w.mustIterator(shard, horizon, "")
			_, err := client.GetRecords(t.Context(), &dynamodbstreams.GetRecordsInput{ShardIterator: &it})
			return err
		}
		for _, name := range []string{"one", "two", "one", "two"} {
			if err := read(name); err != nil {
				t.Error(err)
			}
		}
		w.is(read("three"), "LimitExceededException")
		time.Sleep(time.Second)
		if err := read("three"); err != nil {
			t.Error(err)
		}
	})
}

// TestCallsTellReadersApart has one process read a shard twice at a time.
func TestCallsTellReadersApart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := setup(t, streamstest.Options{})
		shard := w.table.OpenShards()[0]
		w.put("a", 1)
		a, b := w.mustIterator(shard, horizon, ""), w.mustIterator(shard, horizon, "")
		for range 3 {
			for _, it := range []*string{&a, &b} {
				_, next, err := w.page(*it)
				must.Succeed(t, err)
				*it = next
				time.Sleep(time.Second)
			}
		}
		// A third that begins when those have ended.
		w.read(w.mustIterator(shard, horizon, ""))
		if most, where := w.fake.MostReaders(); most != 2 || where != shard {
			t.Errorf("%d readers of %s, want 2 of %s", most, where, shard)
		}
		if got := w.fake.Callers(shard); len(got) != 1 || got[0] != "reader" {
			t.Errorf("read by %v", got)
		}
		calls := w.fake.Calls("GetRecords")
		sequence := w.table.Written()[0].Sequence
		if first := calls[0]; first.Records != 1 || first.First != sequence || first.Last != sequence || first.Code != "" || first.Stream != w.arn {
			t.Errorf("%+v", first)
		}
	})
}

func TestFaultsAreRepeatable(t *testing.T) {
	t.Parallel()
	run := func(seed uint64) (codes string, faults int) {
		w := setup(t, streamstest.Options{Seed: seed, Throttles: 0.1, Errors: 0.05, NoRates: true})
		for range 1000 {
			_, _ = w.client.ListStreams(t.Context(), &dynamodbstreams.ListStreamsInput{})
		}
		for _, c := range w.fake.Calls("ListStreams") {
			codes += c.Code + " "
			if c.Code != "" {
				faults++
			}
		}
		return codes, faults
	}
	first, faults := run(1)
	if again, _ := run(1); first != again {
		t.Error("the same seed gave other faults")
	}
	if other, _ := run(2); first == other {
		t.Error("another seed gave the same faults")
	}
	if faults < 100 || faults > 200 {
		t.Errorf("%d faults in 1,000 calls, want about 145", faults)
	}
}

func TestFaultsOnDemand(t *testing.T) {
	t.Parallel()
	w := setup(t, streamstest.Options{})
	list := func() error {
		_, err := w.client.ListStreams(t.Context(), &dynamodbstreams.ListStreamsInput{})
		return err
	}
	w.fake.Fail("ListStreams", "LimitExceededException", "InternalServerError")
	w.is(list(), "LimitExceededException")
	w.is(list(), "InternalServerError")
	w.fake.Deny("ListStreams")
	w.is(list(), "AccessDeniedException")
	if _, err := w.client.DescribeStream(t.Context(), &dynamodbstreams.DescribeStreamInput{StreamArn: &w.arn}); err != nil {
		t.Error(err)
	}
	w.fake.Allow("ListStreams")
	if err := list(); err != nil {
		t.Error(err)
	}
	w.fake.SetFaults("ListStreams", 0, 1)
	w.is(list(), "InternalServerError")
	w.fake.SetFaults("", 0, 0)
	if err := list(); err != nil {
		t.Error(err)
	}
}

// TestTheSDKRepeatsWhatItShould: every refusal that says "later" is one that
// the SDK's own retries understand.
func TestTheSDKRepeatsWhatItShould(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, code := range []string{"ThrottlingException", "LimitExceededException", "ProvisionedThroughputExceededException", "InternalServerError"} {
			fake := streamstest.New(streamstest.Options{})
			fake.Fail("ListStreams", code, code)
			_, err := dynamodbstreams.NewFromConfig(fake.Config("x")).ListStreams(t.Context(), &dynamodbstreams.ListStreamsInput{})
			if err != nil {
				t.Errorf("%s twice, and then a response: %v", code, err)
			}
		}
	})
}

func TestBeforeSplitsBetweenTwoPages(t *testing.T) {
	t.Parallel()
	w := setup(t, streamstest.Options{})
	shard := w.table.OpenShards()[0]
	var split atomic.Bool
	w.fake.Before(func(c streamstest.Call) {
		if c.Operation == "GetRecords" && split.CompareAndSwap(false, true) {
			w.table.Split(shard)
		}
	})
	w.put("a", 1)
	if got := w.read(w.mustIterator(shard, horizon, "")); len(got) != 1 || len(w.table.OpenShards()) != 2 {
		t.Errorf("%d records, %d shards", len(got), len(w.table.OpenShards()))
	}
}

// TestOverASocket reaches the fake as another process would, and through memory
// with a request whose context has ended.
func TestOverASocket(t *testing.T) {
	t.Parallel()
	w := setup(t, streamstest.Options{})
	server := httptest.NewServer(w.fake)
	defer server.Close()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	config := w.fake.Config("far")
	config.BaseEndpoint, config.HTTPClient = &server.URL, &http.Client{Transport: transport}
	out, err := dynamodb.NewFromConfig(config).DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String("orders")})
	if err != nil || *out.Table.LatestStreamArn != w.arn {
		t.Errorf("%v %v", out, err)
	}
	if calls := w.fake.Calls("DescribeTable"); len(calls) != 1 || calls[0].Caller != "far" || calls[0].Table != "orders" {
		t.Errorf("%+v", calls)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.client.ListStreams(ctx, &dynamodbstreams.ListStreamsInput{}); err == nil {
		t.Error("a request that was given up was answered")
	}
}
