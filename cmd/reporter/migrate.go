package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/store"
)

func migrateCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "migrate",
		Short: "Bring the database's schema up to date",
		Long: "Makes or changes the database's tables for this version. Any number of processes\n" +
			"may migrate at once: one does it. A schema of a newer version is left alone.",
		Example: "  reporter migrate --config reporter.yaml\n" +
			"  reporter migrate --store-url sqlite:keyheat.db",
		Args: cobra.NoArgs,
	}
	config := defaults()
	load := cli.Layers(c, config)
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := load(); err != nil {
			return err
		}
		applied, err := store.Migrate(c.Context(), string(config.Store.URL))
		if err != nil {
			return err
		}
		said := "is up to date"
		switch {
		case applied == 1:
			said = "was migrated by 1 step"
		case applied > 1:
			said = fmt.Sprintf("was migrated by %d steps", applied)
		}
		_, err = fmt.Fprintf(c.OutOrStdout(), "%s %s\n", config.Store, said)
		return err
	}
	return c
}
