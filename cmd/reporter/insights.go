package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/keyheat/keyheat/internal/analyze"
	"github.com/keyheat/keyheat/internal/analyze/contributorinsights"
	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/sample"
)

// insightsLast is the time that is judged unless another one is given.
const insightsLast = 3 * time.Hour

// insightsFlags say whose Contributor Insights analyze reads.
type insightsFlags struct{ table, index *string }

func newInsightsFlags(c *cobra.Command) *insightsFlags {
	return &insightsFlags{
		table: c.Flags().String("contributor-insights", "", "judge keys by CloudWatch Contributor Insights of this `table` instead of files"),
		index: c.Flags().String("index", "", "with --contributor-insights: the `name` of a global index, instead of the table"),
	}
}

func (f *insightsFlags) run(c *cobra.Command, files []string, o analyze.Options) error {
	if *f.table == "" {
		return cli.Wrong(errors.New("--index: name its table with --contributor-insights"))
	}
	for _, name := range []string{"stream", "follow", "requests", "map", "map-file", "time-unit", "time-layout", "table", "candidate", "explain", "verbose", "code", "what-if", "headroom"} {
		if c.Flags().Changed(name) {
			more := ""
			if name == "explain" || name == "verbose" || name == "code" || name == "what-if" {
				more = fmt.Sprintf(": give it with --stream %s, or with files of samples", *f.table)
			}
			return cli.Wrong(fmt.Errorf("--%s needs single requests, which --contributor-insights does not have%s", name, more))
		}
	}
	of := contributorinsights.Source{Table: *f.table, Index: *f.index, Last: insightsLast}
	if c.Flags().Changed("last") {
		of.Last, _ = c.Flags().GetDuration("last") // the flag is defined, and a duration
	}
	switch {
	case len(files) > 0:
		return cli.Wrong(fmt.Errorf("--contributor-insights %s is read instead of files: remove %s", *f.table, files[0]))
	case !sample.IsName(of.Table) || !sample.IsName(of.Index):
		return cli.Wrong(fmt.Errorf("--contributor-insights %.300q --index %.300q: the name of a table or index has %s", of.Table, of.Index, sample.NameRule))
	case of.Last < time.Minute || of.Last > contributorinsights.Longest:
		return cli.Wrong(errors.New("--last: a report of Contributor Insights covers 24 hours at most: give 1m to 24h"))
	case !slices.Contains(contributorinsights.Formats(), o.Format):
		return cli.Wrong(fmt.Errorf("--output %s: with --contributor-insights give one of %s", o.Format, strings.Join(wording.Names(contributorinsights.Formats()), ", ")))
	}
	settings, err := cli.AWSWithCredentials(c.Context())
	if err != nil {
		return err
	}
	return contributorinsights.Run(c.Context(), settings, of, o)
}
