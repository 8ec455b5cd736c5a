//go:build e2e

package e2e_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/pgtest"
)

// TestKilledSpanDoors has exporters send OpenTelemetry spans over HTTP to two collectors
// while a collector is killed, the store is dead, and the store is cut off. Exporters number
// nothing: no span is lost, and the ones that count twice are of batches that were sent again.
func TestKilledSpanDoors(t *testing.T) {
	t.Parallel() // it mostly waits
	w := &scenario{}
	toStore, through := pgtest.Through(t, w.startReporter(t))
	var doors []string
	for i := range 2 {
		c := newProcess(t, fmt.Sprint("spans-", i), "collector run", fmt.Sprintf(`
http: {enabled: true}
store: {url: %q}
admin: {listen: "%%listen%%"}
commit: {interval: 500ms}
`, through))
		w.collectors = append(w.collectors, c)
		doors = append(doors, "http://"+c.address+"/v1/traces")
	}
	w.startCollectors(t)
	for _, c := range w.collectors {
		c.ready(t)
	}
	var all []*exporters
	for _, fault := range []struct {
		name    string
		strike  func()
		refused bool // a collector must ask for a retry with 503
	}{
		{"a collector is killed, four times", func() {
			for i := range 4 {
				time.Sleep(1500 * time.Millisecond)
				w.collectors[i%2].kill(t)
				time.Sleep(500 * time.Millisecond)
				w.collectors[i%2].start(t)
				w.collectors[i%2].ready(t)
			}
		}, false},
		{"the store is dead for 28 s", func() {
			if err := w.postgres.Kill(); err != nil {
				t.Error(err)
			}
			time.Sleep(28 * time.Second) // beyond the 25 s after which a collector refuses
			if err := w.postgres.Start(t.Context()); err != nil {
				t.Error(err)
			}
		}, true},
		{"the store is cut off for 12 s", func() {
			toStore.Cut()
			time.Sleep(12 * time.Second)
			toStore.Heal()
		}, false},
	} {
		e := &exporters{fault: fault.name, doors: doors, table: fmt.Sprint("orders-", len(all))}
		e.during(t, fault.strike)
		if fault.refused && e.refused.Load() == 0 {
			t.Errorf("%s: no exporter was asked to try again", fault.name)
		}
		all = append(all, e)
	}
	counted := w.countedSpans(t)
	for _, e := range all {
		sent, resent := e.sent.Load(), e.resent.Load()
		over := counted[e.table] - sent
		t.Logf("%-34s %d spans sent, %d of them sent again, %d counted twice; no answer for %s at most; 503 with Retry-After: %d, timeouts and cut connections: %d",
			e.fault+":", sent, resent, over, rounded(e.silence), e.refused.Load(), e.broken.Load())
		if over < 0 || over > resent || resent == 0 {
			t.Error("want no span lost, and at most the ones that were sent again counted twice")
		}
	}
	w.noGaps(t)
}

// countedSpans waits until every second is judged, and returns the spans of each table.
func (w *scenario) countedSpans(t *testing.T) map[string]int64 {
	t.Helper()
	var before int64
	within(t, 2*time.Minute, "the store is at rest", func() error {
		now, err := w.totals()
		if err == nil && now.requests != before {
			before, err = now.requests, errors.New("more is counted")
		}
		if err != nil {
			time.Sleep(20 * time.Second) // spans of a second are awaited for 13 s
		}
		return err
	})
	rows, err := w.database.Query(`SELECT table_name, requests FROM keyheat_totals`)
	must.Succeed(t, err)
	defer rows.Close()
	all := make(map[string]int64)
	for rows.Next() {
		var table string
		var requests int64
		must.Succeed(t, rows.Scan(&table, &requests))
		all[table] = requests
	}
	must.Succeed(t, rows.Err())
	return all
}

// exporters send batches of spans, one after the other, and each until a collector has
// stored it.
type exporters struct {
	fault, table string
	doors        []string
	sent, resent atomic.Int64
	// refused are the answers 503 with Retry-After, broken the requests without an answer.
	refused, broken atomic.Int64

	mu      sync.Mutex
	stored  time.Time // when the newest batch was
	silence time.Duration
}

const spansPerBatch = 20

// during runs exporters, of which half give up on a request after the 10 s of an SDK and half
// after the 30 s of an OpenTelemetry Collector, from before a fault until after it.
func (e *exporters) during(t *testing.T, strike func()) {
	t.Helper()
	e.stored = time.Now()
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for i := range 8 {
		timeout := 10 * time.Second
		if i%4 < 2 {
			timeout = 30 * time.Second
		}
		client := &http.Client{Timeout: timeout, Transport: &http.Transport{}}
		wg.Go(func() {
			defer client.CloseIdleConnections()
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
					e.export(t, client, i, n)
				}
			}
		})
	}
	time.Sleep(2 * time.Second)
	strike()
	time.Sleep(2 * time.Second)
	close(stop)
	wg.Wait()
}

// export sends one batch until a collector answers 200, to the other one after each failure.
func (e *exporters) export(t *testing.T, client *http.Client, exporter, batch int) {
	body := e.batch(exporter, batch)
	for try, deadline := 0, time.Now().Add(time.Minute); ; try++ {
		pause, err := e.try(t.Context(), client, e.doors[(exporter+try)%len(e.doors)], body)
		if err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Errorf("a batch was not taken within a minute: %v", err)
			return
		}
		e.resent.Add(spansPerBatch)
		time.Sleep(pause)
	}
	e.sent.Add(spansPerBatch)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.silence = max(e.silence, time.Since(e.stored))
	e.stored = time.Now()
}

// try sends a batch once. After an error it is sent again after a pause.
func (e *exporters) try(ctx context.Context, client *http.Client, door string, body []byte) (pause time.Duration, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, door, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		e.broken.Add(1)
		return 200 * time.Millisecond, err
	}
	defer response.Body.Close()
	switch after := response.Header.Get("Retry-After"); {
	case response.StatusCode == http.StatusOK:
		return 0, nil
	case response.StatusCode == http.StatusServiceUnavailable && after == "1":
		e.refused.Add(1)
		return time.Second, fmt.Errorf("%s", response.Status)
	default:
		return time.Second, fmt.Errorf("%s, Retry-After %q: want 503 after 1", response.Status, after)
	}
}

// batch returns an OTLP request of spans, each of one put with an id of its own.
func (e *exporters) batch(exporter, batch int) []byte {
	var spans []string
	for i := range spansPerBatch {
		spans = append(spans, fmt.Sprintf(`{"traceId":"%032x","spanId":"%016x","name":"DynamoDB.PutItem","startTimeUnixNano":"%d","attributes":[
			{"key":"db.system","value":{"stringValue":"dynamodb"}},{"key":"rpc.method","value":{"stringValue":"PutItem"}},
			{"key":"aws.table.name","value":{"stringValue":%q}},{"key":"keyheat.partition_key","value":{"stringValue":"k%d"}}]}`,
			exporter+1, exporter<<40|batch<<8|i, time.Now().UnixNano(), e.table, i))
	}
	return []byte(`{"resourceSpans":[{"scopeSpans":[{"spans":[` + strings.Join(spans, ",") + `]}]}]}`)
}
