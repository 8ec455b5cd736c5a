// Package reference holds the tables of settings in the documentation against the
// structs that programs fill, by the tags that package config reads.
package reference

import (
	"encoding"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/settings/options"
)

// Check fails unless the page, a path from the test's folder, has between its marks
// «mark begins» and «mark ends» the table of a pointer to a struct with defaults, without
// the sections elsewhere, which other tables show. On a mismatch write what is printed
// between the marks.
func Check(t *testing.T, page, mark string, defaults any, elsewhere ...string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	have, found := between(string(text), mark)
	if want := Table(defaults, elsewhere...); !found || have != want {
		t.Errorf("%s is not what %s takes:\n%s", filepath.Base(page), mark, want)
	}
}

// Table returns a Markdown table of every field of a pointer to a struct that holds the
// defaults: its key in the file, its default, and its purpose. The variable and the flag
// follow from the key. A section with the tag layers:"file" is one row. So is an embedded
// section that has its rows already, as the policy of one table has in the general policy.
func Table(defaults any, elsewhere ...string) string {
	t := table{shown: make(map[reflect.Type]string), elsewhere: elsewhere}
	rows := []string{"| key | default | purpose |", "| --- | --- | --- |"}
	return strings.Join(append(rows, t.rowsOf("", reflect.ValueOf(defaults).Elem())...), "\n")
}

// table is a table that is being written.
type table struct {
	shown     map[reflect.Type]string // the path of each section that has rows
	elsewhere []string
}

func (t *table) rowsOf(prefix string, v reflect.Value) (rows []string) {
	for i := range v.NumField() {
		f, value := v.Type().Field(i), v.Field(i)
		if !f.IsExported() {
			continue
		}
		name, help := f.Tag.Get("yaml"), f.Tag.Get("help")
		path := strings.TrimPrefix(prefix+"."+name, ".")
		_, isText := value.Addr().Interface().(encoding.TextUnmarshaler)
		switch {
		case name != "" && slices.Contains(t.elsewhere, path):
		case f.Anonymous && t.shown[f.Type] != "":
			rows = append(rows, fmt.Sprintf("| `%s.KEY` | | every key of `%s`, for this entry alone |", prefix, t.shown[f.Type]))
		case f.Anonymous && value.Kind() == reflect.Struct:
			rows = append(rows, t.rowsOf(prefix, value)...)
		case name == "":
		case f.Tag.Get("layers") == "file":
			rows = append(rows, fmt.Sprintf("| `%s` | | %s |", path, help))
		case value.Kind() == reflect.Struct && !isText:
			t.shown[f.Type] = path
			rows = append(rows, t.rowsOf(path, value)...)
		case value.Kind() == reflect.Map, value.Kind() == reflect.Slice && value.Type().Elem().Kind() != reflect.String:
			rows = append(rows, fmt.Sprintf("| `%s` | | %s |", path, help))
			each := map[reflect.Kind]string{reflect.Map: ".NAME", reflect.Slice: "[]"}[value.Kind()]
			if value.Type().Elem().Kind() == reflect.Struct {
				rows = append(rows, t.rowsOf(path+each, reflect.New(value.Type().Elem()).Elem())...)
			}
		default:
			rows = append(rows, fmt.Sprintf("| `%s` | %s | %s |", path, code(value), help))
		}
	}
	return rows
}

// code returns a default as one would type it; an empty one is nothing.
func code(v reflect.Value) string {
	var text string
	switch x := v.Interface().(type) {
	case time.Duration:
		text = options.FormatDuration(x)
	case []string:
		text = strings.Join(x, ",")
	case encoding.TextMarshaler:
		written, err := x.MarshalText()
		if err != nil {
			return ""
		}
		text = string(written)
	default:
		text = fmt.Sprint(x)
	}
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}
