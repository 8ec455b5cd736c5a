package config

import (
	"fmt"
	"log/slog"
	"os"
	"strings"
)

// Secret is a text that must not be shown: it prints and logs as "(secret)".
type Secret string

// hidden is what is shown of a secret.
const hidden = "(secret)"

// String hides the secret; string(s) is the text itself.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return hidden
}

// GoString hides the secret from %#v.
func (s Secret) GoString() string { return s.String() }

// LogValue hides the secret from slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText hides the secret from JSON and YAML.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// fileSuffix ends the name of the field that says where a secret is read from.
const fileSuffix = "_file"

// maxSecret bounds a secret's file: a longer one is the wrong file.
const maxSecret = 64 << 10

// readSecrets reads each secret for which a file is named.
func (f *fields) readSecrets() {
	for _, l := range f.leaves {
		if !l.secret {
			continue
		}
		file := f.leaf(l.path + fileSuffix)
		if file == nil || file.value.String() == "" || f.faults.broken[l.path] || f.faults.broken[file.path] {
			continue
		}
		text, err := readSecret(file.value.String())
		if err != nil {
			f.faults.bad(l.path, "%s: %s: %w", file.set.text, file.path, err)
			continue
		}
		l.value.SetString(text)
		f.faults.origins[l.path] = file.set.text
	}
}

// readSecret reads a file without the line end that editors leave.
func readSecret(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	secret := strings.TrimRight(string(text), "\r\n")
	switch {
	case secret == "":
		return "", fmt.Errorf("%s is empty: write the secret into it", path)
	case len(text) > maxSecret:
		return "", fmt.Errorf("%s holds %d bytes: a secret has at most %d", path, len(text), maxSecret)
	}
	return secret, nil
}

// shown returns the text of a field as an error may repeat it.
func shown(l *leaf, text string) string {
	if l.secret {
		return hidden
	}
	return text
}
