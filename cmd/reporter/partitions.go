package main

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/spf13/cobra"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/aws/catalog"
	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/cli/terminal"
	"github.com/keyheat/keyheat/internal/partitions"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/internal/settings/tables"
	"github.com/keyheat/keyheat/store"
)

func showPartitions() *cobra.Command {
	c := &cobra.Command{
		Use:   "partitions TABLE",
		Short: "Print a table's partitions, and what each carries",
		Long: "Prints the partitions of a table whose stream a collector reads, with the load of the newest\n" +
			"stored minute. TABLE is NAME, REGION/NAME or ACCOUNT/REGION/NAME. Partitions are inferred: AWS\n" +
			"shows neither their number nor their ranges.",
		Example: "  reporter partitions --config reporter.yaml orders",
		Args:    cobra.ExactArgs(1),
	}
	c.AddCommand(checkPartitions())
	db := addStore(c)
	c.ValidArgsFunction = completeTables(db)
	format := cli.OutputFlag(c)
	c.RunE = func(c *cobra.Command, names []string) error {
		at, err := tables.ParseName(names[0])
		if err != nil {
			return cli.Wrong(err)
		}
		return db.use(c.Context(), func(db *store.Store) error {
			if err := checkTable(c.Context(), db, "TABLE", at); err != nil {
				return err
			}
			t, err := partitions.Load(c.Context(), db, at, time.Now(), nil)
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
			if t.Walk != nil {
				_, _ = fmt.Fprintln(out, say.Walk(t.Walk))
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

// checkPartitions asks DynamoDB whether a table's keys lie where they are computed.
func checkPartitions() *cobra.Command {
	c := &cobra.Command{
		Use:   "check TABLE",
		Short: "Check by three Scans where DynamoDB places a table's keys",
		Long: "Checks the hash behind the map of a table's partitions. It asks for one item of three\n" +
			"of 4,096 Scan segments, from made-up keys, and writes nothing. It costs 3 Scans, about 1.5\n" +
			"read units for items up to 4 KB, and needs dynamodb:DescribeTable and dynamodb:Scan. The\n" +
			"check confirms where keys lie, not the ranges of partitions. TABLE is NAME or REGION/NAME.",
		Example: "  reporter partitions check orders",
		Args:    cobra.ExactArgs(1),
	}
	format := cli.OutputFlag(c)
	c.RunE = func(c *cobra.Command, names []string) error {
		at, err := tables.ParseName(names[0])
		if err != nil {
			return cli.Wrong(err)
		}
		settings, err := cli.AWSWithCredentials(c.Context())
		if err != nil {
			return err
		}
		settings.Region = cmp.Or(at.Region, settings.Region)
		r, err := catalog.CheckPlacement(c.Context(), dynamodb.NewFromConfig(settings), at.Table)
		if err != nil {
			return fmt.Errorf("%s in %s: %w", at.Table, settings.Region, err)
		}
		if *format == cli.JSON {
			return cli.WriteJSON(c.OutOrStdout(), r)
		}
		_, _ = fmt.Fprintf(c.OutOrStdout(), "%s: %s It took %d Scans and %g read units.\n", wording.Printable(at.Table), verdicts[r.Verdict], r.Scans, r.RCU)
		return nil
	}
	return c
}

var verdicts = map[catalog.Placement]string{
	catalog.Confirmed: "confirmed. DynamoDB places keys where Keyheat computes them.",
	catalog.Refuted:   "refuted. DynamoDB places keys elsewhere: do not believe the ranges of partitions.",
	catalog.Unclear:   "unclear. The answers contradict each other.",
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
