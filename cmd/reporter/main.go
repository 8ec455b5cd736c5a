// Reporter finds hot keys in the collectors' stored sketches, explains why they are hot
// and how to cool them, and sends notifications.
//
// It exits with 0 after a stop by SIGINT or SIGTERM, with 78 when its configuration is
// wrong, so that a supervisor need not start it again, and with 1 otherwise.
package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/keyheat/keyheat/internal/cli"
)

func main() { os.Exit(cli.Main(command())) }

func command() *cobra.Command {
	root := &cobra.Command{
		Use:   "reporter",
		Short: "Find hot DynamoDB partition keys in what Keyheat's collectors stored",
		Long: "The reporter finds the DynamoDB partition keys that cause throttling or soon will,\n" +
			"and says what to do. Run as many as you like; one judges at a time.",
	}
	root.AddCommand(upCommand(), surveyCommand(), serveCommand(), analyzeCommand(), reportCommand(), demoCommand(), checkCommand(), migrateCommand(), keysCommand(), alertCommand())
	cli.AddVersion(root)
	root.AddCommand(incidents(), notifications(), silences(), auditCommand(), showPartitions())
	return root
}

func checkCommand() *cobra.Command {
	c := defaults()
	return cli.CheckCommand("reporter", c, c.probes, func() cli.Probe { return c.Web.Running(c.Listen) })
}
