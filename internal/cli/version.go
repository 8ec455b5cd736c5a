package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/keyheat/keyheat/internal/daemon"
)

// AddVersion adds the command version and the flag --version to a daemon's root command.
func AddVersion(root *cobra.Command) {
	root.Version = daemon.ReadBuild().String()
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.AddCommand(versionCommand(root.Name()))
}

func versionCommand(program string) *cobra.Command {
	c := &cobra.Command{
		Use: "version", Short: "Print the version of this program", Args: cobra.NoArgs,
		Example: fmt.Sprintf("  %s version\n  %s version -o json", program, program),
	}
	format := OutputFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		build := daemon.ReadBuild()
		if *format == JSON {
			return WriteJSON(c.OutOrStdout(), build)
		}
		_, err := fmt.Fprintf(c.OutOrStdout(), "%s %s\n", program, build)
		return err
	}
	return c
}
