package daemon_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/internal/daemon"
)

func TestReadKnowsTheToolchain(t *testing.T) {
	t.Parallel()
	info := daemon.ReadBuild()
	if info.Go != runtime.Version() || info.Version == "" {
		t.Errorf("%+v", info)
	}
	if !strings.Contains(info.String(), info.Version) || !strings.Contains(info.String(), info.Go) {
		t.Errorf("%q leaves out the version", info)
	}
}

func TestStringNamesTheCommitWhereThereIsOne(t *testing.T) {
	t.Parallel()
	info := daemon.Build{Version: "v1.2.0", Revision: "abc-dirty", Time: "2026-11-21T00:00:00Z", Go: "go1.26"}
	if got, want := info.String(), "v1.2.0 (abc-dirty of 2026-11-21T00:00:00Z, go1.26)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
