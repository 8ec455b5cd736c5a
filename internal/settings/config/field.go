package config

import (
	"fmt"
	"reflect"
	"strings"
)

// leaf is one field that a text can fill.
type leaf struct {
	path   string // as in a file: kafka.brokers
	help   string
	value  reflect.Value
	secret bool
	typed  bool // a secret that may be typed: it has a flag all the same
	set    origin
}

func (l *leaf) env() string {
	return EnvPrefix + strings.ToUpper(strings.ReplaceAll(l.path, ".", "_"))
}

// flag returns the leaf's name on the command line, empty for a leaf without a flag.
func (l *leaf) flag() string {
	if l.secret && !l.typed {
		return ""
	}
	return strings.NewReplacer(".", "-", "_", "-").Replace(l.path)
}

// fields are a struct's leaves and faults.
type fields struct {
	root   reflect.Value
	leaves []*leaf
	faults Faults
}

// newFields walks a pointer to a struct. A type that no text can fill is the
// programmer's error and panics.
func newFields(into any) *fields {
	v := reflect.ValueOf(into)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		panic(fmt.Sprintf("config: %T is no pointer to a struct", into))
	}
	f := &fields{root: v.Elem(), faults: Faults{origins: make(map[string]string), broken: make(map[string]bool)}}
	f.walk("", f.root)
	return f
}

func (f *fields) walk(prefix string, v reflect.Value) {
	for _, m := range membersOf(v.Type()) {
		path, value := join(prefix, m.name), v.FieldByIndex(m.index)
		switch {
		case m.fileOnly:
		case isText(value.Type()):
			f.leaves = append(f.leaves, &leaf{
				path: path, help: m.help, value: value, secret: value.Type() == secretType, typed: m.typed,
			})
		case value.Kind() == reflect.Struct:
			f.walk(path, value)
		}
	}
}

// leaf finds a leaf by its path; nil inside maps and lists of structs, which only a file
// can fill.
func (f *fields) leaf(path string) *leaf {
	for _, l := range f.leaves {
		if l.path == path {
			return l
		}
	}
	return nil
}

// member is one named field of a struct.
type member struct {
	name, help string
	typed      bool
	fileOnly   bool // it has the tag layers:"file"
	index      []int
}

// membersOf returns the fields of a struct type that have a yaml name, including the
// fields of embedded structs.
func membersOf(t reflect.Type) []member {
	var all []member
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous && f.Type.Kind() == reflect.Struct {
			for _, m := range membersOf(f.Type) {
				m.index = append([]int{i}, m.index...)
				all = append(all, m)
			}
			continue
		}
		if name := f.Tag.Get("yaml"); name != "" {
			all = append(all, member{
				name: name, help: f.Tag.Get("help"), typed: f.Tag.Get("flag") == "true",
				fileOnly: f.Tag.Get("layers") == "file", index: f.Index,
			})
		}
	}
	return all
}

func join(prefix, name string) string {
	if prefix == "" {
		return name
	}
	return prefix + "." + name
}
