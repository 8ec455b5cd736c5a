package main

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/keypolicy"
	"github.com/keyheat/keyheat/internal/settings/config"
	"github.com/keyheat/keyheat/internal/settings/tables"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// hiding returns a function that hides keys by the policies of tables; nil if all keys
// are plain.
func hiding(section *tables.Section, secretFile string) (func(*sample.Record), error) {
	secret, err := hashing(section, secretFile)
	if err != nil {
		return nil, err
	}
	hider := section.Hider(secret)
	if hider == nil {
		return nil, nil
	}
	return hider().Hide, nil
}

// hashing returns the secret of hashed keys in a file, where it is one.
func hashing(section *tables.Section, file string) (tables.Hashing, error) {
	var secret tables.Hashing
	if file != "" {
		text, err := config.ReadSecret(file)
		if err != nil {
			return secret, cli.Wrong(fmt.Errorf("--keys-secret-file: %w", err))
		}
		secret.Secret = config.Secret(text)
	}
	if err := section.ValidateHiding(secret); err != nil {
		return secret, cli.Wrong(fmt.Errorf("--keys-secret-file: %w", err))
	}
	return secret, nil
}

func keysCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "keys",
		Short: "Find the hash of a hidden key, or remove a key from the database",
		Example: "  reporter keys hash user#42 --table orders --config reporter.yaml --keys-secret-file keys.secret\n" +
			"  reporter keys purge user#42 --table orders --config reporter.yaml",
	}
	c.AddCommand(keysHashCommand(), keysPurgeCommand())
	return c
}

type keyFlags struct {
	config                  *Config
	load                    func() error
	table, kind, secretFile *string
}

func newKeyFlags(c *cobra.Command) keyFlags {
	settings := defaults()
	f := keyFlags{config: settings, load: cli.Layers(c, settings)}
	f.table = c.Flags().String("table", "", "the key's table, as `NAME`, REGION/NAME or ACCOUNT/REGION/NAME")
	f.kind = c.Flags().String("type", sample.TypeString, "the `type` of the key's attribute: S, N or B (base64)")
	f.secretFile = c.Flags().String("keys-secret-file", "", "the `file` with the collectors' secret of hashed keys")
	_ = c.MarkFlagRequired("table")
	return f
}

// storedKeys returns the table, the key, and its stored forms, found by hashes.
func (f keyFlags) storedKeys(value string, hashes func(*keypolicy.Hider, sample.Target, sample.Key) []sample.Key) (table sample.Target, key sample.Key, stored []sample.Key, err error) {
	if err := f.load(); err != nil {
		return table, key, nil, err
	}
	if table, err = tables.ParseName(*f.table); err != nil {
		return table, key, nil, cli.Wrong(fmt.Errorf("--table: %w", err))
	}
	if key, err = keyOf(*f.kind, value); err != nil {
		return table, key, nil, cli.Wrong(fmt.Errorf("--type %s: %w", *f.kind, err))
	}
	secret, err := hashing(&f.config.Section, *f.secretFile)
	if err != nil {
		return table, key, nil, err
	}
	hider := f.config.Hider(secret)
	if hider == nil {
		return table, key, []sample.Key{key}, nil
	}
	for _, of := range f.config.Tables.NamedTargets(table) {
		stored = append(stored, hashes(hider(), of, key)...)
	}
	return table, key, stored, nil
}

func keyOf(kind, value string) (sample.Key, error) {
	switch kind {
	case sample.TypeString:
		return sample.KeyString(value), nil
	case sample.TypeNumber:
		return sample.KeyNumber(value)
	case sample.TypeBinary:
		raw, err := base64.StdEncoding.DecodeString(value)
		return sample.KeyBinary(raw), err
	}
	return sample.Key{}, errors.New("give S, N or B")
}

func keysHashCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "hash VALUE",
		Short: "Print the hash of a key",
		Long: "Prints the key as findings, pages and the database show it: one line for each secret in\n" +
			"the file, and another line if a date in the key is readable in requests of that day.\n" +
			"A key that no policy hides is printed unchanged. Nothing is stored.",
		Example: "  reporter keys hash user#42 --table orders --config reporter.yaml --keys-secret-file keys.secret",
		Args:    cobra.ExactArgs(1),
	}
	f := newKeyFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		table, _, keys, err := f.storedKeys(args[0], (*keypolicy.Hider).Hashes)
		if err != nil {
			return err
		}
		if err := f.config.checkTarget(c, table); err != nil {
			return err
		}
		for _, k := range keys {
			fmt.Fprintln(c.OutOrStdout(), k.Text)
		}
		return nil
	}
	return c
}

func keysPurgeCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "purge VALUE",
		Short: "Remove a key from the database",
		Long: "Deletes the findings about a key with their histories, incidents and notifications.\n" +
			"Removes the key, plain and hashed, from every other row that names it as a partition key,\n" +
			"sort key, caller or attribute. Values that contain the plain key go too: its key shards\n" +
			"(bob#SHARD_7), dated forms (bob#2026-11-23), and other keys (alice#bob). Hashed values that\n" +
			"contain it need a purge of their own. The audit records the purge without the key. If a\n" +
			"purge fails, run it again. A purge of a day of seconds may take minutes.\n" +
			"\n" +
			"No reporter judges meanwhile. At the end the database's files are written again without\n" +
			"deleted rows, which locks the tables and needs their owner, such as keyheat_migrator.\n" +
			"\n" +
			"A key in use comes back: first hide it by policy and restart the collectors. Sent messages,\n" +
			"report files, receivers' logs, backups and Postgres' write-ahead log keep the key.",
		Example: "  reporter keys purge user#42 --table orders --config reporter.yaml --dry-run",
		Args:    cobra.ExactArgs(1),
	}
	f := newKeyFlags(c)
	dry := c.Flags().Bool("dry-run", false, "change nothing, and print how many rows a purge would change")
	vacuum := c.Flags().Bool("vacuum", true, "write the database's files again without deleted rows")
	c.RunE = func(c *cobra.Command, args []string) error {
		table, plain, keys, err := f.storedKeys(args[0], (*keypolicy.Hider).Everywhere)
		if err != nil {
			return err
		}
		keys = append(keys, plain) // it may have been stored before a policy hid it
		purge := store.Purge{Table: table, Eraser: keypolicy.NewEraser(table, keys), Who: operatorName(), DryRun: *dry, Progress: func(of string, rows int) {
			if rows >= manyRows {
				fmt.Fprintf(c.ErrOrStderr(), "searching %d rows of %s\n", rows, of)
			}
		}}
		return f.config.Store.Use(c.Context(), func(db *store.Store) error {
			if err := checkTable(c.Context(), db, "--table", table); err != nil {
				return err
			}
			erased, err := db.PurgeKey(c.Context(), purge)
			if err != nil {
				return err
			}
			if err := writeErased(c.OutOrStdout(), *f.table, erased, *dry); err != nil || *dry || !*vacuum {
				return err
			}
			if err := db.Vacuum(c.Context()); err != nil {
				return fmt.Errorf("no row names the key any more, but deleted rows are left in the database's files: %w", err)
			}
			return nil
		})
	}
	return c
}

// manyRows is the number of rows from which a purge announces that it searches them.
const manyRows = 1000

func writeErased(out io.Writer, table string, e store.Erased, dry bool) (err error) {
	if e == (store.Erased{}) {
		_, err = fmt.Fprintf(out, "no row of %s names the key: it was purged before, or VALUE, --table or --type is misspelt\n", table)
		return err
	}
	deleted, removed := "deleted", "removed"
	if dry {
		deleted, removed = "a purge would delete", "remove"
	}
	_, err = fmt.Fprintf(out, "%s %d findings with their incidents and notifications; %s the key from %d seconds, %d roll-ups, %d deltas and %d documents\n",
		deleted, e.Findings, removed, e.Windows, e.Rollups, e.Deltas, e.Documents)
	return err
}
