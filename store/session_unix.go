//go:build unix

package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// fileOwner returns the user name of a file's owner; empty if unknown.
func fileOwner(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	stat, is := info.Sys().(*syscall.Stat_t)
	if !is {
		return ""
	}
	id := strconv.FormatUint(uint64(stat.Uid), 10)
	if owner, err := user.LookupId(id); err == nil {
		return owner.Username
	}
	return id
}

// sessionFile returns the file of a session beside a SQLite database.
func sessionFile(path string, session int64) string {
	return fmt.Sprintf("%s-session-%d", path, session)
}

// beginFileSession begins a session on a lock of a file. It returns 0 where there can be
// none; end ends the session.
func beginFileSession(path string) (session int64, end func()) {
	session = newSession()
	name := sessionFile(path, session)
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return 0, func() {}
	}
	end = func() {
		_ = os.Remove(name)
		_ = f.Close()
	}
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		end()
		return 0, func() {}
	}
	return session, end
}

// fileSessionEnded reports whether nobody holds the lock of a session, and removes its file
// then.
func fileSessionEnded(path string, session int64) bool {
	name := sessionFile(path, session)
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	defer func() { _ = f.Close() }()
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		return false
	}
	_ = os.Remove(name)
	return true
}
