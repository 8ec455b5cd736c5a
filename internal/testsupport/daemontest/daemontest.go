// Package daemontest runs a daemon as a process of its own in the tests of its command:
// signals, exit codes and open connections are then real. The test binary has to act as
// the program under its name, as testscript.Main has it.
package daemontest

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/testsupport/await"
)

// Daemon is a process that logs JSON.
type Daemon struct {
	t       testing.TB
	command *exec.Cmd
	lines   chan string
	ended   chan error
	seen    []string
	// Address is where it serves.
	Address string
}

// Start starts a program with its arguments and waits until it serves. It is killed at
// the end of the test, if it is still there.
func Start(t testing.TB, program string, args ...string) *Daemon {
	t.Helper()
	return StartWith(t, nil, program, args...)
}

// StartWith is Start with variables beside those of the test's environment.
func StartWith(t testing.TB, environ []string, program string, args ...string) *Daemon {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), program)
	if err := os.Symlink(self, path); err != nil {
		t.Fatal(err)
	}
	d := &Daemon{t: t, command: exec.CommandContext(context.Background(), path, args...), lines: make(chan string, 10_000), ended: make(chan error, 1)}
	d.command.Env = append(os.Environ(), environ...)
	d.command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	log, err := d.command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := d.command.Start(); err != nil {
		t.Fatal(err)
	}
	go d.read(log)
	t.Cleanup(d.kill)
	var line struct{ Address string }
	if err := json.Unmarshal([]byte(d.Logs(`"msg":"serving"`)), &line); err != nil {
		t.Fatal(err)
	}
	d.Address = line.Address
	return d
}

func (d *Daemon) read(log io.Reader) {
	for lines := bufio.NewScanner(log); lines.Scan(); {
		d.lines <- lines.Text()
	}
	d.ended <- d.command.Wait()
	close(d.lines)
}

func (d *Daemon) kill() {
	_ = d.command.Process.Kill() // it may have ended
	for range d.lines {          // until it is gone
	}
}

// Logs waits for the next line of the log that holds a text, and returns it.
func (d *Daemon) Logs(text string) string {
	d.t.Helper()
	limit := time.After(await.Limit)
	for {
		select {
		case line, more := <-d.lines:
			if d.seen = append(d.seen, line); strings.Contains(line, text) {
				return line
			}
			if !more {
				d.t.Fatalf("it ended without logging %q; its log:\n%s", text, strings.Join(d.seen, "\n"))
			}
		case <-limit:
			d.t.Fatalf("%s without logging %q; its log:\n%s", await.Limit, text, strings.Join(d.seen, "\n"))
		}
	}
}

// Signal sends a signal.
func (d *Daemon) Signal(s syscall.Signal) {
	d.t.Helper()
	if err := d.command.Process.Signal(s); err != nil {
		d.t.Fatal(err)
	}
}

// Stop sends SIGTERM, and returns the error with which it ended.
func (d *Daemon) Stop() error {
	d.t.Helper()
	d.Signal(syscall.SIGTERM)
	select {
	case err := <-d.ended:
		return err
	case <-time.After(await.Limit):
		d.t.Fatalf("it is still there %s after SIGTERM", await.Limit)
		return nil
	}
}

// Get returns a page of the daemon, whatever its status.
func (d *Daemon) Get(path string) string {
	d.t.Helper()
	request, err := http.NewRequestWithContext(d.t.Context(), http.MethodGet, "http://"+d.Address+path, nil)
	if err != nil {
		d.t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		d.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	return string(body)
}

// Becomes waits until a page of the daemon holds a text.
func (d *Daemon) Becomes(path, text string) {
	d.t.Helper()
	var page string
	defer func() {
		if d.t.Failed() {
			d.t.Logf("%s is:\n%s", path, page)
		}
	}()
	await.Until(d.t, text+" on "+path, func() bool {
		page = d.Get(path)
		return strings.Contains(page, text)
	})
}

// Metric returns the value of a metric without labels; 0 while there is none.
func (d *Daemon) Metric(name string) float64 {
	d.t.Helper()
	for line := range strings.Lines(d.Get("/metrics")) {
		if text, is := strings.CutPrefix(line, name+" "); is {
			value, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			if err != nil {
				d.t.Fatal(err)
			}
			return value
		}
	}
	return 0
}
