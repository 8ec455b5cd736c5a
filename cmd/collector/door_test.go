package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/internal/testsupport/daemontest"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/port"
)

// TestTheDoorAnswersFromTheFirstMoment: while the database is away, a collector that starts asks
// producers to send again, in every format. Exporters of OpenTelemetry do not repeat a 404.
func TestTheDoorAnswersFromTheFirstMoment(t *testing.T) {
	t.Parallel()
	away := "postgres://keyheat@" + port.HoldAddress(t) + "/keyheat"
	d := daemontest.Start(t, "collector", "run", "--http-enabled", "--store-url", away, "--admin-listen", "127.0.0.1:0")
	for path, types := range map[string][]string{
		"/v1/samples": {"application/json", "application/x-ndjson", "application/x-protobuf"},
		"/v1/traces":  {"application/json", "application/x-protobuf"},
	} {
		for _, contentType := range types {
			body := ""
			if contentType != "application/x-protobuf" {
				body = "{}"
			}
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+d.Address+path, strings.NewReader(body))
			must.Succeed(t, err)
			request.Header.Set("Content-Type", contentType)
			response, err := http.DefaultClient.Do(request)
			must.Succeed(t, err)
			_ = response.Body.Close()
			if response.StatusCode != http.StatusServiceUnavailable || response.Header.Get("Retry-After") == "" {
				t.Errorf("%s of %s is answered with %s, Retry-After %q", path, contentType, response.Status, response.Header.Get("Retry-After"))
			}
		}
	}
}
