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
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/demo"
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

func get(t *testing.T, url string) string {
	t.Helper()
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		t.Fatalf("%s answers %s, %v: %s", url, r.Status, err, body)
	}
	return string(body)
}

// findings waits until there are some on the API.
func findings(t *testing.T, address string) []detect.Finding {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		var answer struct{ Findings []detect.Finding }
		if err := json.Unmarshal([]byte(get(t, address+"/api/v1/findings?state=firing")), &answer); err != nil {
			t.Fatal(err)
		}
		if len(answer.Findings) >= 3 {
			return answer.Findings
		}
	}
	t.Fatal("no three findings within 20 s")
	return nil
}

func TestFindingsAreOnThePageWithinTwentySeconds(t *testing.T) {
	t.Parallel()
	began := time.Now()
	address, _ := show(t, demo.Options{})
	found := findings(t, address)
	t.Logf("findings after %s", time.Since(began))
	page := get(t, address+"/")
	for _, f := range found {
		if !strings.Contains(page, f.Fingerprint) {
			t.Errorf("%s is not on the page", f.Key)
		}
		if !strings.Contains(get(t, address+"/findings/"+f.Fingerprint), `class="over"`) {
			t.Errorf("%s has no chart", f.Key)
		}
	}
	if tables := get(t, address+"/tables"); !strings.Contains(tables, found[0].Table) {
		t.Error("the page of tables lacks the finding's table")
	}
	if metrics := get(t, address+"/metrics"); !strings.Contains(metrics, "keyheat_report_leader 1") {
		t.Error("the judge's metrics are missing")
	}
	get(t, address+"/-/ready")
}

func TestAKeptDatabaseIsReadOn(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "demo.db")
	for range 2 {
		address, stop := show(t, demo.Options{Database: path, Backlog: 10 * time.Second})
		findings(t, address)
		for !strings.Contains(get(t, address+"/metrics"), "keyheat_collect_partitions 1") {
			time.Sleep(10 * time.Millisecond) // a kept database shows findings before the claim
		}
		stop()
	}
	s, err := store.Open(t.Context(), "sqlite:"+path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	positions, err := s.Positions(t.Context(), "")
	if err != nil || len(positions) != 1 || positions[0].Epoch != 2 {
		t.Errorf("positions %+v, %v; want one, claimed twice", positions, err)
	}
}
