package reference

import (
	"bytes"
	"encoding"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/keyheat/keyheat/internal/settings/config"
)

var updateSchema = flag.Bool("schema", false, "write the JSON Schema of the configuration")

// node is a JSON Schema.
type node map[string]any

// CheckSchema fails unless the file is the JSON Schema of a program's configuration, given
// as a pointer to a struct with defaults. With -args -schema it writes the file. Every
// example must be valid by the schema and for the program, name the schema for editors, and
// stop being valid with an unknown key.
func CheckSchema(t *testing.T, file, title string, defaults any, examples ...string) {
	t.Helper()
	root := sectionSchema(t, reflect.ValueOf(defaults).Elem())
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["$id"] = "https://raw.githubusercontent.com/keyheat/keyheat/main/docs/" + filepath.Base(file)
	root["title"] = title
	var want bytes.Buffer
	encoder := json.NewEncoder(&want)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(root); err != nil {
		t.Fatal(err)
	}
	if *updateSchema {
		if err := os.WriteFile(file, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, want.Bytes()) {
		t.Errorf("%s is not the configuration's: run this test with -args -schema", file)
	}
	schema, err := jsonschema.NewCompiler().Compile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, example := range examples {
		checkExample(t, schema, root["$id"].(string), example)
		if err := config.Load(defaults, config.Options{Files: []string{example}, Flags: pflag.NewFlagSet("none", pflag.ContinueOnError)}); err != nil {
			t.Errorf("%s: %v", example, err)
		}
	}
}

func checkExample(t *testing.T, schema *jsonschema.Schema, id, example string) {
	t.Helper()
	text, err := os.ReadFile(example)
	if err != nil {
		t.Fatal(err)
	}
	if line, _, _ := strings.Cut(string(text), "\n"); line != "# yaml-language-server: $schema="+id {
		t.Errorf("%s begins with %q, and does not name its schema %s", example, line, id)
	}
	var document map[string]any
	if err := yaml.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	asJSON, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(asJSON))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(value); err != nil {
		t.Errorf("%s: %v", example, err)
	}
	value.(map[string]any)["unknown"] = "x"
	if schema.Validate(value) == nil {
		t.Errorf("%s: an unknown key is valid", example)
	}
}

// sectionSchema returns the schema of a struct.
func sectionSchema(t *testing.T, v reflect.Value) node {
	t.Helper()
	properties := node{}
	addProperties(t, v, properties)
	return node{"type": []string{"object", "null"}, "properties": properties, "additionalProperties": false}
}

func addProperties(t *testing.T, v reflect.Value, properties node) {
	t.Helper()
	for i := range v.NumField() {
		f, value := v.Type().Field(i), v.Field(i)
		name := f.Tag.Get("yaml")
		if f.Anonymous && value.Kind() == reflect.Struct {
			addProperties(t, value, properties)
		} else if name != "" {
			s := valueSchema(t, value)
			if help := f.Tag.Get("help"); help != "" {
				s["description"] = help
			}
			properties[name] = s
		}
	}
}

// valueSchema returns the schema of a value that is also the default.
func valueSchema(t *testing.T, v reflect.Value) node {
	t.Helper()
	s := typeSchema(t, v)
	if s["properties"] == nil && s["additionalProperties"] == nil && v.Kind() != reflect.Slice && !v.IsZero() {
		s["default"] = strings.Trim(code(v), "`")
		switch v.Kind() {
		case reflect.Bool, reflect.Float64, reflect.Int:
			s["default"] = v.Interface()
		}
	}
	return s
}

func typeSchema(t *testing.T, v reflect.Value) node {
	t.Helper()
	switch {
	case v.Type() == reflect.TypeFor[time.Duration]():
		return node{"type": []string{"string", "integer"}, "pattern": `^-?([0-9.]+ ?(d|h|m|s|ms|us|µs|ns))+$|^0$`}
	case v.Type() == reflect.TypeFor[config.Bytes]():
		return node{"type": []string{"string", "integer"}, "pattern": `^[0-9]+ ?(KiB|MiB|GiB)?$`}
	case v.Type() == reflect.TypeFor[[]string]():
		return node{"type": []string{"array", "string"}, "items": node{"type": []string{"string", "number"}}}
	case reflect.PointerTo(v.Type()).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		return node{"type": []string{"string", "number"}}
	}
	switch v.Kind() {
	case reflect.String:
		return node{"type": []string{"string", "number"}}
	case reflect.Bool:
		return node{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return node{"type": "integer"}
	case reflect.Float64:
		return node{"type": "number"}
	case reflect.Struct:
		return sectionSchema(t, v)
	case reflect.Map:
		return node{"type": []string{"object", "null"}, "additionalProperties": typeSchema(t, reflect.New(v.Type().Elem()).Elem())}
	case reflect.Slice:
		return node{"type": []string{"array", "null"}, "items": typeSchema(t, reflect.New(v.Type().Elem()).Elem())}
	case reflect.Pointer:
		return typeSchema(t, reflect.New(v.Type().Elem()).Elem())
	}
	t.Fatalf("a %s has no schema", v.Type())
	return nil
}
