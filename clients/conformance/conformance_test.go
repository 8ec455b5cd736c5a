// Package conformance_test holds the clients of all languages to one table of calls: from the
// same calls they make the same samples.
package conformance_test

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// client makes one call, and returns what it saw.
type client func(t *testing.T, o order) observed

// nodeClients are the SDK's two: a document client takes and returns plain values.
var nodeClients = []string{"plain", "document"}

// TestCannedCalls makes the calls that have answers in the table.
func TestCannedCalls(t *testing.T) {
	t.Run("go", func(t *testing.T) { runCalls(t, "go", goClient, "") })
	t.Run("python", func(t *testing.T) {
		out, err := exec.Command("../../scripts/ensure-python-clients", "found").Output()
		python := strings.TrimSpace(string(out))
		if err != nil {
			t.Fatal(err)
		}
		if python == "" {
			t.Skip("no botocore is installed: make clients installs it")
		}
		runCalls(t, "python", startRunner(t, python, "../python/tests/conformance.py"), "")
	})
	for _, kind := range nodeClients {
		t.Run("node-"+kind, func(t *testing.T) {
			if _, err := os.Stat("../node/node_modules/.complete"); err != nil {
				t.Skip("no AWS SDK for JavaScript is installed: make clients installs it")
			}
			runCalls(t, "node", startRunner(t, "node", "--no-warnings", "../node/test/conformance.mjs", kind), "")
		})
	}
}

// runCalls makes the table's calls, and logs what the client does not see. Without an emulator it
// leaves out the calls that need one.
func runCalls(t *testing.T, name string, do client, emulator string) {
	t.Helper()
	all := readTable(t)
	server := newStub(t, emulator)
	seen, made := 0, 0
	for _, c := range all.Calls {
		if len(c.Answers) == 0 && emulator == "" {
			continue
		}
		made++
		server.arm(c.Answers)
		got := do(t, order{server.URL, all.Tables, c.Op, c.Input, c.Ask, c.HMAC, c.Retry})
		differences := strings.Join(c.differences(t, got), "\n")
		why, unseen := c.Unseen[name]
		switch {
		case unseen && differences == "":
			t.Errorf("%s: the client sees it: remove %q from unseen", c.Name, name)
		case unseen:
			t.Logf("not seen: %s: %s", c.Name, why)
		case differences != "":
			t.Errorf("%s: %s", c.Name, differences)
		default:
			seen++
		}
	}
	t.Logf("%s sees %d of %d calls", t.Name(), seen, made)
}

// startRunner starts a program that makes the calls in another language: it reads an order a line
// and writes what it observed, a line each.
func startRunner(t *testing.T, program string, arguments ...string) client {
	t.Helper()
	cmd := exec.Command(program, arguments...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("%s: %v", filepath.Base(program), err)
	}
	lines := bufio.NewReader(out)
	t.Cleanup(func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: %v", filepath.Base(program), err)
		}
	})
	return func(t *testing.T, o order) observed {
		t.Helper()
		if _, err := io.WriteString(in, toJSON(t, o)+"\n"); err != nil {
			t.Fatal(err)
		}
		line, err := lines.ReadBytes('\n')
		if err != nil {
			t.Fatalf("the runner ended: %v", err)
		}
		var got observed
		if err := json.Unmarshal(line, &got); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		return got
	}
}
