package cli

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/keyheat/keyheat/internal/daemon"
	"github.com/keyheat/keyheat/internal/settings/config"
)

// Reload applies new settings at SIGHUP: the settings that can change in a running
// daemon, and a log line about the others.
type Reload[C any] struct {
	// Started is the configuration that the daemon was started with.
	Started *C
	// Again reads all layers anew, files of secrets among them.
	Again func() (*C, error)
	// Live reports whether a setting of next, by its path, takes effect without a
	// restart.
	Live func(path string, next *C) bool
	// Apply changes the live settings of the running parts. After an error everything
	// stays as before.
	Apply func(ctx context.Context, next *C) error
	// Files are files, by the path of the setting that names them, whose content is no
	// part of the configuration; Apply reads them.
	Files func(*C) map[string]string
}

// Runner returns a function that reloads at every SIGHUP until its context ends. Changes
// of files count from the call on, and the metrics exist when it returns.
func (r Reload[C]) Runner(d Daemon) (run func(ctx context.Context) error) {
	m := daemon.NewMetrics("config", nil)
	successful := m.Gauge("last_reload_successful", "Whether the last reload of the configuration succeeded; 1 before the first one.")
	succeeded := m.Gauge("last_reload_success_timestamp_seconds", "When the configuration was read successfully last, in Unix seconds.")
	d.Ops.Registry().MustRegister(m)
	successful.Set(1)
	succeeded.SetToCurrentTime()
	applied, contents := r.Started, digests(r.files(r.Started))
	return func(ctx context.Context) error {
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-d.hangups:
			}
			next, err := r.Again()
			if err == nil {
				err = r.Apply(ctx, next)
			}
			if err != nil {
				successful.Set(0)
				d.Log.Error("SIGHUP: the configuration was not reloaded; the old one stays in effect", "error", err)
				continue
			}
			now := digests(r.files(next))
			changed, waiting := r.differences(applied, next)
			for _, path := range slices.Sorted(maps.Keys(now)) {
				if contents[path] != now[path] && !slices.Contains(changed, path) {
					changed = append(changed, path)
				}
			}
			applied, contents = next, now
			successful.Set(1)
			succeeded.SetToCurrentTime()
			d.Log.Info("SIGHUP: the configuration was reloaded", "changed", changed)
			if len(waiting) > 0 {
				d.Log.Warn("SIGHUP: some settings take effect after a restart only", "settings", waiting)
			}
		}
	}
}

// differences returns the settings that have changed since the last reload, and the
// settings that have changed since the start and wait for a restart.
func (r Reload[C]) differences(applied, next *C) (changed, waiting []string) {
	live := func(path string) bool { return r.Live(path, next) }
	changed = slices.DeleteFunc(config.ChangedFields(applied, next), func(path string) bool { return !live(path) })
	return changed, slices.DeleteFunc(config.ChangedFields(r.Started, next), live)
}

func (r Reload[C]) files(of *C) map[string]string {
	if r.Files == nil {
		return nil
	}
	return r.Files(of)
}

// digests returns a digest of each file, by which changes show. The file's reader reports
// a file that cannot be read.
func digests(files map[string]string) map[string]string {
	all := make(map[string]string)
	for path, name := range files {
		if name == "" {
			continue
		}
		text, err := os.ReadFile(name)
		all[path] = fmt.Sprintf("%x %t", sha256.Sum256(text), err == nil)
	}
	return all
}
