package config

import (
	"reflect"
	"regexp"
	"strings"

	"github.com/spf13/pflag"
)

// AddFlags makes a flag for every field of a pointer to a struct that holds the
// defaults, except for secrets. Parsing such a flag only keeps its text: Load
// reads it, so that its errors come with all the others.
// Each is annotated with its section.
func AddFlags(set *pflag.FlagSet, defaults any) {
	for _, l := range newFields(defaults).leaves {
		name := l.flag()
		if name == "" {
			continue
		}
		text := &typed{text: textOf(l.value), kind: kindOf(l.value.Type())}
		flag := set.VarPF(text, name, "", links.ReplaceAllString(l.help, "$1"))
		section, _, nested := strings.Cut(l.path, ".")
		if !nested {
			section = ""
		}
		flag.Annotations = map[string][]string{Section: {section}}
		if l.value.Kind() == reflect.Bool {
			flag.NoOptDefVal = "true"
		}
	}
}

// Section annotates a flag of a setting with the section of the setting, "" for one of none.
const Section = "keyheat_section"

func (f *fields) readFlags(set *pflag.FlagSet) {
	if set == nil {
		return
	}
	for _, l := range f.leaves {
		if name := l.flag(); name != "" && set.Changed(name) {
			f.set(l, origin{fromFlag, "--" + name}, set.Lookup(name).Value.String())
		}
	}
}

// links are Markdown's, of which a terminal shows the words.
var links = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)

// typed is a flag that is a text until Load reads it.
type typed struct{ text, kind string }

func (t *typed) String() string { return t.text }

func (t *typed) Set(text string) error { t.text = text; return nil }

func (t *typed) Type() string { return t.kind }

// kindOf returns the word for a type in help texts.
func kindOf(t reflect.Type) string {
	switch {
	case t == durationType:
		return "duration"
	case t == stringsType:
		return "list"
	case t == reflect.TypeFor[Bytes]():
		return "size"
	case t.Kind() == reflect.Bool:
		return "bool"
	case t.Kind() == reflect.Float64:
		return "number"
	case t.Kind() == reflect.Int && !reflect.PointerTo(t).Implements(textType):
		return "count"
	}
	return "text"
}

// SecretFlags returns the names of the flags of secrets that may be typed.
func SecretFlags(into any) (names []string) {
	for _, l := range newFields(into).leaves {
		if l.secret && l.flag() != "" {
			names = append(names, l.flag())
		}
	}
	return names
}
