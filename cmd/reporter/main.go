// Reporter judges what the collectors stored: which keys are hot, why, and what
// to do; and tells people.
//
// It exits with 0 after a stop by SIGINT or SIGTERM, with 78 when its
// configuration is wrong, so that a supervisor need not start it again, and
// with 1 otherwise.
package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/keyheat/keyheat/internal/cli"
)

func main() { os.Exit(cli.Main(command())) }

// command is the whole command line.
func command() *cobra.Command {
	root := &cobra.Command{
		Use:   "reporter",
		Short: "Find hot DynamoDB partition keys in what Keyheat's collectors stored",
		Long: "The reporter finds the DynamoDB partition keys that throttle a table or soon\n" +
			"will, and says what to do. Any number may run; one judges at a time.",
	}
	root.AddCommand(serveCommand(), analyzeCommand(), demoCommand(), checkCommand(), migrateCommand(), cli.VersionCommand("reporter"))
	return root
}

func checkCommand() *cobra.Command {
	c := defaults()
	return cli.CheckCommand("reporter", c, c.probes)
}
