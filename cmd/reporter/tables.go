package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/settings/options"
	"github.com/keyheat/keyheat/internal/settings/tables"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// checkTables returns an error for a table of a flag that no sample had: a misspelt table
// would show a calm list. names are NAME, REGION/NAME or ACCOUNT/REGION/NAME.
func checkTables(ctx context.Context, db *store.Store, flag string, texts []string) error {
	for _, text := range texts {
		table, err := tables.ParseName(text)
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
	known, err := db.Targets(ctx)
	if err != nil {
		return err
	}
	if len(known) == 0 {
		return cli.Wrong(fmt.Errorf("%s: the database has no table yet: no sample was counted", flag))
	}
	if err := options.CheckNames(table, known); err != nil {
		return cli.Wrong(fmt.Errorf("%s: %w", flag, err))
	}
	return nil
}

// checkTarget returns an error, with the nearest name, for a table or index that neither a
// sample nor the settings had. A command that needs no database goes on without it, and
// warns that the names were not checked.
func (c *Config) checkTarget(cmd *cobra.Command, asked sample.Target) error {
	ctx, cancel := context.WithTimeout(cmd.Context(), nameTimeout)
	defer cancel()
	var known []sample.Target
	err := c.Store.Use(ctx, func(db *store.Store) (err error) {
		known, err = db.Targets(ctx)
		return err
	})
	if err != nil {
		_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "the names of the table and index were not checked: %v\n", err)
		return nil
	}
	if len(known) == 0 {
		return nil
	}
	for _, s := range c.Tables.Names() {
		of := s.Target
		of.Account, of.Region = cmp.Or(of.Account, asked.Account), cmp.Or(of.Region, asked.Region) // it is about all of them
		known = append(known, of)
	}
	if err := options.CheckNames(asked, known); err != nil {
		return cli.Wrong(fmt.Errorf("%w (if it is yet to come, name it under tables in the settings)", err))
	}
	return nil
}

func (c *Config) namedSettings() []options.NamedSetting {
	all := c.Tables.Names()
	for _, name := range slices.Sorted(maps.Keys(c.Reports)) {
		for _, table := range c.Reports[name].Tables {
			of, _ := tables.ParseName(table) // Check has rejected names that are none
			all = append(all, options.NamedSetting{Path: "reports." + name + ".tables", Target: of})
		}
	}
	for _, name := range c.receiverNames() {
		for _, table := range c.Receivers[name].Tables {
			all = append(all, options.NamedSetting{Path: "receivers." + name + ".tables", Target: sample.Target{Table: table}})
		}
	}
	for _, table := range c.CloudWatch.Tables {
		all = append(all, options.NamedSetting{Path: "cloudwatch.tables", Target: sample.Target{Table: table}, Optional: true})
	}
	return all
}

func tableNames(all []sample.Target) []string {
	names := make([]string, len(all))
	for i, of := range all {
		names[i] = of.Table
	}
	return slices.Compact(names)
}

// How long a shell, and a command that can do without, wait for the database: a person waits
// for both.
const (
	completionTimeout = 2 * time.Second
	nameTimeout       = 5 * time.Second
)

// completeTables lets a shell complete the names of the tables in the database; none if
// the database cannot be read.
func completeTables(db configuredStore) cobra.CompletionFunc {
	return func(c *cobra.Command, _ []string, _ string) (names []string, _ cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(c.Context(), completionTimeout)
		defer cancel()
		_ = db.use(ctx, func(db *store.Store) error {
			known, err := db.Targets(ctx)
			names = tableNames(known)
			return err
		})
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}
