package cli

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/keyheat/keyheat/internal/settings/config"
)

// fileVariable names the configuration's files where --config does not, separated
// as in PATH.
const fileVariable = config.EnvPrefix + "CONFIG"

// reserved are variables that this repository's scripts and tests read, so that
// a daemon started by them does not take them for a mistake.
var reserved = []string{fileVariable, config.EnvPrefix + "CACHE", config.EnvPrefix + "TEST_"}

// settingsHelp stands in the help of each command that reads the configuration.
const settingsHelp = "docs/CONFIGURATION.md describes the settings; packages have it in /usr/share/doc/keyheat.\n" +
	"Each is a key in the file, a variable and a flag, in rising order: store.url,\n" +
	"KEYHEAT_STORE_URL, --store-url."

// WithConfig has a command read its configuration before it runs; config points to the
// defaults.
func WithConfig(c *cobra.Command, config any, run func(c *cobra.Command) error) *cobra.Command {
	load := Layers(c, config)
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := load(); err != nil {
			return err
		}
		return run(c)
	}
	return c
}

// Reloadable is [WithConfig] for a daemon, which can read all layers again while it runs:
// run gets the configuration, and a function that reads the next one. defaults returns a
// new struct with the defaults at each call.
func Reloadable[C any](c *cobra.Command, defaults func() *C, run func(c *cobra.Command, config *C, again func() (*C, error)) error) *cobra.Command {
	fill := layers(c, defaults(), true)
	again := func() (*C, error) {
		config := defaults()
		return config, fill(config)
	}
	c.RunE = func(c *cobra.Command, _ []string) error {
		config, err := again()
		if err != nil {
			return err
		}
		return run(c, config, again)
	}
	return c
}

// Layers adds --config and a flag for every field of defaults, which points to a struct,
// to a command. It returns a function that fills the struct when the command runs.
func Layers(c *cobra.Command, defaults any) (load func() error) {
	fill := layers(c, defaults, false)
	return func() error { return fill(defaults) }
}

// files returns the configuration's files where --config names none: those of the variable, or
// keyheat.yaml here, or the program's own in /etc/keyheat.
func files(program string) []string {
	if named := filepath.SplitList(os.Getenv(fileVariable)); len(named) > 0 {
		return named
	}
	for _, path := range []string{"keyheat.yaml", filepath.Join("/etc/keyheat", strings.TrimPrefix(program, installed)+".yaml")} {
		if file, err := os.Open(path); err == nil { // who may not read it has other settings
			_ = file.Close()
			return []string{path}
		}
	}
	return nil
}

// layers adds the flags of Layers, and returns a function that fills a struct with
// defaults. The help of daemons shows them, by section.
func layers(c *cobra.Command, defaults any, shown bool) (fill func(into any) error) {
	named := c.Flags().StringArrayP("config", "c", nil, "the YAML `file` to read; a later file wins over an earlier one (default $"+fileVariable+", ./keyheat.yaml, or the one in /etc/keyheat)")
	flags := pflag.NewFlagSet(c.Name(), pflag.ContinueOnError)
	config.AddFlags(flags, defaults)
	flags.VisitAll(func(f *pflag.Flag) { f.Hidden = !shown })
	c.Flags().AddFlagSet(flags)
	if shown {
		c.SetUsageTemplate(strings.Replace(c.UsageTemplate(), "{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}", "{{flagsBySection .}}", 1))
	}
	c.Long = cmp.Or(c.Long, c.Short) + "\n\n" + settingsHelp
	_ = c.MarkFlagFilename("config", "yaml", "yml")
	secrets := config.SecretFlags(defaults)
	return func(into any) error {
		c.Flags().Visit(func(f *pflag.Flag) {
			if slices.Contains(secrets, f.Name) && holdsSecret(f.Value.String()) {
				fmt.Fprintf(c.ErrOrStderr(), "%s: --%s holds a secret, which every user of this machine sees in the list of processes: give it in a file or the environment\n", c.Root().Name(), f.Name)
			}
		})
		from := *named
		if len(from) == 0 {
			from = files(c.Root().Name())
		}
		return Wrong(config.Load(into, config.Options{
			Files: from, Environ: os.Environ(), Reserved: reserved, Flags: c.Flags(),
		}))
	}
}

func init() { cobra.AddTemplateFunc("flagsBySection", flagsBySection) }

// flagsBySection returns the usage of a command's flags: its own, and then the settings.
func flagsBySection(c *cobra.Command) string {
	sections := map[string]*pflag.FlagSet{}
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		section := "" // first, with the settings of none
		if of := f.Annotations[config.Section]; len(of) > 0 && of[0] != "" {
			section = of[0]
		}
		if sections[section] == nil {
			sections[section] = pflag.NewFlagSet(section, pflag.ContinueOnError)
		}
		sections[section].AddFlag(f)
	})
	var b strings.Builder
	for _, section := range slices.Sorted(maps.Keys(sections)) {
		if section != "" {
			fmt.Fprintf(&b, "\nSettings of %s:\n", section)
		}
		b.WriteString(sections[section].FlagUsagesWrapped(100))
	}
	return strings.TrimRight(b.String(), "\n")
}

// holdsSecret reports whether a database's address has a password. Text that is no URL
// may be libpq's form of one.
func holdsSecret(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" {
		return strings.Contains(text, "password")
	}
	_, password := u.User.Password()
	for name := range u.Query() {
		password = password || strings.Contains(name, "password")
	}
	return password || u.Scheme != "sqlite" && strings.Contains(u.Opaque, "password")
}
