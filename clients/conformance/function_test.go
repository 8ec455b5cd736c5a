//go:build e2e

package conformance_test

import (
	"bufio"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/testsupport/await"
	"github.com/keyheat/keyheat/internal/testsupport/counted"
	"github.com/keyheat/keyheat/internal/testsupport/firehose"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/port"
	"github.com/keyheat/keyheat/store"
)

// callWrites is how many items each call of a function updates.
const callWrites = 5

// TestFunctionsOnARuntimeThatFreezesThem: a runtime freezes each environment of a function after
// its answer, and in the middle of calls, thaws it for the next call, and kills it in the end. What
// was flushed before an answer counts once: sent by the function itself, or by Firehose out of its
// log, which delivers each third event twice.
func TestFunctionsOnARuntimeThatFreezesThem(t *testing.T) {
	ensureNode(t)
	programs := map[string][]string{
		"node": {"node", "--no-warnings", "../node/test/function.mjs"}, "python": {ensurePython(t, nil), "../python/tests/function.py"},
	}
	dynamodb := newStub(t, "")
	dynamodb.arm([]answer{{Body: json.RawMessage(`{}`)}})
	collector, st := startCollector(t)
	var answered int64
	for name, program := range programs {
		for _, sink := range []string{"lines", collector} {
			t.Logf("%s to %s", name, sink)
			var environments sync.WaitGroup
			const each, calls = 3, 8
			for e := range each {
				environments.Go(func() {
					runEnvironment(t, fmt.Sprint(name, e), append(program[:len(program):len(program)], dynamodb.URL, sink), calls, collector)
				})
			}
			environments.Wait()
			answered += each * calls * callWrites
		}
	}
	await.Until(t, "all samples are stored", func() bool { return counted.Requests(t, st) >= answered })
	if n := counted.Requests(t, st); n != answered {
		t.Errorf("the store has %d requests, and the functions made %d", n, answered)
	}
}

// startCollector starts a collector of its own store, and returns its address.
func startCollector(t *testing.T) (address string, st *store.Store) {
	t.Helper()
	program, url := filepath.Join(t.TempDir(), "collector"), "sqlite:"+filepath.Join(t.TempDir(), "keyheat.db")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../../cmd/collector").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	st, err := store.Open(t.Context(), url, store.Options{Migrate: true})
	must.Succeed(t, err)
	t.Cleanup(func() { _ = st.Close() })
	listen := port.HoldAddress(t)
	daemon := exec.Command(program, "run", "--http-enabled", "--store-url", url, "--admin-listen", listen, "--commit-interval", "200ms", "--log-level", "warn")
	daemon.Stderr = t.Output()
	daemon.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	must.Succeed(t, daemon.Start())
	t.Cleanup(func() { _ = daemon.Process.Kill(); _ = daemon.Wait() })
	address = "http://" + listen
	await.Until(t, "the collector is ready", func() bool {
		response, err := http.Get(address + "/-/ready")
		if err != nil {
			return false
		}
		_ = response.Body.Close()
		return response.StatusCode == http.StatusOK
	})
	return address, st
}

// runEnvironment calls a function so many times, one call after the other.
func runEnvironment(t *testing.T, name string, program []string, calls int, collector string) {
	function := exec.Command(program[0], program[1:]...)
	in, err := function.StdinPipe()
	must.Succeed(t, err)
	log, err := function.StdoutPipe()
	must.Succeed(t, err)
	answers, err := function.StderrPipe()
	must.Succeed(t, err)
	function.Env = append(os.Environ(), "AWS_LAMBDA_FUNCTION_NAME=orders", "AWS_EC2_METADATA_DISABLED=true")
	function.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	must.Succeed(t, function.Start())
	var delivering sync.WaitGroup
	delivering.Go(func() { deliverLog(t, log, collector) })
	answer := bufio.NewReader(answers)
	for call := range calls {
		_ = function.Process.Signal(syscall.SIGCONT)
		if _, err := fmt.Fprintf(in, "%s-%d\n", name, call); err != nil {
			t.Error(err)
			break
		}
		if call%3 == 1 { // a pause of the machine in the middle of a call
			time.Sleep(time.Duration(call) * 5 * time.Millisecond)
			_ = function.Process.Signal(syscall.SIGSTOP)
			time.Sleep(300 * time.Millisecond)
			_ = function.Process.Signal(syscall.SIGCONT)
		}
		text, err := answer.ReadString('\n')
		if err != nil || strings.TrimSpace(text) != "stored" {
			t.Errorf("%s, call %d: %q, %v", name, call, text, err)
			break
		}
		_ = function.Process.Signal(syscall.SIGSTOP)
		time.Sleep(1100 * time.Millisecond) // longer than the second after which a sampler sends by itself
	}
	_ = function.Process.Kill()
	delivering.Wait()
	_ = function.Wait() // killed
}

// deliverLog delivers the lines of a function's log as they come, each third of them twice.
func deliverLog(t *testing.T, log io.Reader, collector string) {
	stream := &firehose.Stream{Collectors: []string{collector}, Client: http.DefaultClient}
	lines := bufio.NewScanner(log)
	for n := 0; lines.Scan(); n++ {
		event := firehose.Event{ID: rand.Text(), Timestamp: time.Now().UnixMilli(), Message: lines.Text()}
		start := firehose.Event{ID: rand.Text(), Timestamp: event.Timestamp, Message: "START RequestId: " + event.ID + " Version: $LATEST"}
		for range 1 + (n+1)%3/2 {
			if err := stream.Deliver(t.Context(), []firehose.Event{start, event}); err != nil {
				t.Error(err)
			}
		}
	}
}
