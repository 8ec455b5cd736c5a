package browser

import (
	"io"
	"net/http"
	"net/url"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// over is the text of the first row's seconds over the limit.
const over = `document.querySelector("tbody tr td.since .where").textContent`

// TestLive holds that a page goes on while a reader is in it, that the focus stays where
// it is, and that a page that says it is paused is.
func TestLive(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 30)
	b := newTab(t, w.address)
	b.look(1440, "light")
	b.open("/")
	b.until(over + ` === "90 s over limit"`)
	b.do(chromedp.Click("tbody tr td.todo")) // a click in a table does not stop anything
	eval[bool](b, `(document.querySelectorAll("tbody a.key")[2].focus(), true)`)
	focused := eval[string](b, "document.activeElement.href")
	w.tell(t, 5, 30)
	b.until(over + ` === "95 s over limit"`)
	if now := eval[string](b, "document.activeElement.href"); now != focused || focused == "" {
		t.Errorf("the focus was on %s, and is on %s", focused, now)
	}
	b.do(chromedp.Click("#live"))
	b.until(`document.getElementById("live").textContent === "Resume updates"`)
	w.tell(t, 5, 30)
	if fresh := eval[bool](b, `fetch("/").then((r) => r.text()).then((text) => text.includes("100 s over"))`); !fresh {
		t.Error("the server does not have what came since")
	}
	if still := eval[string](b, over); still != "95 s over limit" {
		t.Errorf("a paused page shows %s", still)
	}
	b.do(chromedp.Click("#live"))
	b.until(over + ` === "100 s over limit"`)
	b.until(`document.getElementById("live").textContent === "Pause updates"`)
}

// TestNewRowsWaitForTheReader holds that rows do not move while the pointer is over them.
func TestNewRowsWaitForTheReader(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	b := newTab(t, w.address)
	b.look(1440, "light")
	b.open("/")
	b.until(over + ` === "90 s over limit"`)
	rows := eval[int](b, `document.querySelectorAll("tbody tr").length`)
	b.do(chromedp.MouseEvent("mouseMoved", 300, eval[float64](b, `document.querySelector("tbody td.todo").getBoundingClientRect().y + 5`)))
	b.until(`document.querySelector("tbody").matches(":hover")`)
	w.tell(t, 30, 3)
	b.until(over + ` === "120 s over limit"`) // figures go on in their places
	if now := eval[int](b, `document.querySelectorAll("tbody tr").length`); now != rows {
		t.Errorf("%d rows became %d under the pointer", rows, now)
	}
	b.do(chromedp.MouseEvent("mouseMoved", 5, 5))
	b.until(`document.querySelectorAll("tbody tr").length > ` + string(rune('0'+rows)))
}

// TestBudgets holds the first page of 300 hot keys to what a phone takes, also every two
// seconds: that is how often it is fetched again at most.
func TestBudgets(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hotKeys)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.address+"/", nil)
	must(t, err)
	r.Header.Set("Accept-Encoding", "gzip")
	answer, err := http.DefaultTransport.RoundTrip(r)
	must(t, err)
	defer answer.Body.Close()
	if answer.Header.Get("Content-Encoding") != "gzip" {
		t.Fatal("the first page is not compressed")
	}
	page, err := io.ReadAll(answer.Body)
	if err != nil || len(page) > 10_000 {
		t.Errorf("the first page has %d bytes, want 10,000 at most; %v", len(page), err)
	}
	b := newTab(t, w.address)
	for _, width := range []int64{390, 1024, 1440} {
		b.look(width, "light")
		b.open("/")
		if tall := eval[int](b, "document.documentElement.scrollHeight"); tall > 2500 {
			t.Errorf("at %d pixels the first page is %d tall, want 2,500 at most", width, tall)
		}
	}
}

// TestHeatmap has a heatmap that goes on, and stands still under the pointer. It tells of a
// cell by pointer and keys, zooms by dragging, and opens a key by a click.
func TestHeatmap(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	b := newTab(t, w.address)
	b.look(1440, "light")
	b.open("/heat?span=5m&" + url.Values{"table": {"carts"}, "index": {""}}.Encode())
	const from, told = `document.querySelector("figure.heat").dataset.from`, `document.querySelector(".heat-cell").textContent`
	type box struct{ X, Y, Width float64 }
	at := func() box {
		return eval[box](b, `JSON.parse(JSON.stringify(document.querySelector("figure.heat .plot").getBoundingClientRect()))`)
	}
	b.until(`document.getElementById("live").hidden === false`)
	before := eval[string](b, from)
	w.tell(t, 5, 0)
	b.until(from + ` !== "` + before + `"`) // it goes on
	c := at()
	b.do(chromedp.MouseEvent("mouseMoved", c.X+c.Width*0.8, c.Y+10))
	b.until(told + `.includes("% of the limit") && ` + told + `.includes("Its finding")`)
	b.shoot("heat-pointed-1440-light")
	before = eval[string](b, from)
	w.tell(t, 5, 0)
	b.until(`document.querySelector(".asof time").dateTime !== "" && performance.getEntriesByType("resource").filter((r) => r.name.includes("/heat?")).length > 1`)
	if now := eval[string](b, from); now != before {
		t.Error("the map moves under the pointer")
	}
	b.do(chromedp.MouseEvent("mouseMoved", 5, 5))
	b.until(from + ` !== "` + before + `"`)
	eval[bool](b, `(document.querySelector("figure.heat .plot").focus(), true)`)
	b.do(chromedp.KeyEvent(kb.End), chromedp.KeyEvent(kb.ArrowDown))
	b.until(`document.querySelectorAll(".heat-keys li.at").length === 1`)
	b.do(chromedp.KeyEvent(kb.Escape))
	b.until(told + `.startsWith("Point at a cell")`)
	c = at()
	b.do(chromedp.DragAndDropXY(c.X+c.Width*0.75, c.Y+10, c.X+c.Width*0.9, c.Y+10))
	b.until(`new URLSearchParams(location.search).has("from")`)
	b.until(`document.readyState === "complete"`)
	c = at()
	b.do(chromedp.MouseClickXY(c.X+c.Width*0.5, c.Y+10))
	b.until(`location.pathname.startsWith("/findings/")`)
	if page := eval[string](b, `location.pathname`); page != "/findings/"+w.finding(t, hostile).Fingerprint {
		t.Errorf("the hottest row leads to %s", page)
	}
}

// TestCustomTime chooses a time without a script.
func TestCustomTime(t *testing.T) {
	t.Parallel()
	b := newTab(t, newWorld(t, 0).address)
	b.open("/heat?" + url.Values{"table": {"carts"}, "index": {""}, "span": {"5m"}}.Encode())
	b.do(chromedp.Click(".time summary"))
	b.shoot("time-menu-1440-dark")
	b.do(chromedp.Click(".time form button"))
	b.until(`new URLSearchParams(location.search).has("from")`)
}
