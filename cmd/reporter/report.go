package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/keyheat/keyheat/internal/settings/options"

	"github.com/spf13/cobra"

	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/report"
	"github.com/keyheat/keyheat/internal/report/schedule"
	"github.com/keyheat/keyheat/store"
)

func reportCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "report",
		Short: "Write a report of a period: keys that got hot",
		Long: "Writes a report from the stored data: keys that got hot, each with its first fix, and\n" +
			"gaps. It changes nothing. The section reports of the configuration makes reports on a\n" +
			"schedule.",
		Example: "  reporter report --config reporter.yaml -o html --out week.html --from 7d\n" +
			"  reporter report --store-url sqlite:keyheat.db --from 2026-11-16 --to 2026-11-23 --time-zone Europe/Berlin\n" +
			"  reporter report --store-url sqlite:keyheat.db --tables orders,eu-west-1/users -o json",
		Args: cobra.NoArgs,
	}
	config := defaults()
	from := c.Flags().String("from", "24h", "the `beginning`: a date, a time such as 2026-11-21T08:00:00Z, or how long before the end, such as 24h")
	to := c.Flags().String("to", "", "the `end`, exclusive: a date, a time, or how long ago; now when empty")
	zone := c.Flags().String("time-zone", "UTC", "the IANA `zone` of the dates and times")
	only := c.Flags().StringSlice("tables", nil, "the `names` of tables, as NAME, REGION/NAME or ACCOUNT/REGION/NAME; all when empty")
	format := report.Markdown
	cli.Choice(c, &format, "output", "o", "print as a `format`: "+strings.Join(report.FormatNames(), ", "), report.Formats()...)
	out := c.Flags().String("out", "", "the `file` to write, whole or not at all; standard output when empty")
	return cli.WithConfig(c, config, func(c *cobra.Command) error {
		location, err := time.LoadLocation(*zone)
		if err != nil || *zone == "Local" {
			return cli.Wrong(fmt.Errorf("--time-zone %q: give a name such as Europe/Berlin", *zone))
		}
		summary, err := reportNow(c.Context(), config.Store, *only, func(now time.Time) (report.Request, error) {
			q := report.Request{Zone: *zone, Tables: *only, To: now}
			if *to != "" {
				if q.To, err = moment("--to", *to, now, location); err != nil {
					return q, err
				}
			}
			if q.From, err = moment("--from", *from, q.To, location); err != nil {
				return q, err
			}
			if !q.From.Before(q.To) || q.From.After(now) {
				return q, cli.Wrong(fmt.Errorf("--from %s: it is not before the end %s, or not in the past", q.From.Format(time.RFC3339), q.To.Format(time.RFC3339)))
			}
			return q, nil
		})
		if err != nil {
			return err
		}
		return writeReport(c.OutOrStdout(), summary, format, *out)
	})
}

// reportNow makes a report about tables, or about all, of the period that is asked for at the
// store's time.
func reportNow(ctx context.Context, from cli.Store, tables []string, ask func(now time.Time) (report.Request, error)) (summary *report.Report, err error) {
	err = from.Use(ctx, func(db *store.Store) error {
		if err := checkTables(ctx, db, "--tables", tables); err != nil {
			return err
		}
		now, err := db.Now(ctx)
		if err != nil {
			return err
		}
		q, err := ask(now)
		if err != nil {
			return err
		}
		rows, err := report.Load(ctx, db, q)
		if err != nil {
			return fmt.Errorf("make the report: %w", err)
		}
		summary, err = report.New(rows)
		return err
	})
	return summary, err
}

func writeReport(out io.Writer, p *report.Report, f report.Format, path string) error {
	if path == "" {
		return p.Write(out, f)
	}
	return schedule.WriteFile(path, p, f)
}

// moment reads a time, a date in a zone, or how long it is before another time.
func moment(flag, text string, before time.Time, zone *time.Location) (time.Time, error) {
	if d, err := options.ParseDuration(text); err == nil && d >= 0 {
		return before.Add(-d), nil
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, nil
	}
	for _, form := range []string{time.DateOnly, "2006-01-02T15:04", "2006-01-02 15:04"} {
		if t, err := time.ParseInLocation(form, text, zone); err == nil {
			return t, nil
		}
	}
	return time.Time{}, cli.Wrong(fmt.Errorf("%s %q: give a date such as 2026-11-21, a time such as 2026-11-21T08:00:00Z, or how long before, such as 24h", flag, text))
}
