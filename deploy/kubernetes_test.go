package deploy_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestPodsRunThePrograms tries each container's command with the real program, with the
// settings of its ConfigMap.
func TestPodsRunThePrograms(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "store-url")
	must(t, os.WriteFile(secret, []byte("postgres://keyheat@localhost/keyheat"), 0o600))
	configs := map[string]string{"/etc/keyheat/secrets/store-url": secret}
	for mounted, file := range map[string]string{
		"/etc/keyheat/collector.yaml": "kubernetes/base/collector-config.yaml", "/etc/keyheat/reporter.yaml": "kubernetes/base/reporter-config.yaml",
	} {
		configs[mounted] = withSecret(t, file, secret)
	}
	tried := 0
	for _, file := range []string{"collector.yaml", "reporter.yaml", "migrate.yaml"} {
		for _, args := range podArgs(t, filepath.Join("kubernetes/base", file)) {
			for i, arg := range args {
				if to, is := configs[arg]; is {
					args[i] = to
				}
			}
			if err := try(t, programs(t), args, nil); err != nil {
				t.Errorf("%s: %q: %v", file, args, err)
			}
			tried++
		}
	}
	if tried != 3 {
		t.Errorf("%d containers were tried", tried)
	}
	if err := try(t, programs(t), []string{"/reporter", "serve", "--config", withSecret(t, "kubernetes/example/reporter.yaml", secret)}, nil); err != nil {
		t.Errorf("the example: %v", err)
	}
}

// withSecret returns the path of a copy of a configuration that reads another file as its
// secret.
func withSecret(t *testing.T, file, secret string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	must(t, err)
	changed := strings.Replace(string(text), "/etc/keyheat/secrets/store-url", secret, 1)
	to := filepath.Join(t.TempDir(), filepath.Base(file))
	must(t, os.WriteFile(to, []byte(changed), 0o600))
	return to
}

// podArgs returns the arguments of the containers in a file.
func podArgs(t *testing.T, file string) (all [][]string) {
	t.Helper()
	text, err := os.ReadFile(file)
	must(t, err)
	for documents := yaml.NewDecoder(strings.NewReader(string(text))); ; {
		var d struct {
			Spec struct {
				Template struct {
					Spec struct {
						Containers []struct{ Command, Args []string }
					}
				}
			}
		}
		err := documents.Decode(&d)
		if errors.Is(err, io.EOF) {
			return all
		}
		must(t, err)
		for _, c := range d.Spec.Template.Spec.Containers {
			all = append(all, slices.Concat(c.Command, c.Args))
		}
	}
}
