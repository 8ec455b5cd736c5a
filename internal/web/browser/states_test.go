package browser

import (
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"

	"github.com/keyheat/keyheat/internal/testsupport/pgtest"
	"github.com/keyheat/keyheat/internal/web"
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
	}
	for _, p := range pages {
		b := newTab(t, address)
		b.looks("empty-"+p.name, p.path)
		b.says(p.says)
	}
	must(t, s.StartWriter(t.Context(), store.Writer{ID: "collector-1", Host: "host-1", Started: time.Now()}))
	b := newTab(t, address)
	b.looks("waiting-first", "/")
	b.says("nothing could be judged")
	b.looks("waiting-tables", "/tables")
	b.says("from its first counted second on")
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
	b.until(`document.querySelector("h1").textContent.startsWith("Tables")`)
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
			if name == "heat" {
				b.until(`!document.querySelector("figure.heat").hidden`)
			}
			call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
				Media: "print", Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}},
			})
			if name == "heat" { // it is drawn anew with the next frame
				b.until(`document.querySelector(".heat-scroll").scrollWidth <= document.documentElement.clientWidth`)
			}
			b.shoot("print-" + name)
			colours := eval[string](b, `(() => { const s = getComputedStyle(document.body); return s.color + " on " + s.backgroundColor; })()`)
			if colours != "rgb(0, 0, 0) on rgb(255, 255, 255)" {
				t.Errorf("the page is %s", colours)
			}
			if shown := eval[string](b, `[...document.querySelectorAll("nav, form, button")].filter((e) => e.checkVisibility()).map((e) => e.outerHTML.slice(0, 80)).join()`); shown != "" {
				t.Errorf("on paper there is %s", shown)
			}
			cut := eval[string](b, `[document.documentElement, ...document.querySelectorAll(".scroll, .scroll-x, .heat-scroll, td, th")]
				.filter((e) => e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 1).map((e) => e.outerHTML.slice(0, 120) + " " + e.scrollWidth + " > " + e.clientWidth).slice(0, 3).join("\n")`)
			if cut != "" {
				t.Errorf("cut off: %s", cut)
			}
		})
	}
}
