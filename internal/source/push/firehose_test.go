package push_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/source/push"
	"github.com/keyheat/keyheat/internal/testsupport/await"
	"github.com/keyheat/keyheat/internal/testsupport/counted"
	"github.com/keyheat/keyheat/internal/testsupport/firehose"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/pgtest"
)

// delivery returns a request of Firehose of so many samples, with an id of the request. at is
// the request's time stamp.
func delivery(id string, n int, at int64) string {
	data := base64.StdEncoding.EncodeToString([]byte(batch(n)))
	return fmt.Sprintf(`{"requestId":"%s","timestamp":%d,"records":[{"data":"%s"}]}`, id, at, data)
}

// deliver sends a request as Firehose does, and checks the form of the response.
func deliver(t *testing.T, url, id, body string, headers ...string) (status int, message string) {
	t.Helper()
	r, err := firehose.Request(t.Context(), url, id, []byte(body))
	must.Succeed(t, err)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(r)
	must.Succeed(t, err)
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	must.Succeed(t, err)
	var answer struct {
		RequestID    *string `json:"requestId"`
		Timestamp    int64   `json:"timestamp"`
		ErrorMessage *string `json:"errorMessage"`
	}
	if json.Unmarshal(raw, &answer) != nil || answer.RequestID == nil || *answer.RequestID != r.Header.Get("X-Amz-Firehose-Request-Id") ||
		time.Since(time.UnixMilli(answer.Timestamp)).Abs() > await.Limit || response.Header.Get("Content-Type") != "application/json" {
		t.Errorf("Firehose takes this for a failure: %d %v %s", response.StatusCode, response.Header, raw)
	}
	if isOK := response.StatusCode == http.StatusOK; isOK != (answer.ErrorMessage == nil) {
		t.Errorf("an error has a message, and nothing else has one: %d %s", response.StatusCode, raw)
	}
	if answer.ErrorMessage != nil {
		message = *answer.ErrorMessage
	}
	return response.StatusCode, message
}

func TestFirehoseGetsTheResponseThatItDemands(t *testing.T) {
	t.Parallel()
	st := openStore(t, pgtest.Quick(t))
	d := openDoor(t, st, "one", push.Config{MaxBatch: 1 << 20, Sources: []string{"arn:aws:firehose:eu-west-1:111122223333:*", "arn:aws:firehose:us-east-1:999999999999:deliverystream/a"}})
	now := time.Now().UnixMilli()
	for _, c := range []struct {
		story, id, body string
		headers         []string
		status          int
		message         string
		counted         int64
	}{
		{"a delivery", "a", delivery("a", 2, now), nil, 200, "", 2},
		{"the same again", "a", delivery("a", 2, now), nil, 200, "", 2},
		{"the same, stamped and compressed anew", "a", zipped(t, delivery("a", 2, now+60_000)), []string{"Content-Encoding", "gzip"}, 200, "", 2},
		{"another, compressed", "b", zipped(t, delivery("b", 3, now)), []string{"Content-Encoding", "gzip"}, 200, "", 5},
		{"a stream that is allowed by its whole name", "c", delivery("c", 1, now), []string{"X-Amz-Firehose-Source-Arn", "arn:aws:firehose:us-east-1:999999999999:deliverystream/a"}, 200, "", 6},
		{"another stream", "d", delivery("d", 1, now), []string{"X-Amz-Firehose-Source-Arn", "arn:aws:firehose:us-east-1:999999999999:deliverystream/ab"}, 403, "http.firehose_sources does not name", 6},
		{"no stream", "d", delivery("d", 1, now), []string{"X-Amz-Firehose-Source-Arn", ""}, 403, "http.firehose_sources", 6},
		{"no id", "", delivery("d", 1, now), nil, 400, "no id", 6},
		{"another version", "d", delivery("d", 1, now), []string{"X-Amz-Firehose-Protocol-Version", "2.0"}, 400, "version 1.0", 6},
		{"another body", "e", `{"a":1}`, nil, 400, "no delivery of Firehose", 6},
		{"too large a body", "f", strings.Repeat(" ", 1<<20) + delivery("f", 1, now), nil, 413, "too large", 6},
		{"another encoding", "f", delivery("f", 1, now), []string{"Content-Encoding", "br"}, 415, "gzip", 6},
		{"an id that was refused", "d", delivery("d", 1, now), nil, 200, "", 7},
	} {
		status, message := deliver(t, d.firehose, c.id, c.body, c.headers...)
		if status != c.status || !strings.Contains(message, c.message) {
			t.Errorf("%s: %d %q, want %d %q", c.story, status, message, c.status, c.message)
		}
		if n := counted.Requests(t, st); n != c.counted {
			t.Errorf("%s: the store has %d samples, want %d", c.story, n, c.counted)
		}
	}
}

// TestFirehoseDeliversOnceToManyCollectors: a load balancer sends each attempt of a request to
// another collector, and both at once.
func TestFirehoseDeliversOnceToManyCollectors(t *testing.T) {
	t.Parallel()
	url := pgtest.Quick(t)
	one, two := openDoor(t, openStore(t, url), "one", push.Config{}), openDoor(t, openStore(t, url), "two", push.Config{})
	var attempts sync.WaitGroup
	for i := range 20 {
		for _, d := range []*door{one, two} {
			attempts.Go(func() {
				id := fmt.Sprint("r", i)
				await.Until(t, "the delivery is taken", func() bool { // as Firehose repeats it
					status, _ := deliver(t, d.firehose, id, delivery(id, 3, time.Now().UnixMilli()))
					return status == http.StatusOK
				})
			})
		}
	}
	attempts.Wait()
	if n := counted.Requests(t, openStore(t, url)); n != 60 {
		t.Errorf("the store has %d samples, want 60", n)
	}
}

// TestAccessKeysAreUsers: who has no access key, or names a user anyway, comes in as before.
func TestAccessKeysAreUsers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ key, basic, want string }{
		{"", "", " "}, {"firehose:secret", "", "firehose secret"}, {`{"api_key":"firehose:se:cret"}`, "", "firehose se:cret"},
		{"firehose:secret", "ada", "ada x"}, {"secret", "", " "}, {`{"other":"a:b"}`, "", " "}, {"", "ada", "ada x"},
	} {
		r := httptest.NewRequest(http.MethodPost, "/v1/firehose", nil)
		if c.key != "" {
			r.Header.Set("X-Amz-Firehose-Access-Key", c.key)
		}
		if c.basic != "" {
			r.SetBasicAuth(c.basic, "x")
		}
		var got string
		push.AccessKeys(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			user, password, _ := r.BasicAuth()
			got = user + " " + password + r.Header.Get("X-Amz-Firehose-Access-Key")
		})).ServeHTTP(httptest.NewRecorder(), r)
		if got != c.want {
			t.Errorf("key %s, user %s: %q, want %q", c.key, c.basic, got, c.want)
		}
	}
}
