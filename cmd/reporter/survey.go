package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/spf13/cobra"

	"github.com/keyheat/keyheat/internal/aws/cloudwatch"
	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/cli/terminal"
	"github.com/keyheat/keyheat/internal/say/wording"
)

func surveyCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "survey",
		Short: "List the tables of an account that hot partitions throttled, before any sample is taken",
		Long: "Asks CloudWatch which tables and indexes had requests refused by single partitions,\n" +
			"when, and how to look closer. It reads two weeks at most, needs the permission\n" +
			"cloudwatch:GetMetricData alone, and changes nothing. A Region or role that may not\n" +
			"be read is an error: it is not calm.",
		Example: "  reporter survey\n" +
			"  reporter survey --region eu-west-1,us-east-1 --role-arn arn:aws:iam::111122223333:role/read-metrics",
		Args: cobra.NoArgs,
	}
	regions := c.Flags().StringSlice("region", nil, "the `REGIONS` to ask, with commas; the SDK's own when empty")
	roles := c.Flags().StringSlice("role-arn", nil, "the `ROLES` to ask as, with commas, such as one for each account; the SDK's own when empty")
	last := c.Flags().Duration("last", cloudwatch.SurveyReach, "how much `time` up to now to look at, up to 336h")
	format := cli.OutputFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		for _, role := range *roles {
			if !strings.HasPrefix(role, "arn:") {
				return cli.Wrong(fmt.Errorf("--role-arn %.300q: give the ARN of a role, such as arn:aws:iam::111122223333:role/read-metrics", role))
			}
		}
		if *last < time.Hour || *last > cloudwatch.SurveyReach {
			return cli.Wrong(errors.New("--last: CloudWatch Metrics Insights reaches two weeks back: give 1h to 336h"))
		}
		var with []func(*awsconfig.LoadOptions) error
		if len(*regions) > 0 {
			with = append(with, awsconfig.WithRegion((*regions)[0]))
		}
		settings, err := cli.AWSWithCredentials(c.Context(), with...)
		if err != nil {
			return err
		}
		s := survey{settings: settings, to: time.Now().UTC().Truncate(time.Minute), out: c.OutOrStdout(), errs: c.ErrOrStderr()}
		s.from = s.to.Add(-*last)
		s.askAll(c.Context(), *roles, *regions)
		return s.write(*format)
	}
	return c
}

type survey struct {
	settings  aws.Config
	from, to  time.Time
	out, errs io.Writer

	refused     []cloudwatch.Surveyed
	tables      int
	asked, lost int
	cut         bool
}

// askAll asks each Region as each role, one after the other.
func (s *survey) askAll(ctx context.Context, roles, regions []string) {
	if len(roles) == 0 {
		roles = []string{""}
	}
	for i := range regions {
		regions[i] = strings.TrimSpace(regions[i])
	}
	if len(regions) == 0 {
		regions = []string{s.settings.Region}
	}
	for _, role := range roles {
		settings := s.settings
		if role != "" {
			settings.Credentials = aws.NewCredentialsCache(stscreds.NewAssumeRoleProvider(sts.NewFromConfig(s.settings), role))
		}
		for _, region := range regions {
			s.asked++
			found, err := cloudwatch.SurveyTables(ctx, regionClients(settings)(region), region, s.from, s.to)
			if err != nil {
				s.lost++
				fmt.Fprintf(s.errs, "not asked: %s: %s\n", strings.TrimSpace(region+" "+role), wording.Printable(err.Error()))
				continue
			}
			s.refused, s.tables, s.cut = append(s.refused, found.Refused...), s.tables+found.Tables, s.cut || found.Cut
		}
	}
}

func (s *survey) write(format cli.Format) error {
	if format == cli.JSON {
		if err := cli.WriteJSON(s.out, append([]cloudwatch.Surveyed{}, s.refused...)); err != nil {
			return err
		}
		return s.fail()
	}
	hot := slices.Collect(func(yield func(cloudwatch.Surveyed) bool) {
		for i := range s.refused {
			if s.refused[i].IsHot() && !yield(s.refused[i]) {
				return
			}
		}
	})
	if s.lost == s.asked {
		return s.fail()
	}
	if s.tables == 0 && len(s.refused) == 0 {
		return cmp.Or(s.fail(), fmt.Errorf("CloudWatch knows of no table with requests in the last %s: are these the right account and Regions?", wording.Span(s.to.Sub(s.from))))
	}
	fmt.Fprintln(s.out, s.sentence(hot))
	if len(hot) > 0 {
		fmt.Fprintln(s.out)
		if err := cli.WriteList(s.out, hot, format, "tables", surveyColumns, surveyCells); err != nil {
			return err
		}
		fmt.Fprintf(s.out, "\nWhich keys? Of the newest 24 hours, if the table has a stream or Contributor Insights:\n"+
			"  AWS_REGION=%[2]s reporter analyze --stream %[1]s\n  AWS_REGION=%[2]s reporter analyze --contributor-insights %[1]s --last 24h\nTo watch it from now on: reporter up, and samples of its requests.\n", hot[0].Table, hot[0].Region)
	}
	return s.fail()
}

// sentence is the answer.
func (s *survey) sentence(hot []cloudwatch.Surveyed) string {
	tables := wording.Plural(s.tables, "table", "tables")
	span := wording.Span(s.to.Sub(s.from))
	text := fmt.Sprintf("No partition refused a request to the %s that had requests in the last %s.", tables, span)
	if len(hot) > 0 {
		text = fmt.Sprintf("Single partitions refused requests to %s, of %s that had requests in the last %s.", wording.Plural(len(hot), "table or index", "tables and indexes"), tables, span)
	}
	if others := len(s.refused) - len(hot); others > 0 {
		text += fmt.Sprintf(" %s refused some for other reasons, such as too little capacity.", wording.Plural(others, "table or index", "tables and indexes"))
	}
	if s.cut {
		text += " CloudWatch lists 500 at most, so there may be more."
	}
	return text
}

// fail returns an error where not all could be asked.
func (s *survey) fail() error {
	if s.lost == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d Regions and roles could not be asked: their tables are unknown", s.lost, s.asked)
}

var surveyColumns = []terminal.Column{
	{Name: "TABLE", Least: 12}, {Name: "INDEX", Least: 8}, {Name: "REGION", Spare: 3}, {Name: "WRITES REFUSED", Right: true}, {Name: "READS REFUSED", Right: true},
	{Name: "HOURS", Right: true}, {Name: "WORST HOUR"}, {Name: "NEWEST", Spare: 2},
}

func surveyCells(s cloudwatch.Surveyed) []string {
	const hour = "2006-01-02 15:04"
	return []string{
		wording.Printable(s.Table), cmp.Or(wording.Printable(s.Index), "-"), s.Region, wording.Count(int64(s.HotWrites)), wording.Count(int64(s.HotReads)),
		wording.Count(int64(s.HotHours)), s.Worst.Format(hour), s.Newest.Format(hour),
	}
}
