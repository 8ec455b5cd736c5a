// Reporter judges what the collectors stored: which keys are hot, why, and what
// to do; and tells people.
//
// It exits with 0 after a stop by SIGINT or SIGTERM, with 78 when its
// configuration is wrong, so that a supervisor need not start it again, and
// with 1 otherwise.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/keyheat/keyheat/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	code := cli.Run(ctx, command(), os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
	stop()
	os.Exit(code)
}

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
