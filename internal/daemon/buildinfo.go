package daemon

import (
	"fmt"
	"runtime/debug"
)

// Build is one build.
type Build struct {
	// Version is the module's version, "(devel)" where the toolchain knew none.
	Version string `json:"version"`
	// Revision is the commit, with "-dirty" behind it when files were changed
	// since; empty outside of a repository.
	Revision string `json:"revision"`
	// Time is the commit's, RFC 3339; empty outside of a repository.
	Time string `json:"time"`
	// Go is the toolchain's version.
	Go string `json:"go"`
}

// ReadBuild returns the build of the running program.
func ReadBuild() Build {
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return Build{Version: "(devel)"}
	}
	info := Build{Version: build.Main.Version, Go: build.GoVersion}
	if info.Version == "" {
		info.Version = "(devel)"
	}
	changed := false
	for _, s := range build.Settings {
		switch s.Key {
		case "vcs.revision":
			info.Revision = s.Value
		case "vcs.time":
			info.Time = s.Value
		case "vcs.modified":
			changed = s.Value == "true"
		}
	}
	if changed && info.Revision != "" {
		info.Revision += "-dirty"
	}
	return info
}

// String returns the build in one line.
func (i Build) String() string {
	if i.Revision == "" {
		return fmt.Sprintf("%s (%s)", i.Version, i.Go)
	}
	return fmt.Sprintf("%s (%s of %s, %s)", i.Version, i.Revision, i.Time, i.Go)
}
