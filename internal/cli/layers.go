package cli

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/keyheat/keyheat/internal/config"
)

// fileVariable names the configuration's files where --config does not, separated
// as in PATH.
const fileVariable = config.EnvPrefix + "CONFIG"

// reserved are variables that this repository's scripts and tests read, so that
// a daemon started by them does not take them for a mistake.
var reserved = []string{fileVariable, config.EnvPrefix + "CACHE", config.EnvPrefix + "TEST_"}

// Layers adds --config and a flag for every field of defaults, which points to a
// struct, to a command. It returns what fills the struct when the command runs.
func Layers(c *cobra.Command, defaults any) (load func() error) {
	files := c.Flags().StringArrayP("config", "c", filepath.SplitList(os.Getenv(fileVariable)),
		"the YAML `file` to read, repeatable: a later one stands before an earlier one; also "+fileVariable)
	flags := pflag.NewFlagSet(c.Name(), pflag.ContinueOnError)
	config.AddFlags(flags, defaults)
	c.Flags().AddFlagSet(flags)
	_ = c.MarkFlagFilename("config", "yaml", "yml")
	return func() error {
		return Wrong(config.Load(defaults, config.Options{
			Files: *files, Environ: os.Environ(), Reserved: reserved, Flags: c.Flags(),
		}))
	}
}
