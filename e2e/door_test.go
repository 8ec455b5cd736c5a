//go:build e2e

package e2e_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/testsupport/firehose"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/awssdk"
	"github.com/keyheat/keyheat/sample/httpsink"
)

// TestKilledDoors has producers, functions and Firehose send samples over HTTP to two collectors
// while one after the other is killed, and a part of the responses is cut off: every sample counts
// once.
func TestKilledDoors(t *testing.T) {
	t.Parallel() // it mostly waits
	w := &scenario{}
	url := w.startReporter(t)
	var addresses []string
	for i := range 2 {
		c := newProcess(t, fmt.Sprint("door-", i), "collector run", fmt.Sprintf(`
http: {enabled: true}
store: {url: %q}
admin: {listen: "%%listen%%"}
commit: {interval: 500ms}
`, url))
		w.collectors = append(w.collectors, c)
		addresses = append(addresses, "http://"+c.address)
	}
	w.startCollectors(t)
	began := time.Now()
	const producers = 8
	cuts := &cutting{random: rand.New(rand.NewPCG(seed, 5)), next: http.DefaultTransport}
	stop := make(chan struct{})
	var sent atomic.Int64
	var wg sync.WaitGroup
	for p := range producers {
		// The producers do not all begin with the same collector, and each fourth is Firehose.
		collectors, client := []string{addresses[p%2], addresses[1-p%2]}, &http.Client{Transport: cuts}
		var sink awssdk.Sink = httpsink.New(httpsink.Options{Collectors: collectors, Client: client, ShortLived: p%4 == 1})
		if p%4 == 3 {
			sink = &firehose.Stream{Collectors: collectors, Client: client}
		}
		wg.Go(func() { produceToDoors(t, sink, *faultsRate/producers, stop, &sent) })
	}
	random := rand.New(rand.NewPCG(seed, 6))
	for i := range *crashes {
		time.Sleep(time.Duration(2000+random.IntN(2000)) * time.Millisecond)
		c := w.collectors[i%2]
		c.kill(t)
		time.Sleep(time.Duration(random.IntN(1500)) * time.Millisecond)
		c.start(t)
	}
	w.collectors[0].stop(t) // and an orderly stop under load
	w.collectors[0].start(t)
	time.Sleep(2 * time.Second)
	close(stop)
	wg.Wait()
	lasted := time.Since(began)
	want := &truth{requests: sent.Load(), units: sent.Load()}
	w.matchesTopic(t, want, 2*time.Minute)
	w.noGaps(t)
	if cuts.cut.Load() == 0 {
		t.Error("no response was cut off")
	}
	t.Logf("%d kills in %s, %d of %d responses cut off, %d samples counted once", *crashes, lasted.Round(time.Second), cuts.cut.Load(), cuts.all.Load(), want.requests)
}

// produceToDoors sends so many samples a second until stop, and then stops after a whole batch.
func produceToDoors(t *testing.T, sink awssdk.Sink, rate int, stop chan struct{}, sent *atomic.Int64) {
	last := time.Now()
	for {
		now := time.Now()
		records := make([]sample.Record, int(now.Sub(last).Seconds()*float64(rate)))
		for i := range records {
			records[i] = sample.Record{Time: now.UnixMilli(), Table: "orders", PK: sample.KeyString(fmt.Sprint("k", i%50)), Op: sample.PutItem, WCU: 1000, Rate: 1, N: 1}
		}
		if len(records) > 0 {
			last = now
			if err := sink.Write(t.Context(), records); err != nil {
				t.Errorf("a batch was dropped: %v", err)
				return
			}
			sent.Add(int64(len(records)))
		}
		select {
		case <-stop:
			return
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// cutting cuts off one response of five: the collector has sent it, and the producer gets an
// error.
type cutting struct {
	next     http.RoundTripper
	mu       sync.Mutex
	random   *rand.Rand
	all, cut atomic.Int64
}

func (c *cutting) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := c.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	c.all.Add(1)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.random.IntN(5) > 0 {
		return response, nil
	}
	c.cut.Add(1)
	return nil, errors.Join(errors.New("cut off"), response.Body.Close())
}
