package deploy_test

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// execStart finds a unit's command.
var execStart = regexp.MustCompile(`(?m)^ExecStart=/usr/bin/keyheat-(\S+) (.+)$`)

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
		must(t, os.WriteFile(built, []byte(strings.Replace(string(text), "/usr/bin/keyheat-"+m[1], filepath.Join(bin, m[1]), 1)), 0o600))
		for _, args := range [][]string{{"security", "--offline=true", "--threshold=19", unit}, {"verify", "--man=no", "--recursive-errors=no", built}} {
			if out, err := exec.CommandContext(t.Context(), analyze, args...).CombinedOutput(); err != nil {
				t.Errorf("%s: systemd-analyze %s: %v\n%s", unit, args[0], err, out)
			}
		}
	}
}

// TestUnitsHaveUsersOfTheirOwn: a collector takes samples from everywhere, so it must not read
// what the reporter's receivers are told with. Both may share a SQLite database.
func TestUnitsHaveUsersOfTheirOwn(t *testing.T) {
	t.Parallel()
	script, err := os.ReadFile("packages/postinstall.sh")
	must(t, err)
	contents, err := os.ReadFile("../.goreleaser.yaml")
	must(t, err)
	for _, name := range []string{"collector", "reporter"} {
		own := "keyheat-" + name
		text, err := os.ReadFile("systemd/" + own + ".service")
		must(t, err)
		for _, line := range []string{"User=" + own, "Group=" + own, "SupplementaryGroups=keyheat", "ReadWritePaths=/var/lib/keyheat", "UMask=0077"} {
			if !strings.Contains(string(text), "\n"+line+"\n") {
				t.Errorf("%s lacks %s", own, line)
			}
		}
		// systemd would give the folder, with all that is in it, to the unit that starts last.
		if strings.Contains(string(text), "\nStateDirectory") {
			t.Errorf("%s claims the folder that it shares", own)
		}
		if line := "chgrp " + own + " /etc/keyheat/" + name + ".yaml /etc/keyheat/" + name + "\n"; !strings.Contains(string(script), line) {
			t.Errorf("the package does not give %s its settings: no %q", own, line)
		}
		for _, line := range []string{
			"dst: /etc/keyheat/" + name + ".yaml, type: config|noreplace, file_info: {mode: 0640,", "dst: /etc/keyheat/" + name + ", type: dir, file_info: {mode: 0750,",
		} {
			if !strings.Contains(string(contents), line) {
				t.Errorf("the package lacks %q", line)
			}
		}
	}
	users(t)
}

// users tries the users that the package makes, where systemd is installed.
func users(t *testing.T) {
	t.Helper()
	sysusers, err := exec.LookPath("systemd-sysusers")
	if err != nil {
		t.Log("no systemd-sysusers: sysusers.conf is not tried")
		return
	}
	root := t.TempDir()
	must(t, os.Mkdir(filepath.Join(root, "etc"), 0o755))
	file, err := filepath.Abs("systemd/sysusers.conf")
	must(t, err)
	if out, err := exec.CommandContext(t.Context(), sysusers, "--root="+root, file).CombinedOutput(); err != nil {
		t.Fatalf("systemd-sysusers: %v\n%s", err, out)
	}
	groups, err := os.ReadFile(filepath.Join(root, "etc/group"))
	must(t, err)
	members := regexp.MustCompile(`(?m)^(keyheat[a-z-]*):[^:]*:\d+:(.*)$`).FindAllStringSubmatch(string(groups), -1)
	got := map[string]string{}
	for _, m := range members {
		got[m[1]] = m[2]
	}
	if len(got) != 3 || got["keyheat-collector"]+got["keyheat-reporter"] != "" ||
		got["keyheat"] != "keyheat-collector,keyheat-reporter" && got["keyheat"] != "keyheat-reporter,keyheat-collector" {
		t.Errorf("the groups are %v", got)
	}
}

// TestTwoUsersShareADatabase runs the programs as two users of one group, in folders and with
// files as the packages make them: each opens the database, neither reads the other's settings.
func TestTwoUsersShareADatabase(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root becomes other users")
	}
	bin := programs(t)
	must(t, os.Chmod(bin, 0o755)) //nolint:gosec // other users run what is in it
	const group, collector, reporter = 61000, 61001, 61002
	dir, err := os.MkdirTemp("", "keyheat-users-") //nolint:usetesting // other users may not enter a folder below t.TempDir
	must(t, err)
	t.Cleanup(func() { must(t, os.RemoveAll(dir)) })
	must(t, cmp.Or(os.Chmod(dir, 0o755), os.Mkdir(filepath.Join(dir, "lib"), 0o770))) //nolint:gosec // as /etc
	must(t, cmp.Or(os.Chown(filepath.Join(dir, "lib"), 0, group), os.Chmod(filepath.Join(dir, "lib"), os.ModeSetgid|0o770)))
	settings := func(name, more string, owner int) string {
		path := filepath.Join(dir, name+".yaml")
		text := "store: {url: \"sqlite:" + filepath.Join(dir, "lib/keyheat.db") + "\"}\n" + more
		must(t, cmp.Or(os.WriteFile(path, []byte(text), 0o640), os.Chown(path, 0, owner))) //nolint:gosec // as the package
		return path
	}
	collectors := settings("collector", "http: {enabled: true}\nadmin: {listen: \"127.0.0.1:0\"}\n", collector)
	reporters := settings("reporter", "listen: \"127.0.0.1:0\"\n", reporter)
	as := func(id uint32, program string, args ...string) (string, error) {
		command := exec.CommandContext(t.Context(), filepath.Join(bin, program), args...)
		command.Env, command.Dir = []string{}, dir
		command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: id, Gid: id, Groups: []uint32{group}}}
		out, err := command.CombinedOutput()
		return string(out), err
	}
	for _, c := range []struct {
		id            uint32
		program, verb string
		config        string
		want          string
	}{
		{reporter, "reporter", "migrate", reporters, ""},
		{collector, "collector", "check", collectors, ""},
		{reporter, "reporter", "check", reporters, ""},
		{collector, "reporter", "check", reporters, "permission denied"},
		{reporter, "collector", "check", collectors, "permission denied"},
	} {
		out, err := as(c.id, c.program, c.verb, "--config", c.config)
		if (err != nil) != (c.want != "") || !strings.Contains(out, c.want) {
			t.Errorf("%d: %s %s: %v, want %q\n%s", c.id, c.program, c.verb, err, c.want, out)
		}
	}
}
