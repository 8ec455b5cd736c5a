package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestFold holds what on-call needs of a finding to the first screen, also of a key of 2 KB.
func TestFold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	for _, key := range []string{hostile, longKey, "customer#00000"} {
		for width, height := range map[int64]float64{390: 844, 1440: 900} {
			w.attend(t)
			b := newTab(t, w.address)
			b.look(width, "light")
			b.open("/findings/" + w.finding(t, key).Fingerprint)
			b.shoot(fmt.Sprintf("fold-%.8s-%d", key, width))
			for _, part := range []string{"h1", ".lead", "p.harm", "#now", "#why", "#heals", "svg.chart"} {
				if end := eval[float64](b, fmt.Sprintf(`document.querySelector(%q).getBoundingClientRect().bottom`, part)); end > height {
					t.Errorf("%.20s at %d pixels: %s ends at %.0f of %.0f", key, width, part, end, height)
				}
			}
			if open := eval[int](b, `document.querySelectorAll("main details[open]").length`); open > 0 {
				t.Errorf("%d details are open", open)
			}
		}
	}
}

// TestWhatIf moves the slider of shards, and holds the picture to the same arithmetic as
// the API's.
func TestWhatIf(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	b := newTab(t, w.address)
	b.look(1440, "light")
	b.open("/findings/" + w.finding(t, hostile).Fingerprint)
	b.until(`document.querySelector("form.what-if button").hidden`)
	before := eval[string](b, `document.getElementById("what-if-answer").textContent`)
	eval[bool](b, `(() => {
		const field = document.querySelector("input[name=shards]");
		field.value = "11";
		field.dispatchEvent(new Event("input", { bubbles: true }));
		return true;
	})()`)
	b.until(`document.getElementById("what-if-answer").textContent.includes("201 WCU/s")`) // 2,208 / 11
	if after := eval[string](b, `document.getElementById("what-if-answer").textContent`); after == before {
		t.Error("the picture does not change")
	}
	if per := eval[float64](b, `fetch("/api/v1" + location.pathname + "/what-if?shards=11&growth=2").then((r) => r.json()).then((a) => a.what_if.per_shard)`); per < 400 || per > 402 {
		t.Errorf("the API has %v a shard at twice the load, want about 401", per)
	}
}

// TestCopy copies code, into what stands for the machine's clipboard.
func TestCopy(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	b := newTab(t, w.address)
	b.look(1024, "light")
	b.open("/findings/" + w.finding(t, "customer#00000").Fingerprint)
	eval[bool](b, `(() => { for (const d of document.querySelectorAll("details")) d.open = true; navigator.clipboard.writeText = async (text) => { window.copied = text; }; return true; })()`)
	b.do(chromedp.Click("button.copy"))
	b.until(`document.querySelector("button.copy").textContent === "Copied"`)
	if same := eval[bool](b, `window.copied === document.querySelector("pre.code").textContent && window.copied.length > 100`); !same {
		t.Error("what was copied is not the code")
	}
}
