package main

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/keyheat/keyheat/cmd/reporter/internal/operate"
	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/config"
	"github.com/keyheat/keyheat/internal/erase"
	"github.com/keyheat/keyheat/internal/keypolicy"
	"github.com/keyheat/keyheat/internal/tables"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// hiding returns what hides keys as the policies of tables say; nil where all are plain.
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
		Short: "Find the hash of a key that a policy hides, or remove a key from the store",
		Example: "  reporter keys hash user#42 --table orders --config reporter.yaml --keys-secret-file keys.secret\n" +
			"  reporter keys purge user#42 --table orders --config reporter.yaml",
	}
	c.AddCommand(keysHashCommand(), keysPurgeCommand())
	return c
}

// keyFlags are those that say which key is meant.
type keyFlags struct {
	config                  *Config
	load                    func() error
	table, kind, secretFile *string
}

func newKeyFlags(c *cobra.Command) keyFlags {
	settings := defaults()
	f := keyFlags{config: settings, load: cli.Layers(c, settings)}
	f.table = c.Flags().String("table", "", "whose key it is, as `NAME`, REGION/NAME or ACCOUNT/REGION/NAME")
	f.kind = c.Flags().String("type", sample.TypeString, "the `type` of the key's attribute: S, N or B (base64)")
	f.secretFile = c.Flags().String("keys-secret-file", "", "the `file` with the secret of hashed keys that the collectors have")
	_ = c.MarkFlagRequired("table")
	return f
}

// stored returns the table, and how the key stands in what is stored of it.
func (f keyFlags) stored(value string) (sample.Target, []sample.Key, error) {
	var none sample.Target
	if err := f.load(); err != nil {
		return none, nil, err
	}
	table, err := tables.ParseName(*f.table)
	if err != nil {
		return none, nil, cli.Wrong(fmt.Errorf("--table: %w", err))
	}
	key, err := keyOf(*f.kind, value)
	if err != nil {
		return none, nil, cli.Wrong(fmt.Errorf("--type %s: %w", *f.kind, err))
	}
	secret, err := hashing(&f.config.Section, *f.secretFile)
	if err != nil {
		return none, nil, err
	}
	hider := f.config.Hider(secret)
	if hider == nil {
		return table, []sample.Key{key}, nil
	}
	var keys []sample.Key
	for _, of := range f.config.Tables.Named(table) {
		hashes, wrong := hider().Hashes(of, key)
		err = cmp.Or(err, wrong)
		keys = append(keys, hashes...)
	}
	if len(keys) > 0 {
		err = nil // where others keep nothing
	}
	return table, keys, cli.Wrong(err)
}

// keyOf reads a key as an operator writes it.
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
		Short: "Print how a key stands in what was collected",
		Long: "Prints the key as findings, pages and the database have it: once for each secret of\n" +
			"the file, and again where a date in it is readable in requests of that day.\n" +
			"A key that no policy hides is printed as it is. Nothing is stored.",
		Example: "  reporter keys hash user#42 --table orders --config reporter.yaml --keys-secret-file keys.secret",
		Args:    cobra.ExactArgs(1),
	}
	f := newKeyFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		_, keys, err := f.stored(args[0])
		if err != nil {
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
		Long: "Deletes the findings about a key with their histories, the incidents that stand for\n" +
			"them, its notifications and hourly peaks, and takes the key out of everything else\n" +
			"that names it, plain and hashed: one transaction, and an entry of the audit without\n" +
			"the key. The judge starts over from what is left.\n\n" +
			"A key that is still used comes back: hide it by policy first, and restart the\n" +
			"collectors. What was sent, written to folders, logged by receivers or is in backups\n" +
			"is not reached.",
		Example: "  reporter keys purge user#42 --table orders --config reporter.yaml",
		Args:    cobra.ExactArgs(1),
	}
	f := newKeyFlags(c)
	c.RunE = func(c *cobra.Command, args []string) (err error) {
		table, keys, err := f.stored(args[0])
		if err != nil && !errors.Is(err, keypolicy.ErrNothingKept) {
			return err
		}
		// It may have been stored before a policy hid it.
		if plain, err := keyOf(*f.kind, args[0]); err == nil && !slices.Contains(keys, plain) {
			keys = append(keys, plain)
		}
		var erased store.Erased
		err = f.config.Store.With(c.Context(), func(db *store.Store) error {
			erased, err = db.PurgeKey(c.Context(), store.Purge{Table: table, Keys: keys, Eraser: erase.Key(keys), Who: operate.Operator()})
			return err
		})
		if err != nil {
			return err
		}
		if erased == (store.Erased{}) {
			_, err = fmt.Fprintf(c.OutOrStdout(), "nothing of %s names the key\n", *f.table)
			return err
		}
		_, err = fmt.Fprintf(c.OutOrStdout(), "deleted %d findings, %d incidents, %d notifications and %d hourly peaks; taken out of %d seconds, %d deltas and %d documents\n",
			erased.Findings, erased.Incidents, erased.Notifications, erased.Peaks, erased.Windows, erased.Deltas, erased.Documents)
		return err
	}
	return c
}
