package pgtest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/keyheat/keyheat/internal/testsupport/port"
)

// Server is one Postgres on 127.0.0.1. Its port, data and password stay the
// same over Kill and Start. It is used by one goroutine at a time.
type Server struct {
	bin, dir, password string
	port               int
	releasePort        func()
	guard              *watchdog
}

// New makes a data directory and starts a server on it. Outside of tests the
// caller stops it; when the process dies first, the server stops by itself.
func New(ctx context.Context) (*Server, error) {
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	return start(ctx, &Server{bin: bin, password: rand.Text()}, (*Server).initialize)
}

// start fills a data directory of the server's own and starts it.
func start(ctx context.Context, s *Server, fill func(*Server, context.Context) error) (*Server, error) {
	var err error
	if s.dir, err = os.MkdirTemp("", "keyheat-postgres-"); err != nil {
		return nil, fmt.Errorf("make a data directory: %w", err)
	}
	if err = ownByPostgres(s.dir); err == nil {
		err = fill(s, ctx)
	}
	if err == nil {
		s.port, s.releasePort, err = port.HoldUntil()
	}
	if err == nil {
		if err = s.Start(ctx); err != nil {
			s.releasePort()
		}
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.dir))
	}
	return s, nil
}

// URL is where a database of the server is reached.
func (s *Server) URL(database string) string {
	return (&url.URL{
		Scheme:   "postgres",
		User:     url.UserPassword("postgres", s.password),
		Host:     s.Host(),
		Path:     "/" + database,
		RawQuery: "sslmode=disable",
	}).String()
}

// Host is the server's host:port.
func (s *Server) Host() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)) }

func (s *Server) data() string    { return filepath.Join(s.dir, "data") }
func (s *Server) logPath() string { return filepath.Join(s.dir, "log") }

// initialize runs initdb. Without fsync a killed server still loses nothing,
// only a machine that loses its power would.
func (s *Server) initialize(ctx context.Context) error {
	passwords := filepath.Join(s.dir, "password")
	if err := os.WriteFile(passwords, []byte(s.password+"\n"), 0o600); err != nil {
		return err
	}
	if err := ownByPostgres(passwords); err != nil {
		return err
	}
	return s.program(ctx, "initdb", "--pgdata="+s.data(),
		"--username=postgres", "--pwfile="+passwords, "--auth=scram-sha-256",
		"--encoding=UTF8", "--locale=C", "--no-sync")
}

// program runs one of Postgres's own programs on the server's files.
func (s *Server) program(ctx context.Context, name string, args ...string) error {
	command := exec.CommandContext(ctx, filepath.Join(s.bin, name), args...)
	command.Dir = s.dir
	command.SysProcAttr = asPostgres()
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, out)
	}
	return nil
}

// Start starts the server again after a Kill, and waits until it answers.
func (s *Server) Start(ctx context.Context) error {
	guard, err := watch(s.dir, s.logPath(), filepath.Join(s.bin, "postgres"), "-D", s.data(),
		"-p", strconv.Itoa(s.port), "-c", "listen_addresses=127.0.0.1",
		"-c", "unix_socket_directories=", "-c", "fsync=off",
		"-c", "max_connections=200", "-c", "shared_buffers=32MB")
	if err != nil {
		return err
	}
	if err := s.wait(ctx, guard); err != nil {
		return errors.Join(err, guard.leave("keep"))
	}
	s.guard = guard
	return nil
}

// wait returns when the server answers, or cannot.
func (s *Server) wait(ctx context.Context, guard *watchdog) error {
	for {
		err := s.answers(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-guard.ended:
			return fmt.Errorf("postgres ended: %s", s.lastLog())
		case <-ctx.Done():
			return fmt.Errorf("wait for postgres: %w: %w: %s", ctx.Err(), err, s.lastLog())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (s *Server) answers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.URL("postgres"))
	if err != nil {
		return err
	}
	return conn.Close(ctx)
}

func (s *Server) lastLog() string {
	log, _ := os.ReadFile(s.logPath())
	return string(log[max(0, len(log)-1000):])
}

// Kill ends the server as a crash does, with SIGKILL, and waits until its
// backends have noticed. Its data stay for Start.
func (s *Server) Kill() error {
	if s.guard == nil {
		return errors.New("the server does not run")
	}
	pid, err := s.pid()
	if err != nil {
		return err
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		return fmt.Errorf("kill postgres: %w", err)
	}
	err = s.guard.leave("keep")
	s.guard = nil
	return err
}

// Save kills the server, copies its data as they are then, and starts it again.
func (s *Server) Save(ctx context.Context) error {
	return s.exchange(ctx, s.data(), s.saved())
}

// Restore kills the server, and starts it on the data of the last Save, as a
// failover to a standby that is behind does, or a restored backup.
func (s *Server) Restore(ctx context.Context) error {
	return s.exchange(ctx, s.saved(), s.data())
}

func (s *Server) saved() string { return filepath.Join(s.dir, "saved") }

// exchange copies a data directory over another while the server is down.
func (s *Server) exchange(ctx context.Context, from, to string) error {
	if err := s.Kill(); err != nil {
		return err
	}
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	// cp keeps owners and modes, without which Postgres does not start.
	if out, err := exec.CommandContext(ctx, "cp", "-a", from, to).CombinedOutput(); err != nil {
		return fmt.Errorf("copy the data: %w: %s", err, out)
	}
	return s.Start(ctx)
}

// pid is the postmaster's, from the first line of its own file.
func (s *Server) pid() (int, error) {
	file, err := os.ReadFile(filepath.Join(s.data(), "postmaster.pid"))
	if err != nil {
		return 0, fmt.Errorf("find postgres: %w", err)
	}
	first, _, _ := strings.Cut(string(file), "\n")
	return strconv.Atoi(strings.TrimSpace(first))
}

// Stop ends the server and removes its data.
func (s *Server) Stop() error {
	var err error
	if s.guard != nil {
		err = s.guard.leave("remove")
		s.guard = nil
	}
	s.releasePort()
	return errors.Join(err, os.RemoveAll(s.dir))
}
