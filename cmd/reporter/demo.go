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
		Short: "Run Keyheat on generated traffic, with nothing else installed",
		Long: "Runs generated traffic, a collector and a reporter in one process, on a temporary\n" +
			"SQLite database, and prints the address of the page with the findings. Stop it\n" +
			"with Ctrl-C.",
		Example: "  reporter demo\n" +
			"  reporter demo --listen 127.0.0.1:0 --db demo.db",
		Args: cobra.NoArgs,
	}
	options := demo.Options{}
	logs := cli.Log{Level: slog.LevelWarn, Format: "text"}
	c.Flags().StringVar(&options.Listen, "listen", demo.DefaultListen, "host:port of the pages")
	c.Flags().StringVar(&options.Database, "db", "", "an SQLite `file` to keep; a temporary one when empty")
	c.Flags().DurationVar(&options.Backlog, "backlog", demo.DefaultBacklog, "how much past traffic to generate at the start")
	c.RunE = func(c *cobra.Command, _ []string) error {
		options.Out, options.Logger = c.OutOrStdout(), logs.Logger(c.ErrOrStderr())
		return demo.Run(c.Context(), options)
	}
	return c
}
