package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/keyheat/keyheat/internal/settings/options"

	"github.com/spf13/cobra"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/cli/terminal"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/internal/web/status"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// incidents lists incidents as the first page does.
func incidents() *cobra.Command {
	c := &cobra.Command{
		Use:   "incidents",
		Short: "List incidents, the worst first",
		Long: "Lists the stored incidents: firing, then pending, then resolved; the most severe first,\n" +
			"and among equals the one that takes most of a partition.",
		Example: "  reporter incidents --store-url sqlite:keyheat.db\n" +
			"  reporter incidents --config reporter.yaml --table orders --since 24h --top 5\n" +
			"  reporter incidents --config reporter.yaml --state firing -o json",
		Args: cobra.NoArgs,
	}
	db := addStore(c)
	q := store.HeadQuery{}
	c.Flags().StringVar(&q.Table, "table", "", "the `name` of a table; all when empty")
	cli.Choice(c, &q.State, "state", "", "firing, pending or resolved; all when empty", incidentStates...)
	cli.Choice(c, &q.Severity, "severity", "", "critical or warning; all when empty", alertSeverities...)
	_ = c.RegisterFlagCompletionFunc("table", completeTables(db))
	c.Flags().StringVar(&q.Search, "search", "", "only incidents with this `text` in the table or a key")
	c.Flags().IntVar(&q.Limit, "top", 20, "how many incidents to list")
	var since options.DurationFlag
	c.Flags().Var(&since, "since", "only incidents seen in this `time` up to now, such as 7d; all when 0")
	format := cli.OutputFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := check(q, time.Duration(since)); err != nil {
			return cli.Wrong(err)
		}
		return db.use(c.Context(), func(db *store.Store) error {
			if q.Table != "" {
				if err := checkTable(c.Context(), db, "--table", sample.Target{Table: q.Table}); err != nil {
					return err
				}
			}
			if since > 0 {
				now, err := db.Now(c.Context())
				if err != nil {
					return err
				}
				q.Since = now.Add(-time.Duration(since))
			}
			heads, err := db.IncidentHeads(c.Context(), q)
			if err != nil {
				return err
			}
			if err := warnOfSilence(c.Context(), db, c.ErrOrStderr()); err != nil {
				return err
			}
			out := c.OutOrStdout()
			colours := terminal.Is(out) && terminal.Colours()
			return cli.WriteList(out, heads, *format, "incidents", incidentColumns, func(i store.IncidentHead) []string { return incidentCells(&i, colours) })
		})
	}
	return c
}

// warnOfSilence writes why the present is unknown, if it is: a short list is then not calm.
func warnOfSilence(ctx context.Context, db *store.Store, to io.Writer) error {
	now, err := status.Load(ctx, db, nil)
	if err != nil {
		return err
	}
	text := now.NoSamples()
	switch {
	case now.LastSample().IsZero():
		text = "No samples yet"
	case !now.Silent.IsZero():
		text = "No collector has written since " + now.Silent.UTC().Format(cli.InSeconds) + " UTC"
	}
	if text != "" {
		_, err = fmt.Fprintln(to, text+": the load is unknown.")
	}
	return err
}

// The words of flags: the states of incidents, and the severities of which people are told.
var (
	incidentStates  = []string{string(detect.Firing), string(detect.Pending), string(detect.Resolved)}
	alertSeverities = []string{string(detect.Critical), string(detect.Warning)}
)

func check(q store.HeadQuery, since time.Duration) error {
	switch {
	case q.Limit <= 0:
		return fmt.Errorf("--top %d: give how many incidents to list", q.Limit)
	case since < 0:
		return fmt.Errorf("--since %s: give how long ago, such as 24h", since)
	}
	return nil
}

var incidentColumns = []terminal.Column{
	{Name: "severity"}, {Name: "state"}, {Name: "case", Spare: 2}, {Name: "key", Least: 16}, {Name: "table", Least: 10},
	{Name: "of limit", Right: true}, {Name: "opened", Spare: 3}, {Name: "last seen", Spare: 1}, {Name: "id", Spare: 4},
}

// incidentCells returns an incident's row. Resolved incidents have no colour.
func incidentCells(i *store.IncidentHead, colours bool) []string {
	severity, of := i.Severity, ""
	if colours && i.State == string(detect.Firing) {
		severity = terminal.Severity(severity)
	}
	if i.Utilization > 0 && !detect.Subject(i.Subject).OfTable() {
		of = fmt.Sprintf("%.0f%%", 100*i.Utilization)
	}
	return []string{
		severity, i.State, i.Case, wording.Printable(i.Key), wording.Printable(i.Name()), of,
		i.OpenedAt.UTC().Format(cli.InSeconds), i.LastSeen.UTC().Format(cli.InSeconds), i.ID,
	}
}
