package main

import (
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/testsupport/daemontest"
	"github.com/keyheat/keyheat/internal/testsupport/must"
)

// TestUp: one process takes samples over HTTP, on a database that it makes itself, and shows the hot
// key that is in them. Stopped, it has stored all that it answered for.
func TestUp(t *testing.T) {
	t.Parallel()
	args := []string{"up", "--store-url", "sqlite:" + filepath.Join(t.TempDir(), "keyheat.db"), "--listen", "127.0.0.1:0", "--log-format", "json", "--log-level", "info"}
	d := daemontest.Start(t, "reporter", args...)
	d.Becomes("/-/ready", `"ready":true`)
	var lines strings.Builder
	begin := time.Now().Add(-30 * time.Second).Truncate(time.Second)
	for s := range 20 {
		fmt.Fprintf(&lines, `{"ts":%d,"table":"orders","pk":"acme","op":"PutItem","wcu":1,"n":1300}`+"\n", begin.Add(time.Duration(s)*time.Second).UnixMilli())
	}
	for status := 0; status != http.StatusOK; { // as producers do, which send again
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+d.Address+"/v1/samples", strings.NewReader(lines.String()))
		must.Succeed(t, err)
		request.Header.Set("Content-Type", "application/x-ndjson")
		response, err := http.DefaultClient.Do(request)
		must.Succeed(t, err)
		_ = response.Body.Close()
		if status = response.StatusCode; status != http.StatusOK && status != http.StatusServiceUnavailable {
			t.Fatalf("status %s", response.Status)
		}
	}
	d.Becomes("/api/v1/incidents", `"case":"hot_key"`)
	if err := d.Stop(); err != nil {
		t.Error(err)
	}
	again := daemontest.Start(t, "reporter", args...)
	again.Becomes("/api/v1/incidents", `"case":"hot_key"`)
	if err := again.Stop(); err != nil {
		t.Error(err)
	}
}

// TestUpRefuses: settings that need the two daemons are an error that says so.
func TestUpRefuses(t *testing.T) {
	t.Parallel()
	for flags, want := range map[string]string{
		"--policy-keys hmac":            "reporter up has no secret of hashed keys, so run the collector by itself",
		"--listen 0.0.0.0:0":            "listen",
		"--store-url mysql://localhost": "store.url: not the URL of a database",
	} {
		var errs strings.Builder
		code := cli.Run(t.Context(), command(), append([]string{"up"}, strings.Fields(flags)...), cli.Streams{Out: io.Discard, Err: &errs})
		if code != cli.Misconfigured || !strings.Contains(errs.String(), want) {
			t.Errorf("%s: exits %d, %s", flags, code, errs.String())
		}
	}
}
