package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/cli/terminal"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/internal/settings/tables"
	"github.com/keyheat/keyheat/internal/web/partitions"
	"github.com/keyheat/keyheat/store"
)

// showPartitions prints a table's partitions with what each carries.
func showPartitions(settings storeSettings) *cobra.Command {
	c := &cobra.Command{
		Use:   "partitions TABLE",
		Short: "Print a table's partitions, and what each carries",
		Long: "Prints the partitions of a table whose stream a collector reads, with the load of the newest\n" +
			"stored minute. TABLE is NAME, REGION/NAME or ACCOUNT/REGION/NAME. Partitions are inferred: AWS\n" +
			"shows neither their number nor their ranges.",
		Example: "  reporter partitions --config reporter.yaml orders",
		Args:    cobra.ExactArgs(1),
	}
	db, load := settings(c)
	format := cli.OutputFlag(c)
	c.RunE = func(c *cobra.Command, names []string) error {
		if err := load(); err != nil {
			return err
		}
		at, err := tables.ParseName(names[0])
		if err != nil {
			return cli.Wrong(err)
		}
		return db.Use(c.Context(), func(db *store.Store) error {
			if err := checkTable(c.Context(), db, "TABLE", at); err != nil {
				return err
			}
			t, err := partitions.Load(c.Context(), db, at, time.Now())
			if errors.Is(err, partitions.ErrNoMap) {
				return cli.Wrong(fmt.Errorf("%s: %w", at.Name(), err))
			}
			if err != nil {
				return err
			}
			out := c.OutOrStdout()
			if *format == cli.JSON {
				return cli.WriteJSON(out, t)
			}
			if verdict := say.FullestPartition(t.State, t.Partitions); verdict != "" {
				_, _ = fmt.Fprintln(out, verdict)
			}
			_, _ = fmt.Fprintln(out, say.Partitions(&t.View))
			if err := cli.WriteList(out, t.Partitions, *format, "partitions", partitionColumns, func(p detect.PartitionLoad) []string { return partitionCells(t, &p) }); err != nil {
				return err
			}
			for i := range t.Splits {
				_, _ = fmt.Fprintf(out, "%s UTC: %s\n", t.Splits[i].At.UTC().Format(time.DateTime), say.DescribeSplit(&t.Splits[i]))
			}
			return nil
		})
	}
	return c
}

var partitionColumns = []terminal.Column{
	{Name: "partition", Least: 13}, {Name: "WCU/s", Right: true}, {Name: "RCU/s", Right: true}, {Name: "of limit", Right: true},
	{Name: "refused", Right: true, Spare: 1}, {Name: "busiest keys", Least: 20},
}

func partitionCells(t *partitions.Table, p *detect.PartitionLoad) []string {
	name := say.PartitionName(t.State, &p.PartitionRange)
	if t.From == nil {
		return []string{name, "", "", "", "", ""}
	}
	return []string{
		name, wording.About(p.WCU.Value), wording.About(p.RCU.Value), wording.Part(p.Utilization()),
		wording.About(p.RefusedWCU + p.RefusedRCU), say.BusyKeys(p.Busiest),
	}
}
