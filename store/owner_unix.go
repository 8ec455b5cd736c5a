//go:build unix

package store

import (
	"os"
	"os/user"
	"strconv"
	"syscall"
)

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
