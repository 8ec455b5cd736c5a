package config

import (
	"fmt"
	"io"
	"reflect"
	"strings"
)

// WriteReference writes a Markdown table of every field of a pointer to a
// struct that holds the defaults: its key in the file, its default, and what it
// is for. The variable and the flag follow from the key. A section with the tag
// layers:"file" is one row: its own reference stands elsewhere.
func WriteReference(w io.Writer, defaults any) error {
	rows := []string{"| key | default | what it is |", "| --- | --- | --- |"}
	rows = append(rows, referenceRows("", reflect.ValueOf(defaults).Elem())...)
	_, err := fmt.Fprintln(w, strings.Join(rows, "\n"))
	return err
}

func referenceRows(prefix string, v reflect.Value) []string {
	var rows []string
	for _, m := range membersOf(v.Type()) {
		path, value := join(prefix, m.name), v.FieldByIndex(m.index)
		switch {
		case m.fileOnly:
			rows = append(rows, fmt.Sprintf("| `%s` | | %s |", path, m.help))
		case isText(value.Type()):
			rows = append(rows, fmt.Sprintf("| `%s` | %s | %s |", path, code(textOf(value)), m.help))
		case value.Kind() == reflect.Struct:
			rows = append(rows, referenceRows(path, value)...)
		case value.Kind() == reflect.Map || value.Kind() == reflect.Slice:
			rows = append(rows, fmt.Sprintf("| `%s` | | %s |", path, m.help))
			each := map[reflect.Kind]string{reflect.Map: ".NAME", reflect.Slice: "[]"}[value.Kind()]
			if value.Type().Elem().Kind() == reflect.Struct {
				rows = append(rows, referenceRows(path+each, reflect.New(value.Type().Elem()).Elem())...)
			}
		}
	}
	return rows
}

// code marks a text as one to be typed; an empty one stays empty.
func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}
