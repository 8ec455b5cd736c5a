package demo_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/demo"
	wait "github.com/keyheat/keyheat/internal/testsupport/await"
	"github.com/keyheat/keyheat/store"
)

// show runs a demo until stop is called, and returns its address.
func show(t *testing.T, o demo.Options) (address string, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	in, out := io.Pipe()
	o.Listen, o.Out, o.Logger = "127.0.0.1:0", out, slog.New(slog.DiscardHandler)
	var group sync.WaitGroup
	group.Go(func() {
		defer out.Close()
		if err := demo.Run(ctx, o); err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	stop = sync.OnceFunc(func() { cancel(); group.Wait() })
	t.Cleanup(stop)
	text := make([]byte, 1000)
	n, err := in.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(`http://[0-9.:]+`).FindString(string(text[:n])), stop
}

// get returns a page. Where the database does not answer in time, which a busy machine may
// be the reason of, it asks again, as the page itself would.
func get(t *testing.T, url string) string {
	t.Helper()
	var body []byte
	wait.Until(t, url, func() bool {
		r, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		body, err = io.ReadAll(r.Body)
		_ = r.Body.Close()
		if r.StatusCode != http.StatusServiceUnavailable && (err != nil || r.StatusCode != http.StatusOK) {
			t.Fatalf("%s answers %s, %v: %s", url, r.Status, err, body)
		}
		return r.StatusCode == http.StatusOK
	})
	return string(body)
}

// press sends the form of the button from a site, and returns the status.
func press(t *testing.T, address, site string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address+"/demo/shards", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Sec-Fetch-Site", site)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	return answer.StatusCode
}

// await asks until a condition holds.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	began := time.Now()
	wait.Until(t, what, holds)
	t.Logf("%s: after %.1f s", what, time.Since(began).Seconds())
}

// scene returns the title of what goes on now on the story's page.
func scene(t *testing.T, address string) string {
	t.Helper()
	now := regexp.MustCompile(`aria-current="step"><span class="name">([^<]*)<`).FindStringSubmatch(get(t, address+"/demo"))
	if now == nil {
		t.Fatal("nothing goes on")
	}
	return now[1]
}

// finding returns the finding of a key, and whether there is one.
func finding(t *testing.T, address, key string, kind detect.Subject) (detect.Finding, bool) {
	t.Helper()
	var answer struct{ Findings []detect.Finding }
	if err := json.Unmarshal([]byte(get(t, address+"/api/v1/findings")), &answer); err != nil {
		t.Fatal(err)
	}
	for _, f := range answer.Findings {
		if string(f.Key) == key && f.Subject == kind {
			return f, true
		}
	}
	return detect.Finding{}, false
}

// inbox returns the events that on-call was told of, the newest first.
func inbox(t *testing.T, address string) []string {
	t.Helper()
	var events []string
	for _, found := range regexp.MustCompile(`<article class="notice ([a-z]+)"`).FindAllStringSubmatch(get(t, address+"/demo"), -1) {
		events = append(events, found[1])
	}
	return events
}

// TestTheStory on its real parts, on time that is hastened: a hot spot of the backlog has
// healed and paged nobody, a page arrives, shards end what it is of, another one is of an
// item that shards do not help, and then it is quiet.
func TestTheStory(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("minutes of traffic are too much for the race detector")
	}
	var behind atomic.Int64
	behind.Store(int64(5 * time.Minute))
	hasten := func(by time.Duration) { behind.Add(-int64(by)) }
	address, _ := show(t, demo.Options{
		Backlog: 150 * time.Second, Calm: 3 * time.Second, Views: 3 * time.Second,
		Behind: func() time.Duration { return time.Duration(behind.Load()) },
	})
	if code := press(t, address, "same-origin"); code != http.StatusConflict {
		t.Errorf("shards before any are recommended: %d", code)
	}
	hasten(8 * time.Second)
	await(t, "a page", func() bool { return scene(t, address) == "Paged" })
	if f, ok := finding(t, address, "feed#12", detect.KeyWrites); !ok || f.State != detect.Resolved {
		t.Errorf("the import of the backlog is %t, %s", ok, f.State)
	}
	if events := inbox(t, address); len(events) != 1 || events[0] != "firing" {
		t.Fatalf("the inbox has %q", events)
	}
	hot, _ := finding(t, address, "merchant#4711", detect.KeyWrites)
	page := get(t, address+"/demo")
	for _, want := range []string{"<dt>Now</dt>", "/findings/" + hot.Fingerprint, "Apply "} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if code := press(t, address, "cross-site"); code != http.StatusForbidden || scene(t, address) != "Paged" {
		t.Errorf("another site presses the button: %d", code)
	}
	await(t, "three shards are recommended", func() bool { return strings.Contains(get(t, address+"/demo"), "Apply 3 shards") })
	// What is refused at the end of a second and served in the next one counts in the
	// second in which the call was made, beside what a partition serves in a second.
	hot, _ = finding(t, address, "merchant#4711", detect.KeyWrites)
	t.Logf("utilization %.2f, consumed %.0f WCU", hot.Utilization, hot.Consumed.WCU)
	if hot.State != detect.Firing || hot.Utilization < 1.2 || hot.Consumed.WCU > 1200 {
		t.Errorf("the campaign's finding is %+v", hot)
	}
	for range 2 { // twice is once
		if code := press(t, address, "same-origin"); code != http.StatusOK || scene(t, address) != "Shards" {
			t.Errorf("the button is pressed: %d", code)
		}
	}
	hasten(65 * time.Second)
	await(t, "the first is resolved", func() bool { return len(inbox(t, address)) >= 2 })
	if f, _ := finding(t, address, "merchant#4711", detect.KeyWrites); f.State != detect.Resolved {
		t.Errorf("the campaign's finding is %s", f.State)
	}
	await(t, "the item is next", func() bool { return strings.Contains(get(t, address+"/demo"), "Next:</strong> At ") })
	hasten(12 * time.Second)
	await(t, "the next page", func() bool { return len(inbox(t, address)) >= 3 })
	await(t, "the end of the rush is near", func() bool { return strings.Contains(get(t, address+"/demo"), "The rush ends at ") })
	hasten(70 * time.Second)
	await(t, "quiet", func() bool { return scene(t, address) == "Quiet" })
	if events := inbox(t, address); strings.Join(events, " ") != "resolved firing resolved firing" {
		t.Errorf("the inbox has %q", events)
	}
	item, ok := finding(t, address, "product#1138", detect.KeyReads)
	if !ok || item.State != detect.Resolved || item.Ground != detect.GroundItem || len(item.Advice) == 0 || item.Advice[0].Action != detect.ActionRead {
		t.Errorf("the finding of the item is %t, %+v", ok, item)
	}
	for _, step := range item.Advice {
		if step.Action == detect.ActionShard || step.Names != nil {
			t.Errorf("shards are advised for one item: %s", step.Fix)
		}
	}
}

// TestAKeptDatabase has the story in it when the demo has stopped. Another demo begins with a
// database of its own.
func TestAKeptDatabase(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "demo.db")
	began := time.Now()
	options := demo.Options{Database: path, Backlog: 10 * time.Second, Calm: time.Second}
	address, stop := show(t, options)
	await(t, "the button", func() bool { return strings.Contains(get(t, address+"/demo"), "Apply ") })
	t.Logf("paged %.1f s after the start, with a second of calm", time.Since(began).Seconds())
	if code := press(t, address, "same-origin"); code != http.StatusOK {
		t.Fatalf("the button is pressed: %d", code)
	}
	get(t, address+"/-/ready")
	await(t, "orders go to shards", func() bool { return strings.Contains(get(t, address+"/demo"), "Fullest shard") })
	for _, path := range []string{"/", "/tables", "/demo/story.css"} {
		get(t, address+path)
	}
	for _, want := range []string{"keyheat_report_leader 1", "keyheat_collect_partitions 1"} {
		if !strings.Contains(get(t, address+"/metrics"), want) {
			t.Errorf("the metrics lack %s", want)
		}
	}
	stop()
	s, err := store.Open(t.Context(), "sqlite:"+path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	heads, err := s.IncidentHeads(t.Context(), store.HeadQuery{Limit: 10})
	if err != nil || len(heads) != 1 || heads[0].Key != "merchant#4711" {
		t.Errorf("incidents %+v, %v", heads, err)
	}
	options.Out, options.Logger = io.Discard, slog.New(slog.DiscardHandler)
	if err := demo.Run(t.Context(), options); err == nil || !strings.Contains(err.Error(), "name another file") {
		t.Errorf("the same database again: %v", err)
	}
}
