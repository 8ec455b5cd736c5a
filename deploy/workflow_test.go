package deploy_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

type workflow struct {
	Permissions map[string]string
	Jobs        map[string]job
}

type job struct {
	Permissions map[string]string
	Needs       []string
	Steps       []step
}

type step struct {
	ID, Uses, Run string
	With          map[string]string
	Env           map[string]string
}

// does reports whether a step uses an action, or runs a command with these words.
func (s step) does(what string) bool {
	return strings.HasPrefix(s.Uses, what+"@") || strings.Contains(s.Run, what)
}

func (j job) has(what string) bool {
	return slices.ContainsFunc(j.Steps, func(s step) bool { return s.does(what) })
}

func workflows(t *testing.T) map[string]workflow {
	t.Helper()
	paths, err := filepath.Glob("../.github/workflows/*")
	must(t, err)
	all := map[string]workflow{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		must(t, err)
		var w workflow
		must(t, yaml.Unmarshal(text, &w))
		if len(w.Jobs) == 0 {
			t.Fatalf("%s has no jobs", path)
		}
		all[filepath.Base(path)] = w
	}
	return all
}

// usesLine finds a line that uses an action, and pinned what it has to be: a commit, and its
// version for people and for tools that update it.
var (
	usesLine = regexp.MustCompile(`(?m)^.*\buses:.*$`)
	pinned   = regexp.MustCompile(`\buses: ([\w.-]+/[\w./-]+)@([0-9a-f]{40}) # (v\d+\.\d+\.\d+)$`)
)

// TestActionsArePinned: a tag can be moved to other code, a commit cannot. An action has one
// version everywhere.
func TestActionsArePinned(t *testing.T) {
	t.Parallel()
	versions := map[string]string{}
	for name := range workflows(t) {
		text, err := os.ReadFile(filepath.Join("../.github/workflows", name))
		must(t, err)
		for _, line := range usesLine.FindAllString(string(text), -1) {
			m := pinned.FindStringSubmatch(line)
			if m == nil {
				t.Errorf("%s: not pinned by a commit with its version: %s", name, strings.TrimSpace(line))
				continue
			}
			version := m[2] + " " + m[3]
			if known := versions[m[1]]; known != "" && known != version {
				t.Errorf("%s: %s is %s, and %s elsewhere", name, m[1], version, known)
			}
			versions[m[1]] = version
		}
	}
	if len(versions) < 8 {
		t.Errorf("only %d actions were found: %v", len(versions), versions)
	}
}

// TestJobsHaveTheRightsTheyNeed: none by default, so that a new job has none; and no token stays
// in a checkout for the code that is built there.
func TestJobsHaveTheRightsTheyNeed(t *testing.T) {
	t.Parallel()
	want := map[string]map[string]string{
		"ci.yaml ci":           {"contents": "read"},
		"release.yaml build":   {"contents": "read"},
		"release.yaml attest":  {"id-token": "write", "attestations": "write"},
		"release.yaml image":   {"contents": "read", "packages": "write", "id-token": "write", "attestations": "write"},
		"release.yaml release": {"contents": "write"},
	}
	for name, w := range workflows(t) {
		if w.Permissions == nil || len(w.Permissions) > 0 {
			t.Errorf("%s: every job has %v: write permissions: {}", name, w.Permissions)
		}
		for of, j := range w.Jobs {
			if !maps.Equal(j.Permissions, want[name+" "+of]) {
				t.Errorf("%s: the job %s has %v, want %v", name, of, j.Permissions, want[name+" "+of])
			}
			delete(want, name+" "+of)
			for _, s := range j.Steps {
				if s.does("actions/checkout") && s.With["persist-credentials"] != "false" {
					t.Errorf("%s: the job %s keeps its token in the checkout", name, of)
				}
			}
		}
	}
	if len(want) > 0 {
		t.Errorf("there are no jobs %v", want)
	}
}

// TestAReleaseIsBuiltOnce: only one job builds. What it made is attested, the image is made of
// it and attested too, and nothing is published before.
func TestAReleaseIsBuiltOnce(t *testing.T) {
	t.Parallel()
	jobs := workflows(t)["release.yaml"].Jobs
	for name, j := range jobs {
		builds := j.has("goreleaser") || j.has("actions/setup-go") || j.has("make ") || j.has("go build")
		if builds != (name == "build") {
			t.Errorf("the job %s builds: %t", name, builds)
		}
		if fetches := j.has("actions/download-artifact"); fetches == (name == "build") {
			t.Errorf("the job %s takes what was built: %t", name, fetches)
		}
		if checks := j.has("sha256sum --check --strict checksums.txt"); name != "build" && !checks {
			t.Errorf("the job %s does not check what it takes", name)
		}
		for _, s := range j.Steps {
			switch {
			case s.does("actions/setup-go") && s.With["cache"] != "false":
				t.Errorf("the job %s builds from a cache that others fill", name)
			case s.does("goreleaser") && !strings.Contains(s.Run, "--skip=publish"):
				t.Errorf("the job %s publishes what is not attested", name)
			case s.does("docker/build-push-action") && s.With["build-contexts"] != "programs=programs":
				t.Errorf("the job %s builds the image of other programs: %v", name, s.With)
			}
		}
	}
	if needs := jobs["release"].Needs; !slices.Contains(needs, "attest") || !slices.Contains(needs, "image") {
		t.Errorf("a release is published after %v", needs)
	}
	for name, with := range map[string]map[string]string{
		"attest": {"subject-checksums": "dist/checksums.txt"},
		"image":  {"subject-name": "ghcr.io/keyheat/keyheat", "subject-digest": "${{ steps.push.outputs.digest }}", "push-to-registry": "true"},
	} {
		attests := func(s step) bool { return s.does("actions/attest-build-provenance") && maps.Equal(s.With, with) }
		if !slices.ContainsFunc(jobs[name].Steps, attests) {
			t.Errorf("the job %s does not attest %v", name, with)
		}
	}
	// What replaces the programs is a stage of the Dockerfile, and the only source of them.
	text, err := os.ReadFile("../Dockerfile")
	must(t, err)
	if !strings.Contains(string(text), " AS programs\n") || strings.Count(string(text), "COPY --from=programs /out/$TARGETARCH/ /\n") != 1 {
		t.Error("the Dockerfile takes the programs from elsewhere")
	}
}
