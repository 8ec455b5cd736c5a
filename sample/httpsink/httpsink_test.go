package httpsink_test

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/awssdk"
	"github.com/keyheat/keyheat/sample/httpsink"
	"github.com/keyheat/keyheat/sample/samplepb"
)

var _ awssdk.LossSink = (*httpsink.Sink)(nil)

// collector answers requests with the statuses of a script, and then with 200.
type collector struct {
	*httptest.Server
	mu       sync.Mutex
	script   []int
	requests []request
}

// request is what a collector got.
type request struct {
	producer, life, sequence, user, dropped string
	samples                                 int
}

// cut as a status closes the connection without a response.
const cut = 0

func newCollector(t *testing.T, script ...int) *collector {
	t.Helper()
	c := &collector{script: script}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got := request{producer: r.Header.Get("Keyheat-Producer"), life: r.Header.Get("Keyheat-Producer-Life"), sequence: r.Header.Get("Keyheat-Sequence"), dropped: r.Header.Get("Keyheat-Dropped"), samples: decode(t, r)}
		got.user, _, _ = r.BasicAuth()
		c.mu.Lock()
		c.requests = append(c.requests, got)
		status := http.StatusOK
		if len(c.script) > 0 {
			status, c.script = c.script[0], c.script[1:]
		}
		c.mu.Unlock()
		if status == cut {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error":"%d"}`, status)
	}))
	t.Cleanup(c.Close)
	return c
}

// decode counts the samples of a request.
func decode(t *testing.T, r *http.Request) (n int) {
	unzip, err := gzip.NewReader(r.Body)
	if err != nil {
		t.Error(err)
		return 0
	}
	body, err := io.ReadAll(unzip)
	if err != nil || len(body) > 4<<20 {
		t.Errorf("%d bytes, %v", len(body), err)
	}
	samplepb.NewDecoder().Decode(body, 0, into(func() { n++ }))
	return n
}

// into is a handler of good records; a bad one is missed in the count.
type into func()

func (f into) Record(*sample.Record)         { f() }
func (into) Bad(sample.RejectReason, []byte) {}

// records returns so many records with keys of a length.
func records(n, length int) []sample.Record {
	all := make([]sample.Record, n)
	for i := range all {
		all[i] = sample.Record{
			Time: time.Now().UnixMilli(), Table: "orders", PK: sample.KeyString(fmt.Sprint(i, strings.Repeat("k", length))),
			Op: sample.PutItem, WCU: 1000, Rate: 1, N: 1,
		}
	}
	return all
}

// TestAFunctionIsShortLived: by its option, or because it runs on AWS Lambda.
func TestAFunctionIsShortLived(t *testing.T) {
	c := newCollector(t)
	write := func(o httpsink.Options) {
		o.Collectors = []string{c.URL}
		must.Succeed(t, httpsink.New(o).Write(t.Context(), records(1, 1)))
	}
	write(httpsink.Options{})
	write(httpsink.Options{ShortLived: true})
	t.Setenv("AWS_LAMBDA_FUNCTION_NAME", "orders")
	write(httpsink.Options{})
	if got := []string{c.requests[0].life, c.requests[1].life, c.requests[2].life}; !slices.Equal(got, []string{"", "short", "short"}) {
		t.Errorf("the producers' lives are %q", got)
	}
}

// TestABatchKeepsItsNumber sends three batches; what the collector answers decides about the
// numbers of the next attempts.
func TestABatchKeepsItsNumber(t *testing.T) {
	t.Parallel()
	for _, s := range []struct {
		name      string
		script    []int
		sequences []string
		names     int
		failed    int
	}{
		{"all is stored", nil, []string{"1", "2", "3"}, 1, 0},
		{"a cut response", []int{200, cut}, []string{"1", "2", "2", "3"}, 1, 0},
		{"a busy collector, and one that stops", []int{429, 503, 200}, []string{"1", "1", "1", "2", "3"}, 1, 0},
		{"a collector that lacks the path, as while it starts", []int{404}, []string{"1", "1", "2", "3"}, 1, 0},
		{"a conflict begins anew", []int{200, 409}, []string{"1", "2", "1", "2"}, 2, 0},
		{"a batch that is refused is dropped", []int{200, 400}, []string{"1", "2", "2"}, 1, 1},
	} {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			c := newCollector(t, s.script...)
			var errs []error
			sink := httpsink.New(httpsink.Options{Collectors: []string{c.URL + "/"}, OnError: func(err error) { errs = append(errs, err) }})
			failed := 0
			for range 3 {
				if err := sink.Write(t.Context(), records(2, 1)); err != nil {
					failed++
				}
			}
			var sequences, names []string
			for _, r := range c.requests {
				sequences, names = append(sequences, r.sequence), append(names, r.producer)
				if r.samples != 2 {
					t.Errorf("%d samples in a batch", r.samples)
				}
			}
			if !slices.Equal(sequences, s.sequences) || len(slices.Compact(names)) != s.names || failed != s.failed {
				t.Errorf("sequences %v under %d names, %d writes failed", sequences, len(slices.Compact(names)), failed)
			}
			if (len(errs) > 0) != (len(s.script) > 0) {
				t.Errorf("errors: %v", errs)
			}
		})
	}
}

func TestAnotherCollectorGetsTheSameBatch(t *testing.T) {
	t.Parallel()
	down, up := newCollector(t, 503, 503, 503), newCollector(t)
	sink := httpsink.New(httpsink.Options{Collectors: []string{down.URL, strings.Replace(up.URL, "://", "://ada:secret@", 1)}})
	must.Succeed(t, sink.Write(t.Context(), records(1, 1)))
	if len(down.requests) != 1 || len(up.requests) != 1 || up.requests[0].producer != down.requests[0].producer || up.requests[0].sequence != "1" || up.requests[0].user != "ada" {
		t.Errorf("one got %+v, the other %+v", down.requests, up.requests)
	}
}

// TestNoCollectorIsAnError: the batch is dropped when its time is over. The next batch has
// another name, because the dropped one may have been stored.
func TestNoCollectorIsAnError(t *testing.T) {
	t.Parallel()
	c := newCollector(t, cut)
	var said string
	sink := httpsink.New(httpsink.Options{
		Collectors: []string{strings.Replace(c.URL, "://", "://ada:secret@", 1)}, RetryFor: 100 * time.Millisecond,
		OnError: func(err error) { said = err.Error() },
	})
	if err := sink.Write(t.Context(), records(1, 1)); err == nil || strings.Contains(err.Error()+said, "secret") {
		t.Errorf("the error is %v", err)
	}
	if err := sink.Write(context.Background(), records(1, 1)); err != nil {
		t.Error(err)
	}
	if r := c.requests; len(r) != 2 || r[0].producer == r[1].producer || r[1].sequence != "1" {
		t.Errorf("the collector got %+v", r)
	}
}

func TestLargeWritesAreSeveralBatches(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	sink := httpsink.New(httpsink.Options{Collectors: []string{c.URL}})
	must.Succeed(t, sink.Write(t.Context(), slices.Concat(records(25_000, 1), records(4_000, 2000))))
	sum := 0
	for _, r := range c.requests {
		sum += r.samples
	}
	if len(c.requests) < 4 || sum != 29_000 {
		t.Errorf("%d batches with %d samples", len(c.requests), sum)
	}
}

// TestDroppedRecordsAreTold: the next batch that is stored tells what the sampler and the sink
// have dropped, and no other one does.
func TestDroppedRecordsAreTold(t *testing.T) {
	t.Parallel()
	c := newCollector(t, 400, 503)
	sink := httpsink.New(httpsink.Options{Collectors: []string{c.URL}})
	lost := records(2, 1)
	lost[0].Time, lost[1].Time, lost[1].N = 5_000, 4_000, 3
	if err := sink.Write(t.Context(), lost); err == nil {
		t.Fatal("a refused batch is no error")
	}
	sink.Lose(10, time.UnixMilli(4_500), time.UnixMilli(9_000))
	for range 2 {
		must.Succeed(t, sink.Write(t.Context(), records(1, 1)))
	}
	var told []string
	for _, r := range c.requests {
		told = append(told, r.dropped)
	}
	if want := []string{"", "14 4000 9000", "14 4000 9000", ""}; !slices.Equal(told, want) {
		t.Errorf("the collector was told %q, want %q", told, want)
	}
}
