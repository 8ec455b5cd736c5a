package tablestream

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"go.uber.org/goleak"

	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/internal/source/shards"
	"github.com/keyheat/keyheat/internal/source/shards/streams"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/sinktest"
	"github.com/keyheat/keyheat/internal/testsupport/streamstest"
	"github.com/keyheat/keyheat/internal/testsupport/streamstest/model"
	"github.com/keyheat/keyheat/sketch"
)

// TestMain makes zstd's channels outside of any bubble of virtual time.
func TestMain(m *testing.M) {
	d := sketch.NewDelta(sketch.Config{})
	body, err := d.MarshalBinary()
	if err == nil {
		err = d.UnmarshalBinary(body)
	}
	if err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// scenario is a DynamoDB with a table and its stream, on a bubble's time.
type scenario struct {
	*testing.T
	fake  *streamstest.Fake
	table *streamstest.Table
	made  int
}

// inBubble runs a test on virtual time.
func inBubble(t *testing.T, o streamstest.Options, test func(*scenario)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &scenario{T: t, fake: streamstest.New(o)}
		w.table = w.fake.CreateTable(model.Schema{Name: "orders", Key: model.Key{Partition: []string{"pk"}}})
		w.table.EnableStream(streamstest.NewAndOldImages)
		test(w)
	})
}

// write makes n changes over a time.
func (w *scenario) write(n int, over time.Duration) {
	for range n {
		time.Sleep(over / time.Duration(n))
		w.made++
		if err := w.table.Put(model.Item{"pk": model.S(fmt.Sprint("k", w.made%997)), "n": model.N(fmt.Sprint(w.made))}); err != nil {
			w.Error(err)
		}
	}
	time.Sleep(time.Second) // changes of the second in which a reading begins are not read
}

// source returns a source of the changes since a time ago.
func (w *scenario) source(last time.Duration, follow bool) *reading {
	return &reading{Log: w.log(), table: "orders", since: time.Now().Add(-last), follow: follow, pageEvery: time.Second}
}

func (w *scenario) log() shards.Log {
	return streams.NewLog(dynamodbstreams.NewFromConfig(w.fake.Config("analyze")))
}

// run reads until everything is read.
func (w *scenario) run(s *reading) *sinktest.Recorder {
	w.Helper()
	sink := sinktest.New()
	if err := s.run(w.Context(), sink); err != nil {
		w.Error(err)
	}
	return sink
}

// counted compares the counted changes with the changes written from since to until. Each
// must count once; with some, each at most once.
func (w *scenario) counted(sink *sinktest.Recorder, since, until time.Time, some bool) (n int) {
	w.Helper()
	got := make(map[string]int)
	sink.With(func() {
		for value, times := range sink.Counted {
			var record struct {
				Stream   string `json:"eventSourceARN"`
				Dynamodb struct{ SequenceNumber string }
			}
			if err := json.Unmarshal([]byte(value), &record); err != nil {
				w.Fatal(err)
			}
			got[record.Stream+record.Dynamodb.SequenceNumber] += times
		}
	})
	n = len(got)
	for _, write := range w.table.Written() {
		at := write.Time.Truncate(time.Second)
		want := 0
		if !at.Before(since) && at.Before(until) {
			want = 1
		}
		if times := got[write.Stream+write.Sequence]; times != want && (!some || times > want) {
			w.Errorf("the change of %s was counted %d times, want %d", at, times, want)
		}
		delete(got, write.Stream+write.Sequence)
	}
	if len(got) > 0 {
		w.Errorf("%d changes were counted that nobody made", len(got))
	}
	return n
}

// wild is a DynamoDB on a bad day, with a hundred open shards; a fifth of them with -short.
func wild() streamstest.Options {
	return streamstest.Options{
		Shards: unlessShort(100), Seed: 3, Throttles: 0.1, Errors: 0.01, EmptyPages: 0.1, PageRecords: 20,
		Lag: 3 * time.Second, Delay: time.Second,
	}
}

func unlessShort(n int) int {
	if testing.Short() {
		return n / 5
	}
	return n
}

// TestFiveHundredShardsAreReadOnce reads shards of five generations, while more changes and
// shards appear. Each change from before the reading counts once.
func TestFiveHundredShardsAreReadOnce(t *testing.T) {
	inBubble(t, wild(), func(w *scenario) {
		written := unlessShort(6000)
		w.write(written, 17*time.Hour)
		begin := time.Now()
		s := w.source(24*time.Hour, false)
		done := make(chan struct{})
		go func() {
			defer close(done)
			for _, id := range w.table.OpenShards()[:unlessShort(20)] {
				w.table.Split(id)
				w.write(10, time.Second)
			}
		}()
		sink := w.run(s)
		<-done
		w.counted(sink, time.Time{}, begin, false)
		if gaps := sink.Gaps(); len(gaps) > 0 {
			w.Errorf("gaps: %+v", gaps)
		}
		a := s.status()
		if a.shards < unlessShort(500) || a.done != a.shards || a.share != 1 || a.records != int64(written) || a.throttled == 0 {
			w.Errorf("%+v", a)
		}
		w.checkRequests(&a)
	})
}

// checkRequests compares the account of requests with the server's, and their pace.
func (w *scenario) checkRequests(a *status) {
	w.Helper()
	var records, others int64
	last := map[string]time.Time{}
	for _, c := range w.fake.Calls("") {
		if c.Operation != "GetRecords" {
			others++
			continue
		}
		records++
		if before, known := last[c.Shard]; known && c.Shard != "" && c.Time.Sub(before) < time.Second {
			w.Errorf("two requests to a shard within %s", c.Time.Sub(before))
		}
		last[c.Shard] = c.Time
	}
	if records < a.requests || others < a.others || records-a.requests+others-a.others > a.cut {
		w.Errorf("%d and %d requests are told, and %d cut off; there were %d and %d", a.requests, a.others, a.cut, records, others)
	}
}

// TestOldShardsCostOnePage reads the last hours: a shard that closed before costs one page.
func TestOldShardsCostOnePage(t *testing.T) {
	o := wild()
	o.Throttles, o.Errors, o.EmptyPages = 0, 0, 0
	inBubble(t, o, func(w *scenario) {
		w.write(unlessShort(20_000), 22*time.Hour)
		begin := time.Now()
		s := w.source(3*time.Hour, false)
		w.counted(w.run(s), begin.Add(-3*time.Hour), begin, false)
		pages := map[string]int{}
		for _, c := range w.fake.Calls("GetRecords") {
			pages[c.Shard]++
		}
		old := 0
		for _, sh := range w.table.Shards() {
			if !sh.Closed.IsZero() && begin.Sub(sh.Closed) > 5*time.Hour {
				if old++; pages[sh.ID] > 1 {
					w.Errorf("%d pages of a shard that closed %s before", pages[sh.ID], begin.Sub(sh.Closed))
				}
			}
		}
		if old < unlessShort(300) {
			w.Errorf("%d old shards", old)
		}
	})
}

// TestInterruptedItSaysWhatItHas interrupts a reading, which reports how much it has read.
// Another reading reads everything.
func TestInterruptedItSaysWhatItHas(t *testing.T) {
	o := wild()
	o.PageRecords = 2 // of some 12 a shard
	inBubble(t, o, func(w *scenario) {
		written := unlessShort(6000)
		w.write(written, 17*time.Hour)
		begin := time.Now()
		ctx, cancel := context.WithTimeout(w.Context(), 6*time.Second)
		defer cancel()
		s, sink := w.source(24*time.Hour, false), sinktest.New()
		if err := s.run(ctx, sink); err != nil {
			w.Error(err)
		}
		n := w.counted(sink, time.Time{}, begin, true)
		a := s.status()
		if n == 0 || n == written || a.records != int64(n) || a.done == a.shards || a.share < 0.1 || a.share > 0.99 || a.left == 0 {
			w.Errorf("%d counted: %+v", n, a)
		}
		if got, want := sink.OnlyGap(w.T).Reason, fmt.Sprintf("interrupted: %d of %d shards were read to their end", a.done, a.shards); got != want {
			w.Errorf("%q, want %q", got, want)
		}
		again := w.source(24*time.Hour, false)
		begin = time.Now()
		w.counted(w.run(again), time.Time{}, begin, false)
	})
}

// TestFollowed follows shards that open later, until it is stopped.
func TestFollowed(t *testing.T) {
	inBubble(t, streamstest.Options{Shards: 3, Lag: 3 * time.Second, Delay: time.Second, EmptyPages: 0.3}, func(w *scenario) {
		w.write(300, time.Hour)
		ctx, cancel := context.WithCancel(w.Context())
		sink, done := sinktest.New(), make(chan error)
		go func() { done <- w.source(24*time.Hour, true).run(ctx, sink) }()
		for range 5 {
			w.write(50, time.Minute)
			w.table.Split(w.table.OpenShards()[0])
			w.table.Roll(w.table.OpenShards()[1])
		}
		w.table.DisableStream()
		w.table.EnableStream(streamstest.NewAndOldImages)
		w.write(50, 5*time.Minute)
		time.Sleep(time.Minute)
		cancel()
		if err := <-done; err != nil {
			w.Error(err)
		}
		w.counted(sink, time.Time{}, time.Now(), false)
		if gaps := sink.Gaps(); len(gaps) > 0 {
			w.Errorf("gaps: %+v", gaps)
		}
	})
}

// TestWhatGoesWrong expects an error or a gap for each fault, and the changes read
// nevertheless.
func TestWhatGoesWrong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		story string
		wrong func(*scenario)
		// fails is a part of the error, gap a part of the only gap's reason; at most one of
		// them is set.
		fails, gap string
		counted    int
	}{
		{"all is well", func(*scenario) {}, "", "", 100},
		{"streams may not be listed", func(w *scenario) { w.fake.Deny("ListStreams") }, "allow dynamodb:ListStreams", "", 0},
		{"a stream may not be described", func(w *scenario) { w.fake.Deny("DescribeStream") }, "allow dynamodb:DescribeStream", "", 0},
		{"no iterator", func(w *scenario) { w.fake.Deny("GetShardIterator") }, "", "allow dynamodb:GetShardIterator on the stream to this role; 0 of 2 shards", 0},
		{"no records", func(w *scenario) { w.fake.Deny("GetRecords") }, "", "allow dynamodb:GetRecords", 0},
		{"credentials that have expired", func(w *scenario) { w.fake.Fail("ListStreams", "ExpiredTokenException") }, "the AWS credentials have expired", "", 0},
		{"credentials that expire", func(w *scenario) {
			w.fake.Before(func(c streamstest.Call) {
				if time.Since(w.began()) > 5*time.Second {
					w.fake.Fail(c.Operation, "ExpiredTokenException")
				}
			})
		}, "", "the AWS credentials have expired", 80},
		{"a table that was deleted long ago", func(w *scenario) { w.table.VanishStream() }, errNoStream.Error(), "", 0},
		{"a stream that is disabled", func(w *scenario) { w.table.DisableStream() }, "", "", 100},
		{"an outage at once", func(w *scenario) { w.fake.SetFaults("ListStreams", 0, 1) }, "ListStreams: AWS failed", "", 0},
		{"an outage that lasts", func(w *scenario) { w.fake.SetFaults("GetRecords", 0, 1) }, "", "GetRecords: AWS failed; 0 of 2 shards", 0},
		{"an outage that ends", func(w *scenario) {
			w.fake.SetFaults("GetRecords", 0, 1)
			w.later(30*time.Second, func() { w.fake.SetFaults("", 0, 0) })
		}, "", "", 100},
		{"throttled for minutes", func(w *scenario) {
			w.fake.SetFaults("GetRecords", 1, 0)
			w.later(5*time.Minute, func() { w.fake.SetFaults("", 0, 0) })
		}, "", "", 100},
		{"iterators that expire", func(w *scenario) { w.later(3*time.Second, w.fake.ExpireIterators) }, "", "", 100},
		{"a shard of yesterday, gone since it was listed", func(w *scenario) {
			id := w.table.OpenShards()[0]
			w.table.Roll(id)
			w.fake.Before(func(c streamstest.Call) {
				if c.Operation == "GetShardIterator" {
					w.table.Vanish(id)
				}
			})
		}, "", "", 51}, // the keys of the other shard
		{"records that are trimmed", func(w *scenario) {
			w.later(4*time.Second, func() { w.table.Trim(w.table.OpenShards()[0], 40) })
		}, "", "records were trimmed, after their 24 hours, before they were read", 90},
		{"children that are never shown", func(w *scenario) { w.table.Roll(w.table.OpenShards()[0]) }, "", "", 100},
	} {
		t.Run(c.story, func(t *testing.T) {
			inBubble(t, streamstest.Options{Shards: 2, PageRecords: 10, Rollover: -1}, func(w *scenario) {
				w.write(100, time.Hour)
				c.wrong(w)
				sink := sinktest.New()
				err := w.source(24*time.Hour, false).run(w.Context(), sink)
				if c.fails == "" && err != nil || c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)) {
					w.Errorf("error %v, want %q", err, c.fails)
				}
				gaps := sink.Gaps()
				if c.gap == "" && len(gaps) > 0 || c.gap != "" && (len(gaps) != 1 || !strings.Contains(gaps[0].Reason, c.gap)) {
					w.Errorf("gaps %+v, want %q", gaps, c.gap)
				}
				if _, n := sink.Total(); n != c.counted {
					w.Errorf("%d counted, want %d", n, c.counted)
				}
			})
		})
	}
}

// began returns when the first request came.
func (w *scenario) began() time.Time {
	if calls := w.fake.Calls(""); len(calls) > 0 {
		return calls[0].Time
	}
	return time.Now()
}

// later does something in the bubble, some time from now.
func (w *scenario) later(d time.Duration, do func()) {
	timer := time.AfterFunc(d, do)
	w.Cleanup(func() { timer.Stop() })
}

// TestASinkThatFails: an error of the sink ends the reading.
func TestASinkThatFails(t *testing.T) {
	inBubble(t, streamstest.Options{Shards: 3}, func(w *scenario) {
		w.write(100, time.Minute)
		sink := sinktest.New()
		time.AfterFunc(time.Second/2, func() { sink.Steal(w.partition(sink)) })
		err := w.source(time.Hour, false).run(w.Context(), sink)
		if err != nil {
			w.Error(err)
		}
		if gap := sink.OnlyGap(w.T); !strings.Contains(gap.Reason, "position lost") {
			w.Errorf("%+v", gap)
		}
	})
}

// partition returns the name of a claimed partition.
func (w *scenario) partition(sink *sinktest.Recorder) (name string) {
	sink.With(func() {
		for name = range sink.Entries {
			return
		}
	})
	return name
}

// TestTenGigabytes restates the Developer Guide's figures: 10 GB are cheap, and slow in few
// shards.
func TestTenGigabytes(t *testing.T) {
	t.Parallel()
	const gb = 1 << 30
	for _, c := range []struct {
		story          string
		bytes, records int64
		open           int
		every          time.Duration
		requests       int64
		time           time.Duration
		cents          string
	}{
		{"10 GB of 2 KB records in 10 shards", 10 * gb, 10 * gb / 2048, 10, time.Second, 10_240 + 100, 1034 * time.Second, "0.21"},
		{"in 100", 10 * gb, 10 * gb / 2048, 100, time.Second, 10_240 + 1000, 113 * time.Second, "0.22"},
		{"in one", 10 * gb, 10 * gb / 2048, 1, time.Second, 10_240 + 10, 10_250 * time.Second, "0.20"},
		{"in one, four a second", 10 * gb, 10 * gb / 2048, 1, time.Second / 4, 10_240 + 10, 10_250 * time.Second / 4, "0.20"},
		{"10 GB of records of 256 bytes: 1,000 a request", 10 * gb, 10 * gb / 256, 10, time.Second, 41_944 + 100, 4205 * time.Second, "0.84"},
		{"nothing in 500 shards", 0, 0, 500, time.Second, 5000, 10 * time.Second, "0.10"},
	} {
		e := estimateReading(c.bytes, c.records, c.open, c.every)
		if e.Requests != c.requests || e.Time != c.time || fmt.Sprintf("%.2f", 100*e.Dollars) != c.cents {
			t.Errorf("%s: %d requests, %s, %.2f cents", c.story, e.Requests, e.Time, 100*e.Dollars)
		}
	}
}

// TestTheArithmeticOfThePage compares the figures for 10 GB in START.md with the estimate.
func TestTheArithmeticOfThePage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/START.md")
	must.Succeed(t, err)
	const gb = 1 << 30
	tenGB := func(open int, size int64) estimate {
		return estimateReading(10*gb, 10*gb/size, open, time.Second)
	}
	full := tenGB(0, 2048).Requests
	for _, want := range []string{
		fmt.Sprintf("at least %s requests, and %s if records have 256 bytes each", wording.Count(full), wording.Count(tenGB(0, 256).Requests)),
		fmt.Sprintf("these take %s, in 10 shards %s, in one %s", spoken(tenGB(100, 2048).Time), spoken(tenGB(10, 2048).Time), spoken(tenGB(1, 2048).Time)),
		fmt.Sprintf("%s requests a month are free", wording.Count(freeRequests)),
		fmt.Sprintf("%s cost $%.3f in US East", wording.Count(full), dollars(full)),
	} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

// spoken writes a time as the page does.
func spoken(d time.Duration) string {
	if d >= time.Hour {
		d = d.Round(time.Minute)
		return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
}

// A GetRecords request returns up to 1,000 records or 1 MB, whichever is reached first
// (Developer Guide, "Evaluate your Streams usage").
const (
	pageRecords = 1000
	pageBytes   = 1 << 20
)

// idlePages is how many requests it takes to find that an open shard has no more.
const idlePages = 10

// estimate is the least that it takes to read a stream.
type estimate struct {
	// Requests is the number of GetRecords requests.
	Requests int64
	// Time is the time for the requests of one shard, one after the other.
	Time time.Duration
	// Dollars is the price of the requests; see [dollars].
	Dollars float64
}

// estimateReading estimates a reading of so many bytes and records, evenly in open shards,
// with a pause between two requests of a shard. With open = 0 they are in one closed shard.
// Stream records are larger than their items: they hold them before and after a change.
func estimateReading(bytes, records int64, open int, every time.Duration) estimate {
	full := max(ceil(bytes, pageBytes), ceil(records, pageRecords))
	e := estimate{Requests: full + int64(open)*idlePages}
	e.Time = time.Duration(ceil(full, int64(max(1, open)))+idlePages) * every
	e.Dollars = dollars(e.Requests)
	return e
}

func ceil(a, b int64) int64 { return (a + b - 1) / b }
