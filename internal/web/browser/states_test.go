package browser

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/testsupport/pgtest"
	"github.com/keyheat/keyheat/internal/web"
	"github.com/keyheat/keyheat/rollup"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

// bare returns a store without anything and the address of the site over it.
func bare(t *testing.T, rawURL string) (*store.Store, string) {
	t.Helper()
	s, err := store.Open(t.Context(), rawURL, store.Options{Migrate: true})
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	site, err := web.New(s, slog.New(slog.DiscardHandler), web.Options{})
	must(t, err)
	server := httptest.NewServer(site)
	t.Cleanup(server.Close)
	t.Cleanup(site.Close)
	return s, server.URL
}

func file(t *testing.T) string { t.Helper(); return "sqlite:" + t.TempDir() + "/keyheat.db" }

// says fails unless the page says some text.
func (b *tab) says(text string) {
	b.Helper()
	if page := eval[string](b, "document.querySelector('main').innerText"); !strings.Contains(page, text) {
		b.Errorf("the page does not say %q: %s", text, page)
	}
}

// TestEmpty has a site that nobody has written to, and one with a collector that has
// nothing yet: every page says what is missing, and none that all is well.
func TestEmpty(t *testing.T) {
	t.Parallel()
	s, address := bare(t, file(t))
	pages := []struct{ name, path, says string }{
		{"first", "/", "No samples have arrived yet"}, {"tables", "/tables", "No data yet: no collector has reported"},
		{"heat", "/heat?table=orders", "Nothing of this time was counted"}, {"silences", "/silences", "No silences"}, {"reports", "/reports", "No reports yet"},
		{"status", "/status", "Without a collector nothing is known"},
	}
	for _, p := range pages {
		b := newTab(t, address)
		b.looks("empty-"+p.name, p.path)
		b.says(p.says)
	}
	must(t, s.StartWriter(t.Context(), store.Writer{ID: "collector-1", Host: "host-1", Started: time.Now()}))
	b := newTab(t, address)
	b.looks("waiting-first", "/")
	b.says("Waiting for the first samples")
	b.looks("waiting-tables", "/tables")
	b.says("from its first counted second on")
}

// TestCalm has a site whose keys are all far from a limit, some of a hundred tables.
func TestCalm(t *testing.T) {
	t.Parallel()
	s, address := bare(t, file(t))
	must(t, s.StartWriter(t.Context(), store.Writer{ID: "collector-1", Host: "host-1", Started: time.Now()}))
	end := time.Now().Truncate(10 * time.Second)
	j := store.Judgement{Seen: []store.SeenMinute{{Minute: end.Truncate(time.Minute), Seconds: 1<<60 - 1}}}
	for n := range 100 {
		target := sample.Target{Table: fmt.Sprintf("orders-%02d", n%80), Index: strings.Repeat("by-status", n/80)}
		document, err := json.Marshal(detect.Table{Target: target})
		must(t, err)
		key := sample.KeyString("customer#" + strings.Repeat(fmt.Sprint(n), 30))
		body, err := rollup.OfSecond(&sketch.Window{Target: target, Keys: []sketch.KeyLoad{{Hash: 1, Key: key, Low: sketch.Load{Write: sample.Milli(3400 * (n + 1))}}}}, true).MarshalBinary()
		must(t, err)
		j.Views = append(j.Views, store.TargetDocument{Target: target, Document: document})
		j.Rollups = append(j.Rollups, store.Rollup{Target: target, Level: int64(rollup.TenSeconds), Begins: end.Add(-10 * time.Second), Body: body})
		j.Windows = append(j.Windows, store.Window{Target: target, Second: end.Add(-5 * time.Second), Requests: 12345})
	}
	l, ok, err := s.AcquireLease(t.Context(), "judge", "test", time.Hour)
	if err != nil || !ok {
		t.Fatalf("lease: %t, %v", ok, err)
	}
	must(t, s.Judge(t.Context(), l, j))
	b := newTab(t, address)
	b.looks("calm-first", "/")
	for _, text := range []string{"80 tables", "and 20 indexes", "4,115/s", "34%", "Running"} {
		if page := eval[string](b, "document.body.innerText"); !strings.Contains(page, text) {
			t.Errorf("the page does not say %q: %s", text, page)
		}
	}
}

// TestCollectionStopped: when no collector writes any more, pages say so before anything
// else, and that what they show is of then.
func TestCollectionStopped(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	must(t, w.store.StopWriter(t.Context(), "collector-1"))
	b := newTab(t, w.address)
	for name, path := range map[string]string{"first": "/", "tables": "/tables", "finding": "/findings/" + w.finding(t, hostile).Fingerprint} {
		b.looks("stopped-"+name, path)
		b.says("Collection has stopped")
		if now := eval[bool](b, `[...document.querySelectorAll("th")].some((e) => e.textContent === "Now")`); now {
			t.Errorf("%s speaks of now", name)
		}
	}
}

// TestDatabaseAway: a page that is followed says that it is old once the database does not
// answer, one that is opened then says why it is empty, and comes back by itself.
func TestDatabaseAway(t *testing.T) {
	t.Parallel()
	pg := pgtest.Run(t)
	s, address := bare(t, pg.URL("postgres"))
	must(t, s.StartWriter(t.Context(), store.Writer{ID: "collector-1", Host: "host-1", Started: time.Now()}))
	b := newTab(t, address)
	b.expected = "503"
	b.look(1440, "light")
	b.open("/")
	b.until(`document.getElementById("live").hidden === false`)
	must(t, pg.Kill())
	b.until(`document.getElementById("stale").textContent.startsWith("No answer since")`)
	b.shoot("away-followed-1440-light")
	b.looks("away-first", "/")
	b.says("The database does not answer")
	b.look(390, "light")
	b.open("/tables")
	must(t, pg.Start(t.Context()))
	b.until(`document.querySelector("h1")?.textContent.startsWith("Tables") === true`)
}

// paper is the width of a sheet of A4 within its margins, in CSS pixels.
const paper = 688

// TestPrint: on paper every page is black on white whatever the scheme, without what only
// a screen can use, and nothing is cut off.
func TestPrint(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 30)
	of := paths(t, w)
	for _, name := range []string{"first", "tables", "table", "heat", "hostile", "long", "silences"} {
		t.Run(name, func(t *testing.T) {
			w.attend(t)
			b := newTab(t, w.address)
			b.look(paper, "dark")
			b.open(of[name])
			call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
				Media: "print", Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}},
			})
			b.shoot("print-" + name)
			colours := eval[string](b, `(() => { const s = getComputedStyle(document.body); return s.color + " on " + s.backgroundColor; })()`)
			if colours != "rgb(0, 0, 0) on rgb(255, 255, 255)" {
				t.Errorf("the page is %s", colours)
			}
			if shown := eval[string](b, `[...document.querySelectorAll("nav, form, button")].filter((e) => e.checkVisibility()).map((e) => e.outerHTML.slice(0, 80)).join()`); shown != "" {
				t.Errorf("on paper there is %s", shown)
			}
			cut := eval[string](b, `[document.documentElement, ...document.querySelectorAll(".scroll, .plot, .heat-frame, td, th")]
				.filter((e) => e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 1).map((e) => e.outerHTML.slice(0, 120) + " " + e.scrollWidth + " > " + e.clientWidth).slice(0, 3).join("\n")`)
			if cut != "" {
				t.Errorf("cut off: %s", cut)
			}
		})
	}
}

// TestTroubles has every trouble that the status page knows, and the dot that leads to it.
func TestTroubles(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	ctx := t.Context()
	at := time.Now()
	must(t, w.store.StartWriter(ctx, store.Writer{ID: "collector-2", Host: "ip-10-0-17-203.eu-west-1.compute.internal", Started: at}))
	must(t, w.store.ReportWriter(ctx, "collector-2", store.WriterStatus{
		LowerBounds: []string{"orders", hostile}, Version: "v0.9.0-14-g1a2b3c", State: "failing", Reason: "partition orders/3: the broker at kafka-2:9092 refused the fetch: not authorized", ClockOffset: new(-1500 * time.Millisecond), Lag: new(int64(123456)),
		RefusedTables: []string{"scratch-1", "scratch-2"}, BadShare: new(0.12),
	}))
	must(t, w.store.StartWriter(ctx, store.Writer{ID: "collector-0", Host: "host-0", Started: at.Add(-time.Hour)}))
	must(t, w.store.StopWriter(ctx, "collector-0"))
	claim := store.Claim{PartitionID: store.PartitionID{Source: "kafka/ddb-samples", Name: "3"}, First: "0"}
	position, err := w.store.Claim(ctx, "collector-2", claim)
	must(t, err)
	must(t, w.store.Commit(ctx, store.Commit{
		Writer: "collector-2", Seq: 1,
		Watermarks: []store.Watermark{{PartitionID: claim.PartitionID, Epoch: position.Epoch, Time: at.Add(-7 * time.Minute), Lag: 123456}},
		Gaps: []store.Gap{
			{Gap: sample.Gap{Source: "kafka/ddb-samples", Partition: "5", From: "18204411", To: "18217002", Reason: "the records expired before they were read"}},
			{Gap: sample.Gap{Source: "streams", Partition: "shardId-00000001732199324735-7f0c2a3b", Reason: "the shard vanished"}},
		},
		Bad: []store.BadSample{
			{Hour: at, Source: "kafka/ddb-samples", Reason: "bad_table", Count: 18402, Excerpts: []sample.Text{`{"ts":"…","table":"arn:aws:dynamodb:eu-west-1:…:table/orders","pk":"…"}`}},
			{Hour: at.Add(-3 * time.Hour), Source: "kafka/ddb-samples", Reason: "key_schema_not_configured", Count: 12},
			{Hour: at, Source: "kafka/ddb-samples", Reason: hostile, Count: 1, Excerpts: []sample.Text{hostile}},
		},
	}))
	must(t, w.store.ReceiverSucceeded(ctx, "pagers"))
	must(t, w.store.ReceiverFailed(ctx, "chat", "POST https://hooks.slack.com/services/…: 403 Forbidden: invalid_token", time.Minute))
	must(t, w.store.PutCloudWatch(ctx, store.CloudWatchRead{Target: sample.Target{Table: "carts"}, State: "denied", Message: "not authorized to perform cloudwatch:GetMetricData", Requested: 40}, nil))
	b := newTab(t, w.address)
	b.looks("troubles-status", "/status")
	for _, text := range []string{"4 problems", "It rejects many samples", "Send the table's name, not its ARN", "18,402", "failing", "the records expired", "not authorized to perform", "are lower bounds"} {
		b.says(text)
	}
	if dot := eval[string](b, `document.getElementById("health").className + ": " + document.getElementById("health").textContent`); dot != "health critical: 4 problems" {
		t.Errorf("the dot says %q", dot)
	}
	b.open("/") // the dot follows the state on every page
	b.until(`document.getElementById("live").hidden === false`)
	must(t, w.store.ReceiverSucceeded(ctx, "chat"))
	b.until(`document.getElementById("health").textContent === "3 problems" && document.getElementById("health").className === "health warning"`)
	b.do(chromedp.Click("#health"))
	b.until(`location.pathname === "/status"`)
}
