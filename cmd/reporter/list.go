package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/keyheat/keyheat/detect/wording"
	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/store"
)

// inSeconds is how lists write times.
const inSeconds = "2006-01-02 15:04:05"

// writeList writes rows as JSON, or as a table with a head, a column for each of its
// words; what says what there is none of.
func writeList[T any](out io.Writer, rows []T, f cli.Format, what, head string, columns func(T) []string) error {
	if f == cli.JSON {
		text, err := wording.JSON(append([]T{}, rows...))
		if err != nil {
			return err
		}
		_, err = io.WriteString(out, text)
		return err
	}
	if len(rows) == 0 {
		_, err := fmt.Fprintln(out, "no "+what)
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, head)
	for _, row := range rows {
		fmt.Fprintln(w, strings.Join(columns(row), "\t"))
	}
	return w.Flush()
}

// forEachID has a command do something to each of what its arguments name, and say done
// of it; missing is what to say of one that the store does not have.
func forEachID(c *cobra.Command, done, missing string, do func(ctx context.Context, db *store.Store, id string) error) *cobra.Command {
	config := defaults()
	load := cli.Layers(c, config)
	c.Args = cobra.MinimumNArgs(1)
	c.RunE = func(c *cobra.Command, ids []string) error {
		if err := load(); err != nil {
			return err
		}
		return config.Store.With(c.Context(), func(db *store.Store) error {
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
