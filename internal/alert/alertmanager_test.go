//go:build e2e

package alert_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/alert"
	"github.com/keyheat/keyheat/internal/alert/receiver"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/port"
	"github.com/keyheat/keyheat/store"
)

// group is what Alertmanager tells a webhook of.
type group struct {
	Status string
	Alerts []struct {
		Status      string
		Labels      map[string]string
		Annotations map[string]string
	}
}

// manager is a real Alertmanager and what it told its own receiver.
type manager struct {
	url    string
	mu     sync.Mutex
	groups []group
}

func (m *manager) told() []group {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]group(nil), m.groups...)
}

// startManager starts an Alertmanager that groups by table.
func startManager(t *testing.T) *manager {
	t.Helper()
	program := os.Getenv("ALERTMANAGER")
	if program == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("no Alertmanager: set ALERTMANAGER to what scripts/ensure-alertmanager prints")
		}
		t.Skip("no Alertmanager: set ALERTMANAGER to what scripts/ensure-alertmanager prints")
	}
	m := &manager{}
	hook := receiveBodies(t, func(body string) {
		var g group
		if err := json.Unmarshal([]byte(body), &g); err != nil {
			t.Errorf("Alertmanager tells %q: %v", body, err)
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		m.groups = append(m.groups, g)
	})
	dir := t.TempDir()
	config := filepath.Join(dir, "alertmanager.yml")
	text := "route: {receiver: hook, group_by: [table], group_wait: 1s, group_interval: 1s, repeat_interval: 1h}\n" +
		"receivers: [{name: hook, webhook_configs: [{url: '" + hook + "', send_resolved: true}]}]\n"
	must.Succeed(t, os.WriteFile(config, []byte(text), 0o600))
	address := port.HoldAddress(t)
	var logs bytes.Buffer
	c := exec.Command(program, "--config.file="+config, "--storage.path="+dir, "--web.listen-address="+address, "--cluster.listen-address=")
	c.Stderr = &logs
	must.Succeed(t, c.Start())
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
		if t.Failed() {
			t.Logf("Alertmanager's log:\n%s", logs.String())
		}
	})
	m.url = "http://" + address
	await(t, func() bool { return m.get("/-/ready", nil) == nil })
	return m
}

// get reads one of Alertmanager's own answers.
func (m *manager) get(path string, into any) error {
	r, err := http.Get(m.url + path)
	if err != nil {
		return err
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d, %w", r.StatusCode, err)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(body, into)
}

// known is an alert as Alertmanager's API shows it.
type known struct {
	Labels    map[string]string
	Status    struct{ State string }
	UpdatedAt time.Time
}

func (m *manager) alerts(t *testing.T) map[string]known {
	t.Helper()
	var all []known
	must.Succeed(t, m.get("/api/v2/alerts", &all))
	by := make(map[string]known)
	for _, a := range all {
		by[a.Labels["incident"]] = a
	}
	return by
}

// TestRealAlertmanager: it takes our alerts, groups them, is told again, silences one,
// and learns of the end.
func TestRealAlertmanager(t *testing.T) {
	t.Parallel()
	m := startManager(t)
	s := told(t, "a1 a firing", "b1 b firing")
	l, _, err := s.AcquireLease(t.Context(), "judge", "test", time.Hour)
	must.Succeed(t, err)
	both := []store.Incident{{ID: "a", State: "firing", Document: []byte("{}")}, {ID: "b", State: "firing", Document: []byte("{}")}}
	must.Succeed(t, s.Judge(t.Context(), l, store.Judgement{Incidents: both}))
	c := quick("")
	c.Receiver = receiver.Settings{Type: receiver.Alertmanager, URL: m.url}

	deliver(t, c, s, func() bool { return len(m.alerts(t)) == 2 })
	await(t, func() bool { return len(m.told()) > 0 })
	if g := m.told()[0]; g.Status != "firing" || len(g.Alerts) != 2 || !strings.HasPrefix(g.Alerts[0].Annotations["summary"], "orders: ") {
		t.Errorf("the first group is %+v", g)
	}

	before := m.alerts(t)["a"].UpdatedAt
	deliver(t, c, s, func() bool { return m.alerts(t)["a"].UpdatedAt.After(before) })

	now := time.Now().UTC()
	silence, err := json.Marshal(map[string]any{
		"matchers": []map[string]any{{"name": "key", "value": "b", "isRegex": false}}, "startsAt": now, "endsAt": now.Add(time.Hour), "createdBy": "test", "comment": "test",
	})
	must.Succeed(t, err)
	answer, err := http.Post(m.url+"/api/v2/silences", "application/json", bytes.NewReader(silence))
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("silence: %v, %v", answer, err)
	}
	_ = answer.Body.Close()
	await(t, func() bool { return m.alerts(t)["b"].Status.State == "suppressed" })
	if got := m.alerts(t)["a"].Status.State; got != "active" {
		t.Errorf("the other is %s", got)
	}

	add(t, s, "a2 a resolved", "b2 b resolved")
	deliver(t, c, s, none(t, s, alert.DefaultRoute))
	await(t, func() bool {
		all := m.told()
		last := all[len(all)-1]
		return last.Status == "resolved" && last.Alerts[0].Labels["incident"] == "a"
	})
}

// TestRealAlertmanagerTakesHostileKeys: it refuses labels that are no text with 400.
func TestRealAlertmanagerTakesHostileKeys(t *testing.T) {
	t.Parallel()
	m := startManager(t)
	s := outbox(t)
	payload, err := json.Marshal(map[string]any{
		"incident": map[string]any{"id": "x", "table": "orders", "severity": "critical", "labels": map[string]string{"team": "a"}},
		"finding":  map[string]any{"case": "hot_key", "subject": "key_writes", "table": "orders", "key": "a\x00\xff\u202e{{ . }}<b>" + strings.Repeat("k", 2048), "severity": "critical"},
	})
	must.Succeed(t, err)
	err = s.PutNotification(t.Context(), store.Notification{ID: "x1", Fingerprint: "x", Incident: "x", Event: "firing", Route: alert.DefaultRoute, Payload: payload})
	must.Succeed(t, err)
	c := quick("")
	c.Receiver = receiver.Settings{Type: receiver.Alertmanager, URL: m.url}
	deliver(t, c, s, none(t, s, alert.DefaultRoute))
	if a := m.alerts(t)["x"]; len(a.Labels["key"]) < 200 {
		t.Errorf("alert %+v", a)
	}
}
