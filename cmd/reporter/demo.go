package main

import (
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/demo"
)

func demoCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "demo",
		Short: "Show Keyheat on simulated traffic, as a story of three minutes",
		Long: "Runs a simulated application, a collector and a reporter in one process, on a temporary\n" +
			"SQLite database, and prints the address of its page. The page tells the story: a key\n" +
			"gets too hot, its partition refuses requests, on-call is paged, you apply key shards.\n" +
			"It needs no other program. Stop it with Ctrl-C.",
		Example: "  reporter demo\n" +
			"  reporter demo --listen 127.0.0.1:0 --db demo.db",
		Args: cobra.NoArgs,
	}
	options := demo.Options{}
	logs := cli.Log{Level: slog.LevelWarn, Format: "text"}
	c.Flags().StringVar(&options.Listen, "listen", demo.DefaultListen, "host:port of the pages")
	c.Flags().StringVar(&options.Database, "db", "", "a new SQLite `file` to keep; a temporary one when empty")
	c.Flags().DurationVar(&options.Backlog, "backlog", demo.DefaultBacklog, "how much past traffic to begin with")
	c.RunE = func(c *cobra.Command, _ []string) error {
		options.Out, options.Logger = c.OutOrStdout(), logs.Logger(c.ErrOrStderr())
		return demo.Run(c.Context(), options)
	}
	return c
}
