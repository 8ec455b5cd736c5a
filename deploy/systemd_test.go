package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// execStart finds a unit's command.
var execStart = regexp.MustCompile(`(?m)^ExecStart=/usr/bin/(\S+) (.+)$`)

// TestUnitsStartThePrograms: each unit's command is one that the program takes. systemd knows
// every line of the unit, and rates its sandbox below 2.0, of 10 for none.
func TestUnitsStartThePrograms(t *testing.T) {
	t.Parallel()
	units, err := filepath.Glob("systemd/*.service")
	must(t, err)
	if len(units) != 2 {
		t.Fatalf("the units are %q", units)
	}
	bin := programs(t)
	for _, unit := range units {
		text, err := os.ReadFile(unit)
		must(t, err)
		m := execStart.FindStringSubmatch(string(text))
		if m == nil {
			t.Fatalf("%s starts nothing", unit)
		}
		args := append(strings.Fields(m[2]), "--help")
		if out, err := exec.CommandContext(t.Context(), filepath.Join(bin, m[1]), args...).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", unit, err, out)
		}
		for _, line := range []string{"Type=notify", "WatchdogSec=60s", "RestartPreventExitStatus=78"} {
			if !strings.Contains(string(text), "\n"+line+"\n") {
				t.Errorf("%s lacks %s", unit, line)
			}
		}
		analyze, err := exec.LookPath("systemd-analyze")
		if err != nil {
			continue
		}
		built := filepath.Join(t.TempDir(), filepath.Base(unit))
		must(t, os.WriteFile(built, []byte(strings.Replace(string(text), "/usr/bin/"+m[1], filepath.Join(bin, m[1]), 1)), 0o600))
		for _, args := range [][]string{{"security", "--offline=true", "--threshold=19", unit}, {"verify", "--man=no", "--recursive-errors=no", built}} {
			if out, err := exec.CommandContext(t.Context(), analyze, args...).CombinedOutput(); err != nil {
				t.Errorf("%s: systemd-analyze %s: %v\n%s", unit, args[0], err, out)
			}
		}
	}
}
