//go:build e2e

package e2e_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/port"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/httpsink"
)

// TestPrometheus has a real Prometheus scrape a reporter and a collector with a hot key, and
// send the alerts of our rules to a real Alertmanager: dashboards have their series, and a
// stopped collector and reporter fire there, with the link to the runbook.
func TestPrometheus(t *testing.T) {
	t.Parallel() // it mostly waits
	manager := &server{address: port.HoldAddress(t)}
	w := &scenario{}
	storeURL := w.startReporter(t, fmt.Sprintf("receivers: {manager: {type: alertmanager, url: 'http://%s'}}", manager.address))
	c := newProcess(t, "collector", "collector run", fmt.Sprintf("http: {enabled: true}\nstore: {url: %q}\nadmin: {listen: \"%%listen%%\"}\n", storeURL))
	c.start(t)
	c.ready(t)
	manager.start(t, "ensure-alertmanager", "prometheus-alertmanager", map[string]string{"config.yml": "route: {receiver: none}\nreceivers: [{name: none}]\n"}, "--cluster.listen-address=")
	p := &server{address: port.HoldAddress(t)}
	p.start(t, "ensure-prometheus", "prometheus", map[string]string{
		"config.yml": "global: {scrape_interval: 1s, evaluation_interval: 1s}\n" + strings.NewReplacer(
			"127.0.0.1:9461", c.address, "127.0.0.1:9460", w.reporter.address, "127.0.0.1:9093", manager.address,
			"scrape_interval: 15s", "scrape_interval: 1s",
		).Replace(deployed(t, "prometheus/scrape.yaml")),
		// promtool's cases in rules_test.yaml are about the times.
		"rules.yaml": regexp.MustCompile(`for: \d+m`).ReplaceAllString(deployed(t, "prometheus/rules.yaml"), "for: 1s"),
	})
	stop := makeHot(t, c)
	dashboards(t, p)
	stop()
	if alerts := manager.alerts(t); alerts["KeyheatDown"].Labels != nil || alerts["KeyheatNoDecision"].Labels != nil {
		t.Errorf("while all programs run, the alerts are %+v", alerts)
	}
	c.stop(t)
	manager.awaits(t, "KeyheatDown", "keyheat-collector")
	w.reporter.stop(t)
	manager.awaits(t, "KeyheatNoDecision", "")
	c.start(t)
	w.reporter.start(t)
	within(t, time.Minute, "both alerts are over", func() error {
		if alerts := manager.alerts(t); alerts["KeyheatDown"].Labels != nil || alerts["KeyheatNoDecision"].Labels != nil {
			return fmt.Errorf("the alerts are %+v", alerts)
		}
		return nil
	})
}

// server is a Prometheus or an Alertmanager.
type server struct{ address string }

// start runs a program that a script finds, with files in a folder of its own.
func (s *server) start(t *testing.T, script, program string, files map[string]string, args ...string) {
	t.Helper()
	found, err := exec.CommandContext(t.Context(), "../scripts/"+script).Output()
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%s: %v", script, err)
		}
		t.Skipf("%s cannot be had here: see scripts/%s", program, script)
	}
	path := strings.TrimSpace(string(found))
	if filepath.Base(path) != program { // a folder of programs
		path = filepath.Join(path, program)
	}
	folder := t.TempDir()
	for name, text := range files {
		must.Succeed(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	p := &process{name: program, address: s.address, log: filepath.Join(folder, "log")}
	log, err := os.Create(p.log)
	must.Succeed(t, err)
	defer log.Close()
	storage := "--storage.path="
	if program == "prometheus" {
		storage = "--storage.tsdb.path="
	}
	p.cmd = exec.Command(path, append(args, "--config.file="+filepath.Join(folder, "config.yml"), storage+filepath.Join(folder, "data"), "--web.listen-address="+s.address)...)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	must.Succeed(t, p.cmd.Start())
	t.Cleanup(func() { p.end(t) })
	p.ready(t)
}

// get reads JSON of the server's API.
func (s *server) get(path string, into any) error {
	body, err := (&process{address: s.address}).get(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(body, into)
}

// deployed returns the text of a file in deploy.
func deployed(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../deploy", path))
	must.Succeed(t, err)
	return string(text)
}

// managed is an alert as Alertmanager's API shows it.
type managed struct{ Labels, Annotations map[string]string }

// alerts returns Alertmanager's alerts by name.
func (s *server) alerts(t *testing.T) map[string]managed {
	t.Helper()
	var all []managed
	must.Succeed(t, s.get("/api/v2/alerts", &all))
	by := make(map[string]managed)
	for _, a := range all {
		by[a.Labels["alertname"]] = a
	}
	return by
}

// awaits waits until an alert of a job fires, and checks its link to the runbook.
func (s *server) awaits(t *testing.T, alert, job string) {
	t.Helper()
	within(t, time.Minute, alert+" fires in Alertmanager", func() error {
		a := s.alerts(t)[alert]
		if want := "docs/RUNBOOK.md#" + strings.ToLower(alert); a.Labels["job"] != job || !strings.HasSuffix(a.Annotations["runbook_url"], want) {
			return fmt.Errorf("it has %+v", a)
		}
		return nil
	})
}

// makeHot sends requests to one key, above a partition's limit, until it is stopped.
func makeHot(t *testing.T, collector *process) (stop func()) {
	t.Helper()
	sink := httpsink.New(httpsink.Options{Collectors: []string{"http://" + collector.address}, Client: http.DefaultClient})
	ended, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			hot := sample.Record{Time: time.Now().UnixMilli(), Table: "orders", PK: sample.KeyString("hot"), Op: sample.PutItem, WCU: 300_000, Rate: 1, N: 300, Calls: 300, Caller: "web"}
			refused := hot
			refused.Throttle, refused.WCU, refused.N, refused.Calls = "TableWriteKeyRangeThroughputExceeded", 30_000, 30, 30
			if err := sink.Write(t.Context(), []sample.Record{hot, refused}); err != nil {
				t.Errorf("a batch was dropped: %v", err)
				return
			}
			select {
			case <-ended:
				return
			case <-time.After(200 * time.Millisecond):
			}
		}
	}()
	return func() { close(ended); <-done }
}

// withoutSeries are the parts of queries whose sources are not there: CloudWatch and streams.
var withoutSeries = []string{"keyheat_report_coverage_ratio", "keyheat_streams_", "keyheat_collect_bad_samples_total", "keyheat_collect_lag_messages"}

// dashboards waits until every query of the dashboards has a series.
func dashboards(t *testing.T, p *server) {
	t.Helper()
	variables := strings.NewReplacer("$__rate_interval", "10s", "$__range", "1h", "$region", ".*", "$index", ".*", "$table", "orders")
	expressions := regexp.MustCompile(`"expr": ("(?:[^"\\]|\\.)*")`)
	asked := 0
	for _, file := range []string{"fleet.json", "table.json"} {
		for _, m := range expressions.FindAllStringSubmatch(deployed(t, "grafana/"+file), -1) {
			var query string
			must.Succeed(t, json.Unmarshal([]byte(m[1]), &query))
			if slices.ContainsFunc(withoutSeries, func(name string) bool { return strings.Contains(query, name) }) {
				continue
			}
			asked++
			within(t, 3*time.Minute, file+" has a series of "+query, func() error {
				var answer struct {
					Data struct{ Result []json.RawMessage }
				}
				err := p.get("/api/v1/query?query="+url.QueryEscape(variables.Replace(query)), &answer)
				if err == nil && len(answer.Data.Result) == 0 {
					err = errors.New("it has none")
				}
				return err
			})
		}
	}
	if asked < 20 {
		t.Errorf("only %d queries were asked", asked)
	}
	t.Logf("%d queries have series", asked)
}
