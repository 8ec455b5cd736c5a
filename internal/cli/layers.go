package cli

import (
	"cmp"
	"fmt"
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
	fill := layers(c, defaults())
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
	fill := layers(c, defaults)
	return func() error { return fill(defaults) }
}

// layers adds the flags of Layers, and returns a function that fills a struct with
// defaults.
func layers(c *cobra.Command, defaults any) (fill func(into any) error) {
	files := c.Flags().StringArrayP("config", "c", filepath.SplitList(os.Getenv(fileVariable)),
		"the YAML `file` to read; a later file wins over an earlier one (default $"+fileVariable+")")
	flags := pflag.NewFlagSet(c.Name(), pflag.ContinueOnError)
	config.AddFlags(flags, defaults)
	flags.VisitAll(func(f *pflag.Flag) { f.Hidden = true }) // docs/CONFIGURATION.md describes them
	c.Flags().AddFlagSet(flags)
	c.Long = cmp.Or(c.Long, c.Short) + "\n\n" + settingsHelp
	_ = c.MarkFlagFilename("config", "yaml", "yml")
	secrets := config.SecretFlags(defaults)
	return func(into any) error {
		c.Flags().Visit(func(f *pflag.Flag) {
			if slices.Contains(secrets, f.Name) && holdsSecret(f.Value.String()) {
				fmt.Fprintf(c.ErrOrStderr(), "%s: --%s holds a secret, which every user of this machine sees in the list of processes: give it in a file or the environment\n", c.Root().Name(), f.Name)
			}
		})
		return Wrong(config.Load(into, config.Options{
			Files: *files, Environ: os.Environ(), Reserved: reserved, Flags: c.Flags(),
		}))
	}
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
