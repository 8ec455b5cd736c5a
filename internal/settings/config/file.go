package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/keyheat/keyheat/internal/settings/options"
)

// maxFile bounds a YAML file: thousands of tables fit in.
const maxFile = 16 << 20

// readFile lays the one document of a YAML file over the fields. A file that
// is no YAML is an error and not a fault: nothing else in it can be checked.
func (f *fields) readFile(path string, from layer) error {
	text, err := readFile(path, maxFile)
	switch {
	case err != nil:
		return fmt.Errorf("read the configuration: %w", err)
	case len(text) > maxFile:
		return fmt.Errorf("read the configuration %s: it has more than %d bytes: is it another file?", path, maxFile)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var document yaml.Node
	if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
		return nil // an empty file sets nothing
	} else if err != nil {
		return fmt.Errorf("read the configuration %s: %w: correct the YAML near this line: indent with spaces, and close each bracket and quote", path, err)
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return fmt.Errorf("read the configuration %s: it has more than one document: keep the first, up to ---", path)
	}
	w := walker{fields: f, file: path, layer: from}
	w.fill("", document.Content[0], f.root)
	return nil
}

// walker lays YAML nodes over values.
type walker struct {
	*fields
	file  string
	layer layer
}

func (w *walker) origin(n *yaml.Node) origin {
	return origin{w.layer, w.file + ":" + strconv.Itoa(n.Line)}
}

func (w *walker) fault(path string, n *yaml.Node, format string, args ...any) {
	w.faults.bad(path, "%s: "+format, append([]any{w.origin(n).text}, args...)...)
}

// fill sets the value at a path to a node's content.
func (w *walker) fill(path string, n *yaml.Node, v reflect.Value) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch {
	case v.Type() == stringsType && n.Kind == yaml.SequenceNode:
		w.list(path, n, v)
	case isText(v.Type()):
		w.text(path, n, v)
	case isEmpty(n): // a section whose lines are all commented out
	case v.Kind() == reflect.Struct:
		w.section(path, n, v)
	case v.Kind() == reflect.Map:
		w.byName(path, n, v)
	case v.Kind() == reflect.Slice:
		w.items(path, n, v)
	}
}

func isEmpty(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

func (w *walker) text(path string, n *yaml.Node, v reflect.Value) {
	switch {
	case n.Kind != yaml.ScalarNode:
		w.fault(path, n, "%s: write one value here", path)
	case isEmpty(n):
		w.fault(path, n, "%s has no value: give one, or take the line out", path)
	default:
		l := w.leaf(path)
		if l == nil { // within a map: no other layer reaches it
			l = &leaf{path: path, value: v}
		}
		w.set(l, w.origin(n), n.Value)
	}
}

func (w *walker) list(path string, n *yaml.Node, v reflect.Value) {
	list := make([]string, 0, len(n.Content))
	for _, item := range n.Content {
		if item.Kind != yaml.ScalarNode || isEmpty(item) {
			w.fault(path, item, "%s: write a list of plain values", path)
			return
		}
		list = append(list, item.Value)
	}
	if l := w.leaf(path); l != nil {
		w.claim(l, w.origin(n))
	} else {
		w.faults.origins[path] = w.origin(n).text
	}
	v.Set(reflect.ValueOf(list))
}

// section fills a struct.
func (w *walker) section(path string, n *yaml.Node, v reflect.Value) {
	members := membersOf(v.Type())
	known := make([]string, len(members))
	for i, m := range members {
		known[i] = m.name
	}
	w.each(path, n, func(key, value *yaml.Node) {
		for _, m := range members {
			if m.name == key.Value {
				w.fill(join(path, m.name), value, v.FieldByIndex(m.index))
				return
			}
		}
		if r, is := v.Interface().(Replacer); is && r.Replacements()[key.Value] != "" {
			w.fault("", key, "%s does not exist any more: %s", join(path, key.Value), r.Replacements()[key.Value])
			return
		}
		w.fault("", key, "unknown key %q%s", join(path, key.Value), options.Suggest(key.Value, known))
	})
}

// byName fills a map from names to structs.
func (w *walker) byName(path string, n *yaml.Node, v reflect.Value) {
	if v.IsNil() {
		v.Set(reflect.MakeMap(v.Type()))
	}
	w.each(path, n, func(key, value *yaml.Node) {
		item := reflect.New(v.Type().Elem()).Elem()
		if earlier := v.MapIndex(reflect.ValueOf(key.Value)); earlier.IsValid() {
			item.Set(earlier)
		}
		w.fill(join(path, key.Value), value, item)
		v.SetMapIndex(reflect.ValueOf(key.Value), item)
	})
}

// items fills a list of structs: all of it, whatever an earlier file has.
func (w *walker) items(path string, n *yaml.Node, v reflect.Value) {
	if n.Kind != yaml.SequenceNode {
		w.fault(path, n, "%s: write a list here, each item beginning with \"- \"", path)
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
	for i, item := range n.Content {
		w.fill(path+"["+strconv.Itoa(i)+"]", item, v.Index(i))
	}
}

// each visits the entries of a mapping once.
func (w *walker) each(path string, n *yaml.Node, visit func(key, value *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		w.fault(path, n, "%s: write keys and values here, such as \"key: value\"", orFile(path))
		return
	}
	lines := make(map[string]int)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if first, twice := lines[key.Value]; twice {
			w.fault("", key, "%q is already set in line %d: keep one", join(path, key.Value), first)
			continue
		}
		lines[key.Value] = key.Line
		visit(key, n.Content[i+1])
	}
}

func orFile(path string) string {
	if path == "" {
		return "the file"
	}
	return path
}
