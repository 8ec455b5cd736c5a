package schedule_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/keyheat/keyheat/internal/report"
	"github.com/keyheat/keyheat/internal/report/schedule"
)

// TestFilesFollowTheUmask writes a report in processes with different umasks: a report
// names keys, and is for nobody whom the umask shuts out, nor for strangers.
func TestFilesFollowTheUmask(t *testing.T) {
	t.Parallel()
	if path := os.Getenv("SCHEDULE_TEST_REPORT"); path != "" {
		must(t, schedule.WriteFile(path, &report.Report{}, report.JSON))
		return
	}
	for umask, want := range map[string]os.FileMode{"000": 0o640, "022": 0o640, "027": 0o640, "077": 0o600} {
		path := filepath.Join(t.TempDir(), "report.json")
		child := exec.CommandContext(t.Context(), "sh", "-c", `umask "$1" && exec "$2" -test.run '^TestFilesFollowTheUmask$'`, "sh", umask, os.Args[0])
		child.Env = append(os.Environ(), "SCHEDULE_TEST_REPORT="+path)
		if out, err := child.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		info, err := os.Stat(path)
		must(t, err)
		if info.Mode() != want {
			t.Errorf("with the umask %s a report has the mode %v, want %v", umask, info.Mode(), want)
		}
		if rest, _ := os.ReadDir(filepath.Dir(path)); len(rest) != 1 {
			t.Errorf("beside the report are %v", rest)
		}
	}
}
