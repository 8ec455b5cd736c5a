package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/keyheat/keyheat/detect/wording"
	"github.com/keyheat/keyheat/internal/alert/routing"
	"github.com/keyheat/keyheat/internal/alert/silence"
	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/cli/terminal"
	"github.com/keyheat/keyheat/store"
)

// silences adds, lists and ends silences.
func silences(settings storeSettings) *cobra.Command {
	c := &cobra.Command{
		Use:   "silences",
		Short: "Keep incidents from being told of for a while, and see which are",
		Example: "  reporter silences add --store-url sqlite:keyheat.db --table orders --severity warning --for 2h --reason \"load test\"\n" +
			"  reporter silences list --store-url sqlite:keyheat.db\n  reporter silences expire --store-url sqlite:keyheat.db ID",
	}
	c.AddCommand(addSilence(settings), listSilences(settings), expireSilences(settings))
	return c
}

func addSilence(settings storeSettings) *cobra.Command {
	c := &cobra.Command{
		Use:   "add",
		Short: "Silence the incidents that all matchers choose, and print the silence's ID",
		Long: "While a silence lasts, nobody is told that an incident which all of its matchers\n" +
			"choose fires or gets worse. What still fires when the silence is over is told of then.\n\n" +
			"Times are in RFC 3339, such as 2026-11-22T18:00:00Z. A matcher is NAME=VALUE; with !=\n" +
			"for any other value, and =~ or !~ for a regular expression of all of the text. Names are\n" +
			"those of the flags, and labels.NAME.",
		Example: "  reporter silences add --config reporter.yaml --table orders --severity warning --for 2h --reason \"load test\"\n" +
			"  reporter silences add --config reporter.yaml --match 'table=~\"audit-.*\"' --match 'labels.tier!=1' --start 30m --for 1h --reason \"migration\"",
		Args: cobra.NoArgs,
	}
	db, load := settings(c)
	values := make(map[string]*string)
	for _, name := range routing.Names() {
		values[name] = c.Flags().String(name, "", "the "+name+" of the incidents; any when empty")
	}
	var r silence.Request
	c.Flags().StringArrayVar(&r.Matchers, "match", nil, "another `matcher`, such as table=~\"orders-.*\"; may be repeated")
	c.Flags().StringVar(&r.StartsAt, "start", "", "when it begins, as a `time` or as how long from now; now when empty")
	c.Flags().StringVar(&r.EndsAt, "end", "", "the `time` at which it ends")
	c.Flags().StringVar(&r.For, "for", "", "how `long` it lasts, such as 30m or 2h, instead of --end")
	c.Flags().StringVar(&r.Reason, "reason", "", "why")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := load(); err != nil {
			return err
		}
		for _, name := range routing.Names() {
			if *values[name] != "" {
				r.Matchers = append(r.Matchers, routing.Matcher{Name: name, Op: "=", Value: *values[name]}.String())
			}
		}
		return db.Use(c.Context(), func(db *store.Store) error {
			s, err := silence.Add(c.Context(), db, r, operatorName())
			if wrong, is := errors.AsType[silence.Invalid](err); is {
				return cli.Wrong(wrong)
			}
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "%s silences %s until %s\n", s.ID, strings.Join(s.Matchers, ", "), s.EndsAt.UTC().Format(time.RFC3339))
			return err
		})
	}
	return c
}

func listSilences(settings storeSettings) *cobra.Command {
	c := &cobra.Command{
		Use: "list", Short: "List silences, those that end last first", Args: cobra.NoArgs,
		Example: "  reporter silences list --store-url sqlite:keyheat.db --state active",
	}
	columns := []terminal.Column{
		{Name: "state"}, {Name: "starts", Spare: 2}, {Name: "ends"}, {Name: "author", Spare: 1}, {Name: "id"},
		{Name: "matchers", Least: 20}, {Name: "reason", Least: 10, Spare: 3},
	}
	var q store.SilenceQuery
	list(c, settings, silence.States(), &q.State, &q.Limit, func(ctx context.Context, db *store.Store, out io.Writer, f cli.Format) error {
		all, err := silence.List(ctx, db, q)
		if err != nil {
			return err
		}
		return cli.WriteList(out, all, f, "silences", columns, func(s silence.Silence) []string {
			return []string{
				s.State, s.StartsAt.UTC().Format(cli.InSeconds), s.EndsAt.UTC().Format(cli.InSeconds),
				wording.Printable(s.Author), s.ID, wording.Printable(strings.Join(s.Matchers, ", ")), wording.Printable(s.Reason),
			}
		})
	})
	return c
}

func expireSilences(settings storeSettings) *cobra.Command {
	c := &cobra.Command{Use: "expire ID...", Short: "End silences now", Example: "  reporter silences expire --store-url sqlite:keyheat.db 7K3P…"}
	return forEachID(c, settings, "expired", "no silence %q is pending or active: reporter silences list shows them",
		func(ctx context.Context, db *store.Store, id string) error {
			return db.ExpireSilence(ctx, id, operatorName())
		})
}
