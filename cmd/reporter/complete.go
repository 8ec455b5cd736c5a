package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/keyheat/keyheat/store"
)

// completionTimeout is how long a shell waits for the database: a person waits for it.
const completionTimeout = 2 * time.Second

// completeValues lets a shell complete the values of a flag.
func completeValues(c *cobra.Command, flag string, values ...string) {
	_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// completeTables lets a shell complete the names of the tables in the database; none if
// the database cannot be read.
func completeTables(db configuredStore) cobra.CompletionFunc {
	return func(c *cobra.Command, _ []string, _ string) (names []string, _ cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(c.Context(), completionTimeout)
		defer cancel()
		_ = db.use(ctx, func(db *store.Store) error {
			known, err := db.Tables(ctx)
			names = tableNames(known)
			return err
		})
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}
