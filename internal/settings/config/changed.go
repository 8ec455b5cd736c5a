package config

import (
	"reflect"
	"slices"
)

// ChangedFields returns the sorted paths of the settings that differ between two structs
// of one type: field by field, also within a map of sections. A list of sections is one
// setting. It returns no values, because some are secrets.
func ChangedFields(a, b any) []string {
	var paths []string
	compare("", reflect.ValueOf(a).Elem(), reflect.ValueOf(b).Elem(), &paths)
	slices.Sort(paths)
	return paths
}

func compare(path string, a, b reflect.Value, paths *[]string) {
	switch {
	case !isText(a.Type()) && a.Kind() == reflect.Struct:
		for _, m := range membersOf(a.Type()) {
			compare(join(path, m.name), a.FieldByIndex(m.index), b.FieldByIndex(m.index), paths)
		}
	case a.Kind() == reflect.Map && a.Type().Elem().Kind() == reflect.Struct:
		compareNamed(path, a, b, paths)
	case !reflect.DeepEqual(a.Interface(), b.Interface()):
		*paths = append(*paths, path)
	}
}

// compareNamed compares maps of sections. One that only one of them has is a setting as
// a whole.
func compareNamed(path string, a, b reflect.Value, paths *[]string) {
	for _, name := range a.MapKeys() {
		if in := b.MapIndex(name); in.IsValid() {
			compare(join(path, name.String()), a.MapIndex(name), in, paths)
		} else {
			*paths = append(*paths, join(path, name.String()))
		}
	}
	for _, name := range b.MapKeys() {
		if !a.MapIndex(name).IsValid() {
			*paths = append(*paths, join(path, name.String()))
		}
	}
}
