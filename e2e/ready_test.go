//go:build e2e

package e2e_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/port"
)

// TestReadyMeansAbleToServe: a dead receiver and stopped collection are an incident, metrics
// and lines of the status page, while the reporter stays ready. The receiver gets what waits
// once it is back.
func TestReadyMeansAbleToServe(t *testing.T) {
	t.Parallel() // it mostly waits
	address := port.HoldAddress(t)
	w := &scenario{}
	url := w.startReporter(t, fmt.Sprintf("receivers: {pager: {type: webhook, url: 'http://%s'}}", address))
	c := newProcess(t, "collector", "collector run", fmt.Sprintf("http: {enabled: true}\nstore: {url: %q}\nadmin: {listen: \"%%listen%%\"}\n", url))
	c.start(t)
	c.ready(t)
	c.stop(t)
	for path, wants := range map[string][]string{
		"/metrics": {
			"keyheat_ready 1\n", `keyheat_alert_failing{route="pager"} 1`,
			`keyheat_report_incidents{case="collection_stopped",severity="critical",state="firing"} 1`,
		},
		"/status":                  {"Collection has stopped", "connection refused"},
		"/api/v1/receivers":        {`"failing":true`},
		"/api/v1/findings?limit=9": {"collection_stopped"},
	} {
		within(t, 2*time.Minute, path+" tells of the receiver and of the incident", func() error {
			if _, err := w.reporter.get("/-/ready"); err != nil {
				t.Fatalf("the reporter is not ready: %v", err)
			}
			body, err := w.reporter.get(path)
			for _, want := range wants {
				if err == nil && !strings.Contains(string(body), want) {
					err = fmt.Errorf("it lacks %q", want)
				}
			}
			return err
		})
	}
	time.Sleep(time.Minute) // a later message has its delay
	pages := make(chan page, 100)
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", address)
	must.Succeed(t, err)
	receiver := &httptest.Server{Listener: listener, Config: &http.Server{Handler: receivePages(pages)}}
	receiver.Start()
	defer receiver.Close()
	back := time.Now()
	select {
	case p := <-pages:
		if p.incident.Case != "collection_stopped" || p.delay == "" {
			t.Errorf("the message is %+v, want the incident and how late it is", p)
		}
		t.Logf("the receiver got what waited %s after it was back: %q", rounded(time.Since(back)), p.delay)
	case <-time.After(30 * time.Second):
		t.Error("30 s after it was back, the receiver has got nothing")
	}
}
