package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/cli/terminal"
	"github.com/keyheat/keyheat/internal/incident/silence"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/store"
)

func silences() *cobra.Command {
	c := &cobra.Command{
		Use:   "silences",
		Short: "Silence incidents for a while, and list silences",
		Example: "  reporter silences add --store-url sqlite:keyheat.db --table orders --severity warning --for 2h --reason \"load test\"\n" +
			"  reporter silences list --store-url sqlite:keyheat.db\n  reporter silences expire --store-url sqlite:keyheat.db ID",
	}
	c.AddCommand(addSilence(), listSilences(), expireSilences())
	return c
}

func addSilence() *cobra.Command {
	c := &cobra.Command{
		Use:   "add",
		Short: "Silence the incidents that match, and print the silence's ID",
		Long: "Holds back notifications about incidents that match every matcher. An incident that still\n" +
			"fires when the silence ends is sent then. A matcher has =, !=, =~ or !~; see docs/ALERTING.md.",
		Example: "  reporter silences add --table orders --severity warning --for 2h --reason \"load test\"\n" +
			"  reporter silences add --match 'table=~\"audit-.*\"' --match 'labels.tier!=1' --for 1h",
		Args: cobra.NoArgs,
	}
	db := addStore(c)
	values := make(map[string]*string)
	for _, name := range silence.Names() {
		values[name] = c.Flags().String(name, "", "match incidents by "+name)
	}
	cli.CompleteValues(c, "severity", alertSeverities...)
	_ = c.RegisterFlagCompletionFunc("table", completeTables(db))
	var r silence.Request
	c.Flags().StringArrayVar(&r.Matchers, "match", nil, "another `matcher`, such as table=~\"orders-.*\"; repeatable")
	c.Flags().StringVar(&r.StartsAt, "start", "", "the `time` at which it begins, or how long from now; now when empty")
	c.Flags().StringVar(&r.EndsAt, "end", "", "the `time` at which it ends")
	c.Flags().StringVar(&r.For, "for", "", "how `long` it lasts, such as 30m, instead of --end")
	c.Flags().StringVar(&r.Reason, "reason", "", "the reason, for the audit")
	c.RunE = func(c *cobra.Command, _ []string) error {
		for _, name := range silence.Names() {
			if *values[name] != "" {
				r.Matchers = append(r.Matchers, silence.Matcher{Name: name, Op: "=", Value: *values[name]}.String())
			}
		}
		return db.use(c.Context(), func(db *store.Store) error {
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

func listSilences() *cobra.Command {
	c := &cobra.Command{
		Use: "list", Short: "List silences, the last to end first", Args: cobra.NoArgs,
		Example: "  reporter silences list --store-url sqlite:keyheat.db --state active",
	}
	columns := []terminal.Column{
		{Name: "state"}, {Name: "starts", Spare: 2}, {Name: "ends"}, {Name: "author", Spare: 1}, {Name: "id"},
		{Name: "matchers", Least: 20}, {Name: "reason", Least: 10, Spare: 3},
	}
	var q store.SilenceQuery
	list(c, silence.States(), &q.State, &q.Limit, func(ctx context.Context, db *store.Store, out io.Writer, f cli.Format) error {
		all, err := db.Silences(ctx, q)
		if err != nil {
			return err
		}
		return cli.WriteList(out, all, f, "silences", columns, func(s store.Silence) []string {
			return []string{
				s.State, s.StartsAt.UTC().Format(cli.InSeconds), s.EndsAt.UTC().Format(cli.InSeconds),
				wording.Printable(s.Author), s.ID, wording.Printable(strings.Join(s.Matchers, ", ")), wording.Printable(s.Reason),
			}
		})
	})
	return c
}

func expireSilences() *cobra.Command {
	c := &cobra.Command{Use: "expire ID...", Short: "End silences now", Example: "  reporter silences expire --store-url sqlite:keyheat.db 7K3P…"}
	return forEachID(c, "expired", "no silence %q is pending or active: reporter silences list shows them",
		func(ctx context.Context, db *store.Store, id string) error {
			return db.ExpireSilence(ctx, id, operatorName())
		})
}
