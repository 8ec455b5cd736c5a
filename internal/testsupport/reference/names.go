package reference

import (
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/keyheat/keyheat/internal/settings/config"
)

// naming finds the flags, arguments and settings that take a table, an index, a key
// or another name.
var naming = regexp.MustCompile(`(?i)table|index|lsi|key|match|value|case|subject|receiver`)

// NamingFlags returns the flags and arguments of a program's commands that take a table, an
// index or a key, such as "reporter incidents --table". Flags of settings, which are annotated, are
// not among them.
func NamingFlags(c *cobra.Command) (all []string) {
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if of, _ := pflag.UnquoteUsage(f); f.Annotations[config.Section] == nil && naming.MatchString(f.Name+" "+of) {
			all = append(all, c.CommandPath()+" --"+f.Name)
		}
	})
	if use := strings.Fields(c.Use); len(use) == 2 && naming.MatchString(use[1]) {
		all = append(all, c.CommandPath()+" "+use[1])
	}
	for _, of := range c.Commands() {
		all = append(all, NamingFlags(of)...)
	}
	return slices.Sorted(slices.Values(all))
}

// NamingKeys returns the settings of a configuration that take a table, an index or a key,
// such as "routes[].table".
func NamingKeys(configuration any) []string {
	return slices.Compact(slices.Sorted(slices.Values(namingKeys("", reflect.TypeOf(configuration).Elem()))))
}

func namingKeys(path string, of reflect.Type) (all []string) {
	for of.Kind() == reflect.Map || of.Kind() == reflect.Slice {
		path += map[reflect.Kind]string{reflect.Map: ".NAME", reflect.Slice: "[]"}[of.Kind()]
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct {
		return nil
	}
	for i := range of.NumField() {
		f := of.Field(i)
		at := strings.TrimPrefix(path+"."+f.Tag.Get("yaml"), ".")
		switch {
		case f.Anonymous:
			at = path
		case f.Tag.Get("yaml") == "":
			continue
		case naming.MatchString(f.Tag.Get("yaml")):
			all = append(all, at)
		}
		all = append(all, namingKeys(at, f.Type)...)
	}
	return all
}
