// Package deploy_test keeps what operators copy true: every command, flag and
// variable in docker-compose.yml is tried against the real programs.
package deploy_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.yaml.in/yaml/v3"
)

// image is the name of the image that the Dockerfile builds.
const image = "keyheat"

type service struct {
	Image, Restart string
	Entrypoint     []string
	Command        []string
	Environment    map[string]string
	Ports          []string
	DependsOn      map[string]struct{ Condition string } `yaml:"depends_on"`
	Healthcheck    struct{ Test []string }
	MemLimit       string `yaml:"mem_limit"`
}

// entrypoint is the program of a service of our image, the Dockerfile's unless the service
// names one.
func (s *service) entrypoint() []string {
	if len(s.Entrypoint) > 0 {
		return s.Entrypoint
	}
	return []string{"/reporter"}
}

func services(t *testing.T) map[string]service {
	t.Helper()
	text, err := os.ReadFile("../docker-compose.yml")
	must(t, err)
	var file struct{ Services map[string]service }
	must(t, yaml.Unmarshal(text, &file))
	return file.Services
}

// built is the folder of both daemons, built once for all tests.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "keyheat-deploy")
	if err != nil {
		return "", err
	}
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", dir+"/", "./cmd/...") // linked in half the time
	build.Dir = ".."
	if out, err := build.CombinedOutput(); err != nil {
		return dir, fmt.Errorf("%w\n%s", err, out)
	}
	return dir, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, _ := built(); dir != "" {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

func programs(t *testing.T) string {
	t.Helper()
	dir, err := built()
	must(t, err)
	return dir
}

// run runs a program with nothing but these variables, and answers its exit
// code and what it printed.
func run(t *testing.T, program string, args []string, environment map[string]string) (code int, out string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), program, args...)
	command.Env, command.Dir = []string{}, t.TempDir()
	for name, value := range environment {
		command.Env = append(command.Env, name+"="+value)
	}
	var both bytes.Buffer
	command.Stdout, command.Stderr = &both, &both
	var exit *exec.ExitError
	if err := command.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return command.ProcessState.ExitCode(), both.String()
}

func TestComposeCommandsAreTheProgramsOwn(t *testing.T) {
	t.Parallel()
	dir, ours := programs(t), 0
	for _, name := range slices.Sorted(maps.Keys(services(t))) {
		s := services(t)[name]
		if s.Image != image {
			continue
		}
		ours++
		for what, line := range map[string][]string{"command": slices.Concat(s.entrypoint(), s.Command), "healthcheck": s.Healthcheck.Test} {
			if what == "healthcheck" {
				if len(line) == 0 {
					continue
				}
				line = line[1:] // CMD
			}
			if err := try(t, dir, line, s.Environment); err != nil {
				t.Errorf("%s: %s %v: %v", name, what, line, err)
			}
		}
	}
	if ours < 5 {
		t.Errorf("only %d services run our image", ours)
	}
}

// try parses a command line with the real program. One that reads settings has
// them checked, too, by check, which takes the same; its servers are not here.
func try(t *testing.T, dir string, line []string, environment map[string]string) error {
	program, found := strings.CutPrefix(line[0], "/")
	if !found || len(line) < 2 {
		return errors.New("want a program's path and a command")
	}
	program, word, flags := filepath.Join(dir, program), line[1], line[2:]
	if code, out := run(t, program, append(slices.Clone(line[1:]), "--help"), nil); code != 0 {
		return fmt.Errorf("exit code %d\n%s", code, out)
	}
	if word == "generate" { // reads no settings
		return nil
	}
	_, out := run(t, program, append([]string{"check", "-o", "json"}, flags...), environment)
	var answer struct {
		Checks []struct {
			Name, Detail string
			OK           bool
		}
	}
	if err := json.Unmarshal([]byte(out), &answer); err != nil {
		return fmt.Errorf("check printed %s: %w", out, err)
	}
	for _, c := range answer.Checks {
		if c.Name == "config" && !c.OK {
			return errors.New(c.Detail)
		}
	}
	return nil
}

func TestTheTestRefusesWhatIsWrong(t *testing.T) {
	t.Parallel()
	dir := programs(t)
	store := map[string]string{"KEYHEAT_STORE_URL": "sqlite:a.db"}
	unknown := maps.Clone(store)
	unknown["KEYHEAT_STORE_UR"] = "x"
	for name, row := range map[string]struct {
		line        []string
		environment map[string]string
		good        bool
	}{
		"well":             {[]string{"/reporter", "migrate"}, store, true},
		"unknown command":  {[]string{"/reporter", "migrat"}, store, false},
		"unknown daemon":   {[]string{"/reporter", "server"}, store, false},
		"unknown flag":     {[]string{"/collector", "generate", "--topci=x"}, nil, false},
		"unknown variable": {[]string{"/reporter", "serve"}, unknown, false},
		"bad value":        {[]string{"/reporter", "serve", "--policy-warning=80"}, store, false},
	} {
		if err := try(t, dir, row.line, row.environment); (err == nil) != row.good {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestComposePublishesOnLoopbackOnly(t *testing.T) {
	t.Parallel()
	for name, s := range services(t) {
		for _, port := range s.Ports {
			if !strings.HasPrefix(port, "127.0.0.1:") {
				t.Errorf("%s publishes %s", name, port)
			}
		}
	}
}

// What a service waits for is there, and able to become what is waited for.
func TestComposeStartsInAnOrderThatEnds(t *testing.T) {
	t.Parallel()
	all := services(t)
	for name, s := range all {
		for on, how := range s.DependsOn {
			other, found := all[on]
			switch {
			case !found:
				t.Errorf("%s waits for %s, which is no service", name, on)
			case how.Condition == "service_healthy" && len(other.Healthcheck.Test) == 0:
				t.Errorf("%s waits for the health of %s, which has no healthcheck", name, on)
			case how.Condition == "service_completed_successfully" && other.Restart != "":
				t.Errorf("%s waits for the end of %s, which is started again", name, on)
			}
		}
	}
}

// TestComposeLimitsMemory: without a limit one service takes what all need, and the
// collectors of the file do not know which heap to keep to.
func TestComposeLimitsMemory(t *testing.T) {
	t.Parallel()
	for name, s := range services(t) {
		if s.MemLimit == "" {
			t.Errorf("%s has no mem_limit", name)
		}
	}
}
