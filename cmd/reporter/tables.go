package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/report"
	"github.com/keyheat/keyheat/internal/settings/config"
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
	return cli.Wrong(fmt.Errorf("%s: the database has no table %q%s", flag, table.Name(), config.Suggest(table.Table, tableNames(known))))
}

// tableNames returns the names of tables, each once.
func tableNames(all []sample.Target) []string {
	names := make([]string, len(all))
	for i, of := range all {
		names[i] = of.Table
	}
	return slices.Compact(names)
}
