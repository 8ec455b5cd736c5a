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
		Long: "Creates or changes the database's tables for this version. Any number of processes\n" +
			"may migrate at once: one does the work. A newer schema is not changed.",
		Example: "  reporter migrate --config reporter.yaml\n" +
			"  reporter migrate --store-url sqlite:keyheat.db",
		Args: cobra.NoArgs,
	}
	config := defaults()
	return cli.WithConfig(c, config, func(c *cobra.Command) error {
		applied, err := store.Migrate(c.Context(), string(config.Store.URL))
		if err != nil {
			return err
		}
		status := "is up to date"
		switch {
		case applied == 1:
			status = "was migrated by 1 step"
		case applied > 1:
			status = fmt.Sprintf("was migrated by %d steps", applied)
		}
		_, err = fmt.Fprintf(c.OutOrStdout(), "%s %s\n", config.Store, status)
		return err
	})
}
