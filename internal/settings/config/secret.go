package config

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"reflect"
	"strings"
)

// Secret is a text that must not be shown: it prints and logs as "(secret)".
type Secret string

// hidden replaces a secret in output.
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

// fileSuffix ends the name of the field that names a secret's file.
const fileSuffix = "_file"

// maxSecret bounds a secret's file: a longer one is the wrong file.
const maxSecret = 64 << 10

// readSecrets reads each secret of a struct with a named file, also in maps of structs.
func (f *fields) readSecrets(prefix string, v reflect.Value) {
	members, values := membersOf(v.Type()), make(map[string]reflect.Value)
	for _, m := range members {
		path, value := join(prefix, m.name), v.FieldByIndex(m.index)
		values[m.name] = value
		switch {
		case isText(value.Type()):
		case value.Kind() == reflect.Struct:
			f.readSecrets(path, value)
		case value.Kind() == reflect.Map && value.Type().Elem().Kind() == reflect.Struct:
			for _, name := range value.MapKeys() {
				elem := reflect.New(value.Type().Elem()).Elem()
				elem.Set(value.MapIndex(name))
				f.readSecrets(join(path, name.String()), elem)
				value.SetMapIndex(name, elem)
			}
		}
	}
	for _, m := range members {
		path, from, secret := join(prefix, m.name), join(prefix, m.name+fileSuffix), values[m.name]
		file, has := values[m.name+fileSuffix]
		if secret.Type() != secretType || !has || file.String() == "" || f.faults.broken[path] || f.faults.broken[from] {
			continue
		}
		text, err := ReadSecret(file.String())
		switch at := f.faults.origins[from]; {
		case secret.String() != "" && f.leaf(path) == nil: // of a leaf, the later layer has won
			f.faults.bad(path, "%s: both %s and %s are set: give one", at, path, from)
		case err != nil:
			f.faults.bad(path, "%s: %s: %w", at, from, err)
		default:
			secret.SetString(text)
			f.faults.origins[path] = at
		}
	}
}

// ReadSecret reads a file without the line end that editors leave.
func ReadSecret(path string) (string, error) {
	text, err := readFile(path, maxSecret)
	if err != nil {
		return "", err
	}
	secret := strings.TrimRight(string(text), "\r\n")
	switch {
	case secret == "":
		return "", fmt.Errorf("%s is empty: write the secret into it", path)
	case len(text) > maxSecret:
		return "", fmt.Errorf("%s is larger than %d bytes: name the file of a secret", path, maxSecret)
	}
	return secret, nil
}

// readFile reads a file, up to one byte beyond a limit: a device has no end.
func readFile(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	return io.ReadAll(io.LimitReader(f, limit+1))
}

// display returns the text of a field as an error may repeat it.
func display(l *leaf, text string) string {
	if l.secret {
		return hidden
	}
	return text
}
