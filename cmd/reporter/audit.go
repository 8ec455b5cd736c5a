package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/cli/terminal"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/store"
)

func auditCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "audit", Short: "List what people changed by hand, the newest first", Args: cobra.NoArgs,
		Long: "Lists who added and expired silences, and who purged keys. No entry has a key.",
		Example: "  reporter audit --store-url sqlite:keyheat.db\n" +
			"  reporter audit --config reporter.yaml --limit 1000 -o json",
	}
	columns := []terminal.Column{
		{Name: "at"}, {Name: "who", Spare: 1}, {Name: "action"}, {Name: "about", Least: 10}, {Name: "detail", Least: 20, Spare: 2},
	}
	var most int
	list(c, nil, nil, &most, func(ctx context.Context, db *store.Store, out io.Writer, f cli.Format) error {
		all, err := db.Audit(ctx, most)
		if err != nil {
			return err
		}
		return cli.WriteList(out, all, f, "entries", columns, func(e store.AuditEntry) []string {
			return []string{e.At.UTC().Format(cli.InSeconds), wording.Printable(e.Who), e.Action, wording.Printable(e.About), wording.Printable(e.Detail)}
		})
	})
	return c
}
