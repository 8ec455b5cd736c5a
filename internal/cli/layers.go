package cli

import (
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
		"the YAML `file` to read, repeatable: a later one stands before an earlier one; also "+fileVariable)
	flags := pflag.NewFlagSet(c.Name(), pflag.ContinueOnError)
	config.AddFlags(flags, defaults)
	c.Flags().AddFlagSet(flags)
	_ = c.MarkFlagFilename("config", "yaml", "yml")
	secrets := config.SecretFlags(defaults)
	return func(into any) error {
		c.Flags().Visit(func(f *pflag.Flag) {
			if slices.Contains(secrets, f.Name) && holdsSecret(f.Value.String()) {
				fmt.Fprintf(c.ErrOrStderr(), "%s: --%s holds a secret, which everybody on this machine sees in the list of processes: give it in a file or the environment\n", c.Root().Name(), f.Name)
			}
		})
		return Wrong(config.Load(into, config.Options{
			Files: *files, Environ: os.Environ(), Reserved: reserved, Flags: c.Flags(),
		}))
	}
}

// longToken is from how many characters on a step of an address is taken for a token.
const longToken = 16

// holdsSecret reports whether an address has a password or a likely token. Text that is
// no address may be libpq's form of one.
func holdsSecret(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" {
		return strings.Contains(text, "password")
	}
	_, password := u.User.Password()
	for name := range u.Query() {
		password = password || strings.Contains(name, "password") || u.Scheme == "http" || u.Scheme == "https"
	}
	if u.Scheme == "http" || u.Scheme == "https" {
		password = password || u.User != nil || slices.ContainsFunc(strings.Split(u.Path, "/"), func(step string) bool { return len(step) >= longToken })
	}
	return password || u.Scheme != "sqlite" && strings.Contains(u.Opaque, "password")
}
