package main

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/keyheat/keyheat/internal/testsupport/await"
	"github.com/keyheat/keyheat/internal/testsupport/daemontest"
	"github.com/keyheat/keyheat/internal/testsupport/firehose"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/port"
	"github.com/keyheat/keyheat/store"
)

// TestTheDoorAnswersFromTheFirstMoment: while the database is away, a collector that starts asks
// producers to send again, in every format. Exporters of OpenTelemetry do not repeat a 404.
func TestTheDoorAnswersFromTheFirstMoment(t *testing.T) {
	t.Parallel()
	away := "postgres://keyheat@" + port.HoldAddress(t) + "/keyheat"
	d := daemontest.Start(t, "collector", "run", "--http-enabled", "--store-url", away, "--admin-listen", "127.0.0.1:0")
	for path, types := range map[string][]string{
		"/v1/samples":  {"application/json", "application/x-ndjson", "application/x-protobuf"},
		"/v1/traces":   {"application/json", "application/x-protobuf"},
		"/v1/firehose": {"application/json"},
	} {
		for _, contentType := range types {
			body := ""
			if contentType != "application/x-protobuf" {
				body = "{}"
			}
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+d.Address+path, strings.NewReader(body))
			must.Succeed(t, err)
			request.Header.Set("Content-Type", contentType)
			request.Header.Set("X-Amz-Firehose-Protocol-Version", "1.0")
			request.Header.Set("X-Amz-Firehose-Request-Id", "a")
			response, err := http.DefaultClient.Do(request)
			must.Succeed(t, err)
			_ = response.Body.Close()
			if response.StatusCode != http.StatusServiceUnavailable || response.Header.Get("Retry-After") == "" {
				t.Errorf("%s of %s is answered with %s, Retry-After %q", path, contentType, response.Status, response.Header.Get("Retry-After"))
			}
		}
	}
}

// TestFirehoseComesInByItsAccessKey: the key is a user's name and password.
func TestFirehoseComesInByItsAccessKey(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	url := "sqlite:" + filepath.Join(dir, "keyheat.db")
	_, err := store.Migrate(t.Context(), url)
	must.Succeed(t, err)
	hash, err := bcrypt.GenerateFromPassword([]byte("secret"), bcrypt.MinCost)
	must.Succeed(t, err)
	web := filepath.Join(dir, "web.yaml")
	must.Succeed(t, os.WriteFile(web, fmt.Appendf(nil, "basic_auth_users: {firehose: %s, reader: %s}", hash, hash), 0o600))
	d := daemontest.Start(t, "collector", "run", "--http-enabled", "--store-url", url, "--admin-listen", "127.0.0.1:0", "--web-config-file", web, "--web-operators", "firehose",
		"--http-firehose-sources", "arn:aws:firehose:eu-west-1:111122223333:*")
	send := func(key, stream string) int {
		data := base64.StdEncoding.EncodeToString(fmt.Appendf(nil, `{"ts":%d,"table":"orders","pk":"a","op":"PutItem","wcu":2}`, time.Now().UnixMilli()))
		r, err := firehose.Request(t.Context(), "http://"+d.Address+"/v1/firehose", "a", []byte(`{"records":[{"data":"`+data+`"}]}`))
		must.Succeed(t, err)
		r.Header.Set("X-Amz-Firehose-Access-Key", key)
		r.Header.Set("X-Amz-Firehose-Source-Arn", stream)
		response, err := http.DefaultClient.Do(r)
		must.Succeed(t, err)
		_ = response.Body.Close()
		return response.StatusCode
	}
	const allowed, other = firehose.ARN, "arn:aws:firehose:eu-west-1:999999999999:deliverystream/samples"
	await.Until(t, "the delivery is stored", func() bool { return send("firehose:secret", allowed) == http.StatusOK })
	for _, c := range []struct {
		key, stream string
		want        int
	}{
		{`{"api_key":"firehose:secret"}`, allowed, 200}, {"firehose:secret", other, 403}, {"reader:secret", allowed, 403}, {"firehose:wrong", allowed, 401}, {"", allowed, 401},
	} {
		if got := send(c.key, c.stream); got != c.want {
			t.Errorf("key %q, stream %s: %d, want %d", c.key, c.stream, got, c.want)
		}
	}
}
