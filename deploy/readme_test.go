package deploy_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/keyheat/keyheat/internal/testsupport/pgtest"
)

// fence matches a code block: its language, the words after it, and its content.
var fence = regexp.MustCompile("(?m)^```([a-z]*) ?([a-z]*)\n((?:.*\n)*?)```$")

// localPostgres is the README's URL of a Postgres on this machine.
const localPostgres = "postgres://keyheat@localhost/keyheat"

// TestReadme runs the README's shell blocks, one after another, in one folder. A word
// after `sh` names what a block needs:
//
//	sh            nothing: it is run
//	sh postgres   a Postgres: it is run, with the test's database in the place of localPostgres
//	sh daemon     its last command is a daemon: it is stopped once it serves
//	sh make       the Makefile: it has each target
//	sh kafka, aws, docker
//	              servers that are not here: our programs accept each command's flags
//
// A yaml block that begins with a file's name is that file.
func TestReadme(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../README.md")
	must(t, err)
	r := &readme{dir: t.TempDir(), postgres: pgtest.Database(t)}
	must(t, os.Symlink(programs(t), filepath.Join(r.dir, "bin")))
	ran := 0
	for _, block := range fence.FindAllStringSubmatch(string(page), -1) {
		language, needs, text := block[1], block[2], strings.ReplaceAll(block[3], localPostgres, r.postgres)
		if language == "yaml" {
			name, _, _ := strings.Cut(strings.TrimPrefix(text, "# "), "\n")
			must(t, os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o600))
		}
		if language != "sh" {
			continue
		}
		ran++
		switch needs {
		case "", "postgres":
			r.run(t, text)
		case "daemon":
			before, last := splitLast(text)
			r.run(t, before)
			r.serve(t, last)
		case "make":
			hasTargets(t, text)
		case "kafka", "aws", "docker":
			r.accept(t, text)
		default:
			t.Errorf("a block of the README needs %q, which this test does not know", needs)
		}
	}
	if ran < 8 {
		t.Errorf("the README has %d shell blocks: are they found?", ran)
	}
	for program, file := range map[string]string{"collector": "collector.yaml", "reporter": "reporter.yaml"} {
		out, _ := r.shell(t, "bin/"+program+" check --config "+file).CombinedOutput() // Kafka is not here
		if !regexp.MustCompile(`(?m)^ok +config `).Match(out) {
			t.Errorf("%s: %s", file, out)
		}
	}
}

// readme is the folder in which the README's commands run.
type readme struct{ dir, postgres string }

// shell returns a command of bash in the folder.
func (r *readme) shell(t *testing.T, text string) *exec.Cmd {
	t.Helper()
	c := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", text)
	c.Dir = r.dir
	return c
}

// run runs a block. A few seconds of traffic do where the README generates minutes.
func (r *readme) run(t *testing.T, text string) {
	t.Helper()
	text = regexp.MustCompile(`--duration \d+m`).ReplaceAllString(text, "--duration 5s")
	if out, err := r.shell(t, text).CombinedOutput(); err != nil {
		t.Errorf("%s%v\n%.3000s", text, err, out)
	}
}

// serve starts a daemon, and stops it once it serves.
func (r *readme) serve(t *testing.T, text string) {
	t.Helper()
	c := r.shell(t, "KEYHEAT_LISTEN=127.0.0.1:0 exec "+text) // another test may have the port
	log, err := c.StderrPipe()
	must(t, err)
	must(t, c.Start())
	var seen strings.Builder
	for lines := bufio.NewScanner(log); lines.Scan(); {
		seen.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), `"msg":"serving"`) {
			must(t, c.Process.Signal(syscall.SIGTERM))
		}
	}
	if err := c.Wait(); err != nil {
		t.Errorf("%s: %v\n%s", text, err, seen.String())
	}
}

// accept has our programs parse the flags of a block's commands, which --help does before
// it prints.
func (r *readme) accept(t *testing.T, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		command, _, _ := strings.Cut(strings.TrimSpace(line), " #")
		if !strings.HasPrefix(command, "bin/") {
			continue
		}
		if out, err := r.shell(t, command+" --help").CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", command, err, out)
		}
	}
}

// hasTargets checks that the Makefile has the targets of a block.
func hasTargets(t *testing.T, text string) {
	t.Helper()
	makefile, err := os.ReadFile("../Makefile")
	must(t, err)
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if words[0] != "make" || !strings.Contains(string(makefile), "\n"+words[1]+":") {
			t.Errorf("%q is no target of the Makefile", strings.TrimSpace(line))
		}
	}
}

// splitLast splits a block before its last line.
func splitLast(text string) (before, last string) {
	text = strings.TrimSpace(text)
	i := strings.LastIndex(text, "\n") + 1
	return text[:i], text[i:]
}
