package main

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/report"
	"github.com/keyheat/keyheat/internal/settings/options"
	"github.com/keyheat/keyheat/internal/settings/tables"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// checkTables returns an error for a table of a flag that no sample had: a misspelt table
// would show a calm list. names are NAME, REGION/NAME or ACCOUNT/REGION/NAME.
func checkTables(ctx context.Context, db *store.Store, flag string, names []string) error {
	for _, name := range names {
		table, err := tables.ParseName(name)
		if err != nil {
			return cli.Wrong(fmt.Errorf("%s: %w", flag, err))
		}
		if err := checkTable(ctx, db, flag, table); err != nil {
			return err
		}
	}
	return nil
}

// checkTable returns an error, with the nearest name, for a table of a flag that no sample had.
func checkTable(ctx context.Context, db *store.Store, flag string, table sample.Target) error {
	known, err := db.Tables(ctx)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(known, report.Request{Tables: []string{table.Name()}}.Covers) {
		return nil
	}
	if len(known) == 0 {
		return cli.Wrong(fmt.Errorf("%s: the database has no table yet: no sample was counted", flag))
	}
	return cli.Wrong(fmt.Errorf("%s: the database has no table %q%s", flag, table.Name(), options.Suggest(table.Table, tableNames(known))))
}

// warnOfTables logs the tables that the settings name and no sample had, each with the nearest
// name. A table may be named before its first sample: so it is no error, and before the first
// sample of all there is no warning.
func (c *Config) warnOfTables(ctx context.Context, db *store.Store, log *slog.Logger) {
	known, err := db.Tables(ctx)
	if err != nil || len(known) == 0 {
		return // the judge reports a database that fails
	}
	for setting, names := range c.namedTables() {
		for _, name := range names {
			table, err := tables.ParseName(name)
			if err != nil || slices.ContainsFunc(known, report.Request{Tables: []string{table.Name()}}.Covers) {
				continue // Check has rejected names that are none
			}
			log.Warn("no sample has a table that the settings name", "setting", setting, "table", name, "nearest", options.Nearest(table.Table, tableNames(known)))
		}
	}
}

// namedTables returns the tables that the settings name, by the setting.
func (c *Config) namedTables() map[string][]string {
	all := map[string][]string{"tables": slices.Sorted(maps.Keys(c.Tables))}
	for name, r := range c.Reports {
		all["reports."+name+".tables"] = r.Tables
	}
	for i, r := range c.Routes {
		if r.Table != "" && !strings.ContainsAny(r.Table, `*?[\`) { // a pattern
			all[fmt.Sprintf("routes[%d].table", i)] = []string{r.Table}
		}
	}
	return all
}

// tableNames returns the names of tables, each once.
func tableNames(all []sample.Target) []string {
	names := make([]string, len(all))
	for i, of := range all {
		names[i] = of.Table
	}
	return slices.Compact(names)
}

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
