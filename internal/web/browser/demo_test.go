package browser

import (
	"context"
	"io"
	"log/slog"
	"regexp"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/keyheat/keyheat/internal/demo"
)

// TestDemo follows the demo's story on its page, as a reader does, and presses the button.
func TestDemo(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	in, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		defer out.Close()
		ended <- demo.Run(ctx, demo.Options{
			Listen: "127.0.0.1:0", Backlog: 10 * time.Second, Calm: 3 * time.Second, Out: out, Logger: slog.New(slog.DiscardHandler),
		})
	}()
	t.Cleanup(func() { cancel(); must(t, <-ended) })
	text := make([]byte, 1000)
	n, err := in.Read(text)
	must(t, err)
	b := newTab(t, regexp.MustCompile(`http://[0-9.:]+`).FindString(string(text[:n])))
	b.look(1440, "light")
	b.open("/demo")
	b.until(`document.querySelector(".scenes .now").textContent.includes("Paged") && document.querySelector("#apply button") !== null`)
	b.shoot("demo-paged")
	b.do(chromedp.Click("#apply button"))
	b.until(`document.querySelector(".scenes .now").textContent.includes("Shards") && document.querySelector("#apply") === null`)
	b.until(`document.querySelector(".numbers").textContent.includes("Fullest shard")`) // the page is followed
	b.looks("demo", "/demo")
}
