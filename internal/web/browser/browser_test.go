// Package browser holds the pages to what a person meets: it opens them in a real
// Chromium, at the widths of a phone, a tablet and a screen, in both colour schemes.
package browser

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/keyheat/keyheat/internal/testsupport/await"
)

// shots is a folder for pictures of each page.
var shots = flag.String("shots", "", "write a picture of every page into this folder")

// browser is the one process that all tests share; each has tabs of its own.
var browser = sync.OnceValues(func() (context.Context, error) {
	program := os.Getenv("CHROMIUM")
	if program == "" {
		return nil, errors.New("no Chromium: set CHROMIUM to the program, as make browser does")
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(program), chromedp.NoSandbox)
	allocator, _ := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, _ := chromedp.NewContext(allocator)
	return ctx, chromedp.Do(ctx)
})

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if ctx, err := browser(); err == nil {
		_ = chromedp.Cancel(ctx) // the browser's own end
	}
	os.Exit(code)
}

// tab is a tab of the browser. It fails its test when a page writes an error to the
// console, or loads something from elsewhere.
type tab struct {
	*testing.T
	ctx  context.Context
	home string

	// expected is in what the console may say; empty for nothing.
	expected string

	mu     sync.Mutex
	faults []string
}

func newTab(t *testing.T, home string) *tab {
	t.Helper()
	parent, err := browser()
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	ctx, cancel := chromedp.NewContext(parent, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	b := &tab{T: t, ctx: ctx, home: home}
	must(t, chromedp.Listen(ctx, b.listen))
	var stop context.CancelFunc
	b.ctx, stop = context.WithTimeout(ctx, 4*await.Limit)
	t.Cleanup(stop)
	call(b, log.Enable, cdp.Empty{})
	call(b, runtime.Enable, cdp.Empty{})
	call(b, network.Enable, network.EnableParams{})
	t.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, fault := range b.faults {
			t.Error(fault)
		}
	})
	return b
}

func (b *tab) listen(event any) {
	switch e := event.(type) {
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			b.fault("console: %s %s", e.Entry.Text, e.Entry.URL)
		}
	case *runtime.EventExceptionThrown:
		b.fault("exception: %s %+v", e.ExceptionDetails.Text, e.ExceptionDetails.Exception)
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			b.fault("console: %s", e.Args[0].Value)
		}
	case *network.EventRequestWillBeSent:
		if u := e.Request.URL; !strings.HasPrefix(u, b.home+"/") && !strings.HasPrefix(u, "data:") && !strings.HasPrefix(u, "about:") {
			b.fault("a request leaves the origin: %s", u)
		}
	}
}

func (b *tab) fault(format string, args ...any) {
	fault := fmt.Sprintf(format, args...)
	if b.expected != "" && strings.Contains(fault, b.expected) {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.faults = append(b.faults, fault)
}

// call sends a command of the protocol.
func call[P, R any](b *tab, c cdp.Command[P, R], p P) R {
	b.Helper()
	r, err := chromedp.Call(b.ctx, c, p)
	must(b.T, err)
	return r
}

// do runs actions.
func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	must(b.T, chromedp.Do(b.ctx, actions...))
}

// open opens a page of the site.
func (b *tab) open(path string) {
	b.Helper()
	b.do(chromedp.Navigate(b.home + path))
}

// look sets the width and the colour scheme.
func (b *tab) look(width int64, scheme string) {
	b.Helper()
	b.do(chromedp.EmulateViewport(width, 900))
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
}

// eval evaluates an expression, awaiting it where it is a promise.
func eval[T any](b *tab, expression string) T {
	b.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.Fatalf("%.200s: %v", expression, err)
	}
	return v
}

// until waits for an expression to hold, over navigations of the page.
func (b *tab) until(expression string) {
	b.Helper()
	var err error
	for deadline := time.Now().Add(await.Limit); time.Now().Before(deadline); {
		_, err = chromedp.Run(b.ctx, chromedp.Poll[bool](expression, chromedp.WithPollingTimeout(time.Until(deadline))))
		if err == nil || !strings.Contains(err.Error(), "context") && !strings.Contains(err.Error(), "navigated") { // that of the page before
			break
		}
	}
	if err != nil {
		b.Fatalf("%s: %v", expression, err)
	}
}

// axe loads axe-core into the page and returns what it finds.
func (b *tab) axe() (violations []string) {
	b.Helper()
	eval[int](b, axeSource(b.T)+";0")
	text := eval[string](b, `axe.run({ resultTypes: ["violations"] }).then((r) => JSON.stringify(
		r.violations.map((v) => v.id + ": " + v.help + " " + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 200) + " " + n.failureSummary).join(" | "))))`)
	must(b.T, json.Unmarshal([]byte(text), &violations))
	return violations
}

var axeText = sync.OnceValues(func() ([]byte, error) { return os.ReadFile(os.Getenv("AXE")) })

func axeSource(t *testing.T) string {
	t.Helper()
	text, err := axeText()
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("no axe-core: set AXE to its script, as make browser does: %v", err)
		}
		t.Skip(err)
	}
	return string(text)
}

var unfit = regexp.MustCompile(`[^a-z0-9]+`)

// shoot writes a picture of the page as it is.
func (b *tab) shoot(name string) {
	b.Helper()
	if *shots == "" {
		return
	}
	picture, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	must(b.T, err)
	must(b.T, os.MkdirAll(*shots, 0o750))
	must(b.T, os.WriteFile(filepath.Join(*shots, unfit.ReplaceAllString(strings.ToLower(name), "-")+".png"), picture, 0o600))
}

// paths are the pages of a world.
func paths(t *testing.T, w *world) map[string]string {
	t.Helper()
	values := func(table string) string { return url.Values{"table": {table}, "index": {""}}.Encode() }
	return map[string]string{
		"first":           "/",
		"first-of-time":   "/?span=5m",
		"tables-of-time":  "/tables?span=5m",
		"divided-of-time": "/partitions?span=5m&table=carts",
		"status-of-time":  "/status?span=2h",
		"reports-of-time": "/reports?span=2h",
		"filtered":        "/?state=firing&q=customer",
		"tables":          "/tables",
		"table":           "/table?" + values("carts"),
		"divided":         "/partitions?table=carts",
		"ranges":          "/partitions",
		"heat":            "/heat?span=5m&" + values("carts"),
		"heat-30":         "/heat?span=5m&" + values("orders-00"),
		"hostile":         "/findings/" + w.finding(t, hostile).Fingerprint,
		"long":            "/findings/" + w.finding(t, longKey).Fingerprint,
		"status":          "/status",
		"docs":            "/docs/",
		"settings":        "/docs/CONFIGURATION.md",
		"story":           "/docs/PAGES.md",
	}
}

// TestPages opens every page at every width in both schemes.
func TestPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hotKeys)
	w.divide(t, "carts")
	for name, path := range paths(t, w) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w.attend(t)
			newTab(t, w.address).looks(name, path)
		})
	}
}

// looks opens a page at each width, looks at it in both schemes, and holds it to what every
// page is held to.
func (b *tab) looks(name, path string) {
	b.Helper()
	for _, width := range []int64{390, 1024, 1440} {
		b.look(width, "light")
		b.open(path)
		if wide := eval[int64](b, "document.documentElement.scrollWidth"); wide > width {
			b.Errorf("%s: at %d pixels the page is %d wide", name, width, wide)
		}
		for _, scheme := range []string{"light", "dark"} {
			b.look(width, scheme)
			if isExamined(name, width, scheme) {
				for _, v := range b.axe() {
					b.Errorf("%s: axe at %d pixels, %s: %s", name, width, scheme, v)
				}
			}
			b.shoot(fmt.Sprintf("%s-%d-%s", name, width, scheme))
		}
	}
}

// isExamined reports whether axe examines a page that looks so: as a phone shows it by day and a
// wide screen by night. With -short it examines each page once, half of them so.
func isExamined(name string, width int64, scheme string) bool {
	phone, screen := width == 390 && scheme == "light", width == 1440 && scheme == "dark"
	if !testing.Short() {
		return phone || screen
	}
	if len(name)%2 == 0 {
		return phone
	}
	return screen
}
