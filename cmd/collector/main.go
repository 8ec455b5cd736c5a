// Collector reads samples of DynamoDB requests from Kafka, summarises them, and
// commits the summaries with its positions to the store, where a reporter finds
// them.
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

func command() *cobra.Command {
	root := &cobra.Command{
		Use:   "collector",
		Short: "Collect samples of DynamoDB requests for Keyheat",
		Long: "The collector reads samples of DynamoDB requests, summarises them in bounded\n" +
			"memory, and stores the summaries. Any number of collectors share the work.",
	}
	root.AddCommand(runCommand(), checkCommand(), generateCommand())
	cli.AddVersion(root)
	return root
}

func checkCommand() *cobra.Command {
	c := defaults()
	return cli.CheckCommand("collector", c, c.probes, func() cli.Probe { return c.Web.Running(c.Admin.Listen) })
}
