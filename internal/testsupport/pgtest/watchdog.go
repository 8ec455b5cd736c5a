package pgtest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
	"time"
)

// script runs a server as its child and reads one line. The line comes when
// the test process asks for the end, and end of file when it died: either way
// the server gets SIGQUIT, Postgres's immediate shutdown, which takes its
// backends along. The data go too unless the line says to keep them.
//
// Descriptor 3 is inherited by the server and its backends and by nobody else:
// it is at its end exactly when the last of them is gone.
const script = `
dir=$1; log=$2; shift 2
"$@" </dev/null >>"$log" 2>&1 &
server=$!
exec 3>&-
read -r line
kill -QUIT $server 2>/dev/null
wait
[ "$line" = keep ] || rm -rf "$dir"
`

// watchdog is the shell between a test process and its server.
type watchdog struct {
	command *exec.Cmd
	line    io.WriteCloser
	// ended is closed when the server and all its backends are gone.
	ended chan struct{}
}

func watch(dir, log string, server ...string) (*watchdog, error) {
	gone, child, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	w := &watchdog{ended: make(chan struct{})}
	w.command = exec.Command("/bin/sh", append([]string{"-c", script, "watchdog", dir, log}, server...)...)
	w.command.Dir = dir
	w.command.SysProcAttr = asPostgres()
	w.command.ExtraFiles = []*os.File{child}
	if w.line, err = w.command.StdinPipe(); err != nil {
		return nil, errors.Join(err, gone.Close(), child.Close())
	}
	err = w.command.Start()
	// The shell has its own end of the pipe by now, or never will.
	if err = errors.Join(err, child.Close()); err != nil {
		return nil, errors.Join(fmt.Errorf("start postgres: %w", err), gone.Close())
	}
	go w.awaitEnd(gone)
	return w, nil
}

// awaitEnd waits for the end of the server. That of the server which a test
// process shares is the process's own, so tests for leaked goroutines know this
// one by its name.
func (w *watchdog) awaitEnd(gone *os.File) {
	_, _ = io.ReadAll(gone) // nothing is written; it returns at the end
	_ = gone.Close()
	close(w.ended)
}

// leave ends the server, which may be dead already, and waits for it.
func (w *watchdog) leave(line string) error {
	_, err := io.WriteString(w.line, line+"\n")
	err = errors.Join(err, w.line.Close())
	timer := time.AfterFunc(startTimeout, func() { _ = w.command.Process.Kill() })
	defer timer.Stop()
	err = errors.Join(err, w.command.Wait())
	<-w.ended
	return err
}

// asPostgres makes a child the leader of a process group of its own, so that
// an interrupt on the terminal ends the tests first; and "nobody" when we are
// root, as which Postgres refuses to run.
func asPostgres() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true}
	if uid, gid, ok := nobody(); ok {
		attr.Credential = &syscall.Credential{Uid: uid, Gid: gid}
	}
	return attr
}

func ownByPostgres(path string) error {
	uid, gid, ok := nobody()
	if !ok {
		return nil
	}
	return os.Chown(path, int(uid), int(gid))
}

// nobody is the user to become, when we are root.
func nobody() (uid, gid uint32, ok bool) {
	if os.Geteuid() != 0 {
		return 0, 0, false
	}
	u, err := user.Lookup("nobody")
	if err != nil {
		return 65534, 65534, true
	}
	id, _ := strconv.ParseUint(u.Uid, 10, 32)
	group, _ := strconv.ParseUint(u.Gid, 10, 32)
	return uint32(id), uint32(group), true
}
