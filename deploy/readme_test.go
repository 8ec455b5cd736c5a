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

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/keyheat/keyheat/internal/testsupport/pgtest"
)

// fence matches a code block: its language, the words after it, and its content.
var fence = regexp.MustCompile("(?m)^```([a-z]*) ?([a-z]*)\n((?:.*\n)*?)```$")

// The README's servers on this machine.
const (
	localPostgres = "postgres://keyheat@localhost/keyheat"
	localKafka    = "localhost:9092"
)

// TestReadme runs the README's shell blocks, one after another, in one folder. A word
// after `sh` names what a block needs:
//
//	sh            nothing: it is run
//	sh postgres   a Postgres: it is run, with the test's database for localPostgres
//	sh kafka      a Kafka: our programs are run, with the test's cluster for localKafka
//	sh make       the Makefile: it has each target
//	sh scripts    a server that a script installs: the scripts exist, and have tests
//	sh aws        an account: our programs accept each command's flags
//	sh docker     containers: TestComposeCommandsAreTheProgramsOwn tries them
//
// A daemon is stopped once it serves. A yaml block that begins with a file's name is that
// file.
func TestReadme(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../README.md")
	must(t, err)
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(8, "samples"))
	must(t, err)
	t.Cleanup(cluster.Close)
	servers := strings.NewReplacer(localPostgres, pgtest.Database(t), localKafka, cluster.ListenAddrs()[0])
	r := &readme{dir: t.TempDir()}
	must(t, os.Symlink(programs(t), filepath.Join(r.dir, "bin")))
	ran := 0
	for _, block := range fence.FindAllStringSubmatch(string(page), -1) {
		language, needs, text := block[1], block[2], servers.Replace(block[3])
		if language == "yaml" {
			name, _, _ := strings.Cut(strings.TrimPrefix(text, "# "), "\n")
			must(t, os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o600))
		}
		if language != "sh" {
			continue
		}
		ran++
		switch needs {
		case "", "postgres", "kafka":
			r.run(t, text)
		case "aws":
			r.accept(t, text)
		case "make":
			hasTargets(t, text)
		case "scripts":
			areScripts(t, text)
		case "docker":
		default:
			t.Errorf("a block of the README needs %q, which this test does not know", needs)
		}
	}
	if ran < 8 {
		t.Errorf("the README has %d shell blocks: are they found?", ran)
	}
}

// TestStart has our programs parse the commands of docs/START.md that need servers, which the
// tests of cmd/reporter do not run.
func TestStart(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/START.md")
	must(t, err)
	r := &readme{dir: t.TempDir()}
	must(t, os.Symlink(programs(t), filepath.Join(r.dir, "bin")))
	for _, block := range fence.FindAllStringSubmatch(string(page), -1) {
		if block[1] == "shell" {
			r.accept(t, block[3])
		}
	}
}

// readme is the folder in which the README's commands run.
type readme struct{ dir string }

// shell returns a command of bash in the folder.
func (r *readme) shell(t *testing.T, text string) *exec.Cmd {
	t.Helper()
	c := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", text)
	c.Dir = r.dir
	return c
}

// run runs our programs of a block. Five seconds of traffic replace the README's minutes.
func (r *readme) run(t *testing.T, text string) {
	t.Helper()
	text = regexp.MustCompile(`--duration \d+[mh]`).ReplaceAllString(text, "--duration 5s")
	for line := range strings.Lines(text) {
		switch words := strings.Fields(line); {
		case !strings.HasPrefix(words[0], "bin/"):
		case words[1] == "serve", words[1] == "up":
			r.serve(t, "KEYHEAT_LOG_FORMAT=json KEYHEAT_LOG_LEVEL=info KEYHEAT_LISTEN=127.0.0.1:0 exec "+line) // another test may have the port
		case words[1] == "run":
			r.serve(t, "KEYHEAT_ADMIN_LISTEN=127.0.0.1:0 exec "+line)
		default:
			out, err := r.shell(t, line).CombinedOutput()
			if err != nil || strings.Contains(line, "--candidate") && strings.Contains(string(out), " unjudged") {
				t.Errorf("%s%v\n%.3000s", line, err, out)
			}
		}
	}
}

// serve starts a daemon, and stops it once it serves.
func (r *readme) serve(t *testing.T, text string) {
	t.Helper()
	c := r.shell(t, text)
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

// areScripts checks that the sources have the scripts of a block.
func areScripts(t *testing.T, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		script := strings.Fields(line)[0]
		if out, err := exec.CommandContext(t.Context(), "../"+script).CombinedOutput(); err != nil || !strings.Contains(string(out), script+" start DIR") {
			t.Errorf("%s: %v\n%s", script, err, out)
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
