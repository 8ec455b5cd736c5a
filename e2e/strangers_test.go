//go:build e2e

package e2e_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/keyheat/keyheat/internal/testsupport/await"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/httpsink"
)

var strangers = flag.Int("faults.strangers", 0, "how many strangers TestFloodOfStrangers has at each door at a time; 0 leaves the test out")

const (
	strangersFor = 30 * time.Second
	// strangersBytes is the most memory that strangers take. Beside them, whoever sends a
	// request is answered within answerWithin.
	strangersBytes = 64 << 20
)

// openings are the first bytes of strangers, who then send a byte a second.
var openings = []string{
	"",
	"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("x", 15<<10),
	"GET / HTTP/1.1\r\nHost: localhost\r\n" + strings.Repeat("x:\n", 5<<10),
	"POST /v1/samples HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: 1000000\r\n\r\n",
}

// slowBody is what a slow producer sends, and slowBodies are how many there are.
const (
	slowBody = "POST /v1/samples HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic cHJvZHVjZXI6cGFzc3dvcmQ=\r\n" +
		"Content-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: 1000000\r\n\r\n"
	slowBodies = 16
)

// TestFloodOfStrangers has strangers at the doors of both daemons, and slow
// producers. Each connects again when its connection is closed. Probes, pages and a producer are
// answered meanwhile.
func TestFloodOfStrangers(t *testing.T) {
	if *strangers == 0 {
		t.Skip("make faults runs it")
	}
	w := &scenario{}
	url := w.startReporter(t)
	hash, err := bcrypt.GenerateFromPassword([]byte("password"), bcrypt.DefaultCost)
	must.Succeed(t, err)
	users := filepath.Join(t.TempDir(), "web.yaml")
	must.Succeed(t, os.WriteFile(users, fmt.Appendf(nil, "basic_auth_users: {producer: %q}\n", hash), 0o600))
	c := newProcess(t, "collector", "collector run", fmt.Sprintf(`
http: {enabled: true}
web: {config_file: %q, operators: [producer]}
store: {url: %q}
admin: {listen: "%%listen%%"}
`, users, url))
	c.start(t)
	at := "http://producer:password@" + c.address
	within(t, await.Limit, "the collector is ready", func() error { return ask(at + "/-/ready") })
	sink := httpsink.New(httpsink.Options{Collectors: []string{at}, RetryFor: answerWithin})
	produce := func() error {
		return sink.Write(t.Context(), []sample.Record{{Time: time.Now().UnixMilli(), Table: "orders", PK: sample.KeyString("k"), Op: sample.PutItem, WCU: 1000, Rate: 1, N: 1}})
	}
	for _, door := range []struct {
		*process
		askers map[string]func() error
	}{
		{c, map[string]func() error{
			"a probe": func() error { return ask(at + "/-/healthy") }, "metrics": func() error { return ask(at + "/metrics") }, "a producer": produce,
		}},
		{w.reporter, map[string]func() error{
			"a probe": func() error { return ask("http://" + w.reporter.address + "/-/ready") },
			"a page":  func() error { return ask("http://" + w.reporter.address + "/") },
		}},
	} {
		t.Run(door.name, func(t *testing.T) { flood(t, door.process, door.askers) })
	}
}

// ask gets a page over a connection of its own.
func ask(url string) error {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: await.Limit}
	response, err := client.Get(url)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s", response.Status)
	}
	_, err = io.Copy(io.Discard, response.Body)
	return err
}

// flood has strangers at a door, and asks it again and again.
func flood(t *testing.T, door *process, askers map[string]func() error) {
	for name, asks := range askers {
		if err := asks(); err != nil {
			t.Fatalf("%s before the flood: %v", name, err)
		}
	}
	door.note()
	before := door.peak
	ctx, cancel := context.WithTimeout(t.Context(), strangersFor)
	defer cancel()
	var all sync.WaitGroup
	defer all.Wait()
	for i := range *strangers {
		all.Go(func() {
			for ctx.Err() == nil {
				trickle(ctx, door.address, openings[i%len(openings)])
			}
		})
	}
	var mu sync.Mutex
	var again atomic.Int64
	asked, slowest := map[string]int{}, map[string]time.Duration{}
	for range slowBodies {
		all.Go(func() {
			for ctx.Err() == nil {
				trickle(ctx, door.address, slowBody)
			}
		})
	}
	for name, asks := range askers {
		all.Go(func() {
			for ctx.Err() == nil {
				began := time.Now()
				err := asks()
				for err != nil && time.Since(began) < answerWithin {
					err = asks()
					again.Add(1)
				}
				took := time.Since(began)
				mu.Lock()
				asked[name], slowest[name] = asked[name]+1, max(slowest[name], took)
				mu.Unlock()
				if err != nil || took > answerWithin {
					t.Errorf("%s is answered after %s: %v", name, rounded(took), err)
				}
				pause(ctx, 100*time.Millisecond)
			}
		})
	}
	all.Wait()
	door.note()
	if grown := door.peak - before; grown > strangersBytes {
		t.Errorf("strangers take %d MiB, more than %d", grown>>20, strangersBytes>>20)
	}
	t.Logf("%d strangers for %s: %d MiB resident, %d MiB before; answered %v times, the slowest after %v, %d attempts failed", *strangers, strangersFor, door.peak>>20, before>>20, asked, slowest, again.Load())
}

// trickle connects, and sends an opening and then a byte a second, until it cannot.
func trickle(ctx context.Context, address, opening string) {
	c, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		pause(ctx, time.Second)
		return
	}
	defer c.Close()
	for text := opening; ctx.Err() == nil; text = "x" {
		if _, err := io.WriteString(c, text); err != nil {
			return
		}
		pause(ctx, time.Second)
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
