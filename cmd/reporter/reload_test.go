package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/keyheat/keyheat/internal/testsupport/daemontest"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/store"
)

// TestSIGHUP changes the files of a reporter that runs: what can change does, what cannot
// is named, and a file that is wrong changes nothing.
func TestSIGHUP(t *testing.T) {
	t.Parallel()
	beats := make(chan string, 100)
	switches := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { beats <- r.URL.Path }))
	defer switches.Close()
	dir := t.TempDir()
	file, secret, heartbeat := filepath.Join(dir, "reporter.yaml"), filepath.Join(dir, "secret"), filepath.Join(dir, "heartbeat")
	write := func(path, text string) {
		t.Helper()
		must.Succeed(t, os.WriteFile(path, []byte(text), 0o600))
	}
	database := "sqlite:" + filepath.Join(dir, "keyheat.db")
	if _, err := store.Migrate(t.Context(), database); err != nil {
		t.Fatal(err)
	}
	settings := func(windows, owner string) string {
		return fmt.Sprintf(`
store: {url: %q}
listen: 127.0.0.1:0
retention: {windows: %s}
tables: {orders: {owner: %s}}
heartbeat: {url_file: %q}
receivers: {oncall: {type: webhook, url: "http://127.0.0.1:1/", secret_file: %q}}
`, database, windows, owner, heartbeat, secret)
	}
	write(file, settings("24h", "checkout"))
	write(secret, "whsec_Zmlyc3QtZmlyc3QtZmlyc3QtZmlyc3Qt")
	write(heartbeat, switches.URL+"/first")
	d := daemontest.Start(t, "reporter", "serve", "--config", file)
	d.Logs("judging")
	expectMetric(t, d, "keyheat_config_last_reload_successful 1")

	write(file, settings("48h", "payments"))
	write(secret, "whsec_c2Vjb25kcy1zZWNvbmRzLXNlY29uZHMt")
	write(heartbeat, switches.URL+"/second")
	d.Signal(syscall.SIGHUP)
	line := d.Logs("the configuration was reloaded")
	if want := `"changed":["heartbeat.url","receivers.oncall.secret","tables.orders.owner"]`; !strings.Contains(line, want) {
		t.Errorf("%s lacks %s", line, want)
	}
	if line := d.Logs("after a restart only"); !strings.Contains(line, `"settings":["retention.windows"]`) {
		t.Error(line)
	}
	for beat := ""; beat != "/second"; {
		beat = <-beats
	}
	d.Becomes("/-/ready", `"ready":true`)

	write(file, settings("48h", "payments")+"receivers: nonsense\n")
	d.Signal(syscall.SIGHUP)
	if line := d.Logs("was not reloaded"); !strings.Contains(line, "reporter.yaml:8") {
		t.Errorf("%s does not say where", line)
	}
	expectMetric(t, d, "keyheat_config_last_reload_successful 0")

	write(file, settings("24h", "payments")) // as it was started
	d.Signal(syscall.SIGHUP)
	d.Logs(`"changed":[]`)
	expectMetric(t, d, "keyheat_config_last_reload_successful 1")
	expectMetric(t, d, "keyheat_config_last_reload_success_timestamp_seconds ")
	if err := d.Stop(); err != nil {
		t.Errorf("SIGTERM ended it: %v", err)
	}
}

func expectMetric(t *testing.T, d *daemontest.Daemon, line string) {
	t.Helper()
	if all := d.Get("/metrics"); !strings.Contains(all, "\n"+line) {
		t.Errorf("no metric %s", line)
	}
}
