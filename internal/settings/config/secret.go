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

// readSecrets reads each secret with a named file.
func (f *fields) readSecrets() {
	for _, l := range f.leaves {
		if !l.secret {
			continue
		}
		file := f.leaf(l.path + fileSuffix)
		if file == nil || file.value.String() == "" || f.faults.broken[l.path] || f.faults.broken[file.path] {
			continue
		}
		text, err := ReadSecret(file.value.String())
		if err != nil {
			f.faults.bad(l.path, "%s: %s: %w", file.set.text, file.path, err)
			continue
		}
		l.value.SetString(text)
		f.faults.origins[l.path] = file.set.text
	}
	f.readNamed("", f.root)
}

// readNamed reads the secrets of structs that are in maps, which have no leaves.
func (f *fields) readNamed(prefix string, v reflect.Value) {
	for _, m := range membersOf(v.Type()) {
		path, value := join(prefix, m.name), v.FieldByIndex(m.index)
		switch {
		case isText(value.Type()):
		case value.Kind() == reflect.Struct:
			f.readNamed(path, value)
		case value.Kind() == reflect.Map && value.Type().Elem().Kind() == reflect.Struct:
			for _, name := range value.MapKeys() {
				elem := reflect.New(value.Type().Elem()).Elem()
				elem.Set(value.MapIndex(name))
				f.readFiles(join(path, name.String()), elem)
				value.SetMapIndex(name, elem)
			}
		}
	}
}

// readFiles reads each secret of one struct that has a named file.
func (f *fields) readFiles(prefix string, v reflect.Value) {
	fields := make(map[string]reflect.Value)
	for _, m := range membersOf(v.Type()) {
		fields[m.name] = v.FieldByIndex(m.index)
	}
	for name, secret := range fields {
		file, has := fields[name+fileSuffix]
		if secret.Type() != secretType || !has || file.String() == "" {
			continue
		}
		path := join(prefix, name)
		if secret.String() != "" {
			f.faults.bad(path, "both %s and %s are set: give one", path, path+fileSuffix)
			continue
		}
		text, err := ReadSecret(file.String())
		if err != nil {
			f.faults.bad(path, "%s: %w", path+fileSuffix, err)
			continue
		}
		secret.SetString(text)
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
