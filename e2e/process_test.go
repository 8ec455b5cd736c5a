//go:build e2e

package e2e_test

import (
	"bytes"
	"context"
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
	"github.com/keyheat/keyheat/internal/testsupport/kafkatest"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/port"
)

// build compiles both commands once for all tests.
var build = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "keyheat-e2e-")
	if err != nil {
		return "", err
	}
	out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", dir, "../cmd/collector", "../cmd/reporter").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	return dir, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if err := kafkatest.EndShared(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if dir, err := build(); err == nil {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

// process is one of Keyheat's daemons, as its operators run it.
type process struct {
	name, address string
	command       string
	config        string
	env           []string      // beside the test's own
	ahead         time.Duration // how far its host's clock is ahead
	log           string
	cmd           *exec.Cmd
	peak          int64 // bytes of memory, the most of all incarnations
}

// newProcess writes the configuration of `command run|serve`; %s in it is the
// address at which the daemon will listen.
func newProcess(t *testing.T, name, command, config string) *process {
	t.Helper()
	address := port.HoldAddress(t)
	dir := t.TempDir()
	p := &process{
		name: name, command: command, address: address,
		config: filepath.Join(dir, name+".yaml"), log: filepath.Join(dir, name+".log"),
	}
	must.Succeed(t, os.WriteFile(p.config, []byte(strings.ReplaceAll(config, "%listen%", address)), 0o600))
	t.Cleanup(func() { p.end(t) })
	return p
}

// start starts the daemon, again after a kill.
func (p *process) start(t *testing.T) {
	t.Helper()
	dir, err := build()
	must.Succeed(t, err)
	log, err := os.OpenFile(p.log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	must.Succeed(t, err)
	defer log.Close()
	words := strings.Fields(p.command)
	p.cmd = exec.Command(filepath.Join(dir, words[0]), append(words[1:], "--config", p.config)...)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.Env = append(os.Environ(), p.env...)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if p.ahead > 0 {
		err = startAhead(p.cmd, p.ahead)
	} else {
		err = p.cmd.Start()
	}
	must.Succeed(t, err)
}

// run runs another command of the daemon's program, with its configuration.
func (p *process) run(t *testing.T, command string) {
	t.Helper()
	dir, err := build()
	must.Succeed(t, err)
	program := strings.Fields(p.command)[0]
	out, err := exec.CommandContext(t.Context(), filepath.Join(dir, program), command, "--config", p.config).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", program, command, err, out)
	}
}

// kill ends the daemon as a crash does.
func (p *process) kill(t *testing.T) {
	t.Helper()
	p.note()
	must.Succeed(t, p.cmd.Process.Kill())
	_ = p.cmd.Wait() // the error is that it was killed
}

// signal sends the daemon a signal that does not end it.
func (p *process) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	must.Succeed(t, p.cmd.Process.Signal(s))
}

// stop ends the daemon as an operator does, and expects a clean exit.
func (p *process) stop(t *testing.T) {
	t.Helper()
	p.note()
	must.Succeed(t, p.cmd.Process.Signal(syscall.SIGTERM))
	done := make(chan error, 1)
	go func() { done <- p.cmd.Wait() }()
	select {
	case err := <-done:
		if err != nil {
			t.Errorf("%s: SIGTERM ends it with %v", p.name, err)
		}
	case <-time.After(await.Limit):
		t.Errorf("%s is still there %s after SIGTERM", p.name, await.Limit)
		_ = p.cmd.Process.Kill()
		<-done
	}
	p.cmd = nil
}

// note records the process's peak memory.
func (p *process) note() {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return
	}
	for l := range strings.Lines(string(status)) {
		var kib int64
		if n, _ := fmt.Sscanf(l, "VmHWM: %d kB", &kib); n == 1 {
			p.peak = max(p.peak, kib<<10)
		}
	}
}

func (p *process) end(t *testing.T) {
	if p.cmd != nil && p.cmd.ProcessState == nil {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
	}
	if t.Failed() {
		log, _ := os.ReadFile(p.log)
		t.Logf("%s's last lines:\n%s", p.name, log[max(0, len(log)-8000):])
	}
}

// ready waits until the daemon is ready.
func (p *process) ready(t *testing.T) {
	t.Helper()
	within(t, await.Limit, p.name+" is ready", func() error {
		_, err := p.get("/-/ready")
		return err
	})
}

// get returns a page of the daemon.
func (p *process) get(path string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), await.Limit)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.address+path, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", response.Status, bytes.TrimSpace(body))
	}
	return body, err
}

// within tries until there is no error, or fails with the last one.
func within(t *testing.T, limit time.Duration, what string, try func() error) {
	t.Helper()
	deadline := time.Now().Add(limit)
	for {
		err := try()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s: %v", limit, what, err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}
