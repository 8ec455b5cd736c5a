// Package kafkatest gives tests a Kafka: a real server, started by
// scripts/kafka, and record batches laid out byte by byte as a log holds them.
// It is for tests only.
package kafkatest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/keyheat/keyheat/internal/testsupport/await"
	"github.com/keyheat/keyheat/internal/testsupport/link"
	"github.com/keyheat/keyheat/internal/testsupport/port"
)

// Server is a real Apache Kafka on loopback: one node, or one of a cluster.
type Server struct {
	// Addr is its host:port; it stays the same when it is started again.
	Addr string
	dir  string
}

// Start starts a server with its data in a folder of the test's own, and stops
// it at the test's end. A server that cannot be had fails the test: it is
// asked for, so a skip would be a silent hole.
func Start(t testing.TB) *Server {
	t.Helper()
	s := &Server{dir: t.TempDir()}
	t.Cleanup(func() { s.script(t, "stop") })
	s.Restart(t)
	return s
}

// shared is the server of [Shared]; nil until it is started.
var shared atomic.Pointer[Server]

// startShared starts the shared server once: where that fails, it fails all who ask, and
// nothing is left of it.
var startShared = sync.OnceValues(func() (*Server, error) {
	dir, err := os.MkdirTemp("", "keyheat-kafka-")
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir}
	if s.Addr, err = s.run("start"); err != nil {
		return nil, errors.Join(err, s.remove())
	}
	shared.Store(s)
	return s, nil
})

// Shared returns a server that all tests of the process share, for those that leave it
// alone but for topics and groups of their own. A TestMain has to call EndShared.
func Shared(t testing.TB) *Server {
	t.Helper()
	s, err := startShared()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// EndShared ends the server that tests have shared, if any has asked for it.
func EndShared() error {
	if s := shared.Load(); s != nil {
		return s.remove()
	}
	return nil
}

// remove ends a server and deletes its data.
func (s *Server) remove() error {
	_, err := s.run("kill")
	return errors.Join(err, os.RemoveAll(s.dir))
}

// Through has the server listen on another port too, which clients reach through a link:
// those who begin at its address are sent back to it. The server is started again.
func (s *Server) Through(t testing.TB) *link.Link {
	t.Helper()
	behind := port.HoldAddress(t)
	l := link.New(t, behind)
	s.script(t, "stop")
	path := filepath.Join(s.dir, "server.properties")
	lines, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const name = "LINK"
	text := regexp.MustCompile(`(?m)^(advertised\.)?listeners=.*$|^listener\.security\.protocol\.map=.*$`).ReplaceAllStringFunc(string(lines), func(line string) string {
		switch key, _, _ := strings.Cut(line, "="); key {
		case "listeners":
			return line + "," + name + "://" + behind
		case "advertised.listeners":
			return line + "," + name + "://" + l.Addr
		default:
			return line + "," + name + ":PLAINTEXT"
		}
	})
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Restart(t)
	return l
}

// StartCluster is Start of a cluster of some nodes, whose topics have up to three
// replicas; those of two have to have a record before it is acknowledged. The node at i
// has the id i+1.
func StartCluster(t testing.TB, nodes int) []*Server {
	t.Helper()
	whole := &Server{dir: t.TempDir()}
	t.Cleanup(func() { whole.script(t, "kill") })
	var cluster []*Server
	for i, address := range strings.Fields(whole.script(t, "cluster", strconv.Itoa(nodes))) {
		cluster = append(cluster, &Server{Addr: address, dir: filepath.Join(whole.dir, strconv.Itoa(i+1))})
	}
	return cluster
}

// Restart starts the server again after Kill or Stop, with its data.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	s.Addr = s.script(t, "start")
}

// Kill ends the server at once, as kill -9 does.
func (s *Server) Kill(t testing.TB) {
	t.Helper()
	s.script(t, "kill")
}

// Signal sends the server a signal that does not end it, such as SIGSTOP.
func (s *Server) Signal(t testing.TB, signal syscall.Signal) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err == nil {
		err = syscall.Kill(pid, signal)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Data is where the logs of its partitions are.
func (s *Server) Data() string { return filepath.Join(s.dir, "data") }

// CreateTopic makes a topic, with as many replicas as is the server's default, and waits
// until it has its leaders.
func (s *Server) CreateTopic(t testing.TB, name string, partitions int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), await.Limit)
	defer cancel()
	transport := new(kafka.Transport)
	defer transport.CloseIdleConnections()
	client := &kafka.Client{Addr: kafka.TCP(s.Addr), Transport: transport}
	res, err := client.CreateTopics(ctx, &kafka.CreateTopicsRequest{
		Topics: []kafka.TopicConfig{{Topic: name, NumPartitions: partitions, ReplicationFactor: -1}},
	})
	if err == nil {
		err = res.Errors[name]
	}
	if err != nil {
		t.Fatalf("create topic %s: %v", name, err)
	}
}

func (s *Server) script(t testing.TB, command string, arguments ...string) string {
	t.Helper()
	out, err := s.run(command, arguments...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// run runs scripts/kafka; its error has what the script and the server say.
func (s *Server) run(command string, arguments ...string) (string, error) {
	_, file, _, _ := runtime.Caller(0)
	path := filepath.Join(filepath.Dir(file), "..", "..", "..", "scripts", "kafka")
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, append([]string{command, s.dir}, arguments...)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		log, _ := os.ReadFile(filepath.Join(s.dir, "server.log"))
		return "", fmt.Errorf("scripts/kafka %s: %w\n%s%s", command, err, &errs, tail(log))
	}
	return strings.TrimSpace(out.String()), nil
}

func tail(log []byte) []byte { return log[max(0, len(log)-2000):] }
