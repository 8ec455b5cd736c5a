//go:build e2e

package e2e_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/keyheatjson"
)

// full is the reason of an index that holds writes back.
const full = "IndexWriteKeyRangeThroughputExceeded"

// TestExampleOfNode runs what docs/instrumenting shows, in a program that does a request of each
// kind, and decodes what it sends to a collector that cuts off its first response.
func TestExampleOfNode(t *testing.T) {
	proxy := newThrottler(t, startMinistack(t))
	docs, err := filepath.Abs("../docs/instrumenting")
	must.Succeed(t, err)
	newOrders(t, dynamodb.NewFromConfig(awsConfig(proxy.url)))
	proxy.arm("UpdateItem", slowDownOf(full, "table/orders/index/by-sk"), slowDownOf(full, "table/orders/index/by-sk"))
	var sent forgetful
	cmd := exec.Command("node", nodeProgram(t), docs, serve(t, &sent))
	cmd.Env = append(os.Environ(), "AWS_ENDPOINT_URL_DYNAMODB="+proxy.url, "AWS_REGION=eu-west-1",
		"AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test", "AWS_MAX_ATTEMPTS=2", "AWS_RETRY_MODE=standard")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := []string{
		"user#1 1 PutItem 0 1000 eventual  1 false", "user#1 1 GetItem 1000 0 strong  1 false", "user#1 1 PutItem 0 1000 eventual  1 false",
		"user#1 1 UpdateItem 0 0 eventual " + full + " 0 false", "by-sk 1 user#1 UpdateItem 0 0 eventual " + full + " 0 false",
		"user#1 1 UpdateItem 0 1000 eventual " + full + " 2 true", "by-sk 1 user#1 UpdateItem 0 1000 eventual " + full + " 2 true",
		"user#1 1 DeleteItem 0 1000 eventual  1 false", "user#1 1 PutItem 0 3000 eventual  1 false",
	}
	if got := decoded(t, sent.body.Bytes()); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// forgetful is a collector that stores batches, and cuts off its first response.
type forgetful struct {
	mu    sync.Mutex
	seen  map[string]bool
	calls int
	body  bytes.Buffer
}

func (f *forgetful) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	number := r.Header.Get("Keyheat-Producer") + " " + r.Header.Get("Keyheat-Sequence")
	if !f.seen[number] {
		_, _ = f.body.ReadFrom(r.Body)
	}
	if f.seen == nil {
		f.seen = map[string]bool{}
	}
	f.seen[number] = true
	if f.calls++; f.calls == 1 {
		panic(http.ErrAbortHandler)
	}
}

// nodeModules returns the folder with the AWS SDK for JavaScript.
func nodeModules(t *testing.T) string {
	t.Helper()
	cmd := exec.Command("../scripts/ministack", "node")
	var faults bytes.Buffer
	cmd.Stderr = &faults
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("scripts/ministack node: %v\n%s", err, faults.Bytes())
	}
	return strings.TrimSpace(string(out))
}

// nodeProgram copies the program beside the SDK, where Node finds it.
func nodeProgram(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	text, err := os.ReadFile("testdata/program.mjs")
	must.Succeed(t, err)
	path := filepath.Join(dir, "program.mjs")
	must.Succeed(t, os.WriteFile(path, text, 0o600))
	must.Succeed(t, os.Symlink(nodeModules(t), filepath.Join(dir, "node_modules")))
	return path
}

// recorder keeps what a decoder returns.
type recorder struct {
	t     *testing.T
	lines []string
}

func (l *recorder) Record(r *sample.Record) {
	index := ""
	if r.Index != "" {
		index = r.Index + " "
	}
	l.lines = append(l.lines, index+fmt.Sprint(r.PK, " ", r.SK, " ", r.Op, " ", int64(r.RCU), " ", int64(r.WCU), " ", r.Read, " ", r.Throttle, " ", r.Attempts, " ", r.Failed))
}

func (l *recorder) Bad(reason sample.RejectReason, excerpt []byte) {
	l.t.Errorf("a sample that a collector refuses, %s: %s", reason, excerpt)
}

// decoded returns the samples in the output of a program, as a collector reads them.
func decoded(t *testing.T, out []byte) []string {
	t.Helper()
	l := &recorder{t: t}
	keyheatjson.NewDecoder().Decode(out, 0, l)
	return l.lines
}
