package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"strings"

	"github.com/spf13/cobra"

	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/store"
)

type configuredStore struct {
	config *Config
	load   func() error
}

// addStore adds the flags of the reporter's configuration to a command, and returns the
// store that they name.
func addStore(c *cobra.Command) configuredStore {
	config := defaults()
	return configuredStore{config, cli.Layers(c, config)}
}

func (s configuredStore) use(ctx context.Context, work func(*store.Store) error) error {
	if err := s.load(); err != nil {
		return err
	}
	return s.config.Store.Use(ctx, work)
}

// list makes a command that shows stored rows in the format of its flag; of one state, if they
// have states. It returns the configuration that the command reads.
func list(c *cobra.Command, states []string, state *string, limit *int,
	show func(ctx context.Context, db *store.Store, out io.Writer, f cli.Format) error,
) *Config {
	db := addStore(c)
	if states != nil {
		cli.Choice(c, state, "state", "", strings.Join(states, ", ")+"; all when empty", states...)
	}
	c.Flags().IntVar(limit, "limit", 50, "how many")
	format := cli.OutputFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return db.use(c.Context(), func(db *store.Store) error { return show(c.Context(), db, c.OutOrStdout(), *format) })
	}
	return db.config
}

// forEachID makes a command that acts on each of its arguments and prints done for it;
// missing is its text for an ID that the store lacks.
func forEachID(c *cobra.Command, done, missing string, do func(ctx context.Context, db *store.Store, id string) error) *cobra.Command {
	db := addStore(c)
	c.Args = cobra.MinimumNArgs(1)
	c.RunE = func(c *cobra.Command, ids []string) error {
		return db.use(c.Context(), func(db *store.Store) error {
			for _, id := range ids {
				err := do(c.Context(), db, id)
				if errors.Is(err, store.ErrNotFound) {
					return fmt.Errorf(missing, id)
				}
				if err != nil {
					return err
				}
				fmt.Fprintf(c.OutOrStdout(), "%s is %s\n", id, done)
			}
			return nil
		})
	}
	return c
}

// operatorName names who runs this, for the audit.
func operatorName() string {
	name := "unknown"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	if host, err := os.Hostname(); err == nil {
		name += "@" + host
	}
	return strings.TrimSpace(name)
}
