// Package contributorinsights reads a table's or index's keys from CloudWatch Contributor
// Insights, with CloudWatch's metrics of the table: for `analyze`, with credentials and
// without samples. [Describe] asks whether Contributor Insights is enabled, [Read] reads
// the reports of its rules, and [Run] joins them. Package contributors makes findings of
// them, and package analyze writes these.
//
// A report lists at most [MostContributors] keys, the keys with the highest minutes of
// the requested time. The lowest of these bounds every unlisted key. A shorter time has a
// lower bound.
//
// Reports are ranked by Maximum: of DynamoDB's rules "only MaxContributorValue and
// Maximum return useful statistics" (Guide, "CloudWatch Contributor Insights for
// DynamoDB: how it works"). A maximum counts nothing twice, so that conclusions from it
// stay lower bounds.
package contributorinsights

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awscloudwatch "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/contributors"
	"github.com/keyheat/keyheat/detect/corroboration"
	"github.com/keyheat/keyheat/internal/analyze"
	"github.com/keyheat/keyheat/internal/aws/cloudwatch"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/sample"
)

// Source is the table or index that is read.
type Source struct {
	// Table is the table's name, Index a global index's; empty for the table itself.
	Table, Index string
	// Last is the time that is judged, up to five minutes ago: younger minutes are not
	// complete. At most [Longest].
	Last time.Duration
}

// Formats lists the formats of a result.
func Formats() []analyze.Format {
	return []analyze.Format{analyze.FormatTable, analyze.FormatJSON, analyze.FormatCSV}
}

// Run reads, judges, and writes the result. Errors are [analyze.Run]'s, with
// [analyze.ErrNothingJudged] and [analyze.ErrFound] among them.
func Run(ctx context.Context, settings aws.Config, of Source, o analyze.Options) error {
	to := time.Now().UTC().Truncate(time.Minute).Add(-corroboration.Delay)
	client := awscloudwatch.NewFromConfig(settings)
	r := reading{target: sample.Target{Table: of.Table, Index: of.Index}, options: o, from: to.Add(-of.Last).Truncate(time.Minute), to: to}
	where := wording.Printable(fmt.Sprintf("%s in %s", r.target.Name(), settings.Region))
	err := r.read(ctx, dynamodb.NewFromConfig(settings), client)
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("%s: %w", where, err)
	}
	table, metrics := cloudwatch.ReadTarget(ctx, client, r.target, r.from, to)
	if ctx.Err() != nil {
		return fmt.Errorf("%w: the reading was interrupted", analyze.ErrNothingJudged)
	}
	r.target.Region = settings.Region
	result := r.judge(&table)
	result.Notes = []string{fmt.Sprintf("Read %s and %d metrics of %s for about $%.5f.", wording.Plural(r.reports, "report", "reports"), metrics, where, float64(r.reports)*price+float64(metrics)*cloudwatch.Price)}
	return analyze.WriteMinutes(result, len(r.accessed.Series), o)
}

// reading is what is read of a table or index.
type reading struct {
	options                    analyze.Options
	target                     sample.Target
	from, to                   time.Time
	accessed, items, throttled Report
	reports                    int
}

// read reads the reports of all rules.
func (r *reading) read(ctx context.Context, tables Tables, reports API) error {
	rules, err := Describe(ctx, tables, r.target)
	if err != nil {
		return err
	}
	for rule, into := range map[Rule]*Report{AccessedKeys: &r.accessed, AccessedItems: &r.items, ThrottledKeys: &r.throttled} {
		if name, is := rules[rule]; is {
			if *into, err = Read(ctx, reports, name, r.from, r.to); err != nil {
				return err
			}
			r.reports++
			r.hide(into.Series)
		}
	}
	if len(r.accessed.Series)+len(r.throttled.Series) == 0 {
		return fmt.Errorf("%w: no key is reported: the table is unused, or was not counted until now, or a rule is disabled. Try: %s", analyze.ErrNothingJudged, enable(r.target))
	}
	return nil
}

// judge judges the reports beside the table's metrics, and lists the gaps that may hide a
// finding.
func (r *reading) judge(table *cloudwatch.Result) *analyze.Result {
	result := &analyze.Result{Findings: []detect.Finding{}, Doubts: []detect.Doubt{}, Gaps: []sample.Gap{}}
	gap := func(what, why string, args ...any) {
		result.Gaps = append(result.Gaps, sample.Gap{Source: "contributor insights", Partition: what, Reason: fmt.Sprintf(why, args...)})
	}
	metrics := &corroboration.Reading{State: table.State, Message: table.Message, Through: r.to, Minutes: table.Minutes}
	if table.State != corroboration.Read {
		gap("the table's consumption and throttling", "%s: reads and writes of a key cannot be told apart", cmp.Or(table.Message, "CloudWatch has no data of it"))
		metrics.Minutes = nil // a part of the minutes would prove too much
	}
	policy := r.options.Policy(r.target)
	unlisted := r.accessed.Unlisted / contributors.FullMinute
	switch {
	case len(r.accessed.Series) == 0:
		gap("the load of keys", "no rule reports it. Count all keys, which is paid by every request: %s", enable(r.target))
	case unlisted > policy.Warning:
		gap(fmt.Sprintf("keys beyond the %d listed", MostContributors), "each may have had up to %s of a limit in a minute; a shorter --last lists more of them", wording.PercentAtMost(unlisted))
	}
	reports := contributors.Reports{
		Target: r.target, Accessed: r.accessed.Series, Items: r.items.Series, Throttled: r.throttled.Series,
		// A rule that lists no key may not count at all.
		AllThrottled: len(r.throttled.Series) > 0 && r.throttled.Unlisted <= 0,
		CloudWatch:   metrics, Policy: policy, KeysHidden: r.options.Hide != nil,
	}
	found, doubts := reports.Judge()
	result.Findings, result.Doubts = append(result.Findings, found...), append(result.Doubts, doubts...)
	return result
}

// hide replaces hidden keys. Reports have no types of keys: all are hidden as strings.
func (r *reading) hide(all []contributors.Series) {
	if r.options.Hide == nil {
		return
	}
	for _, s := range all {
		record := sample.Record{Region: r.target.Region, Table: r.target.Table, Index: r.target.Index, PK: sample.KeyString(s.Keys[0])}
		if len(s.Keys) > 1 {
			record.SK = sample.KeyString(s.Keys[1])
		}
		r.options.Hide(&record)
		if s.Keys[0] = record.PK.Text; len(s.Keys) > 1 {
			s.Keys[1] = record.SK.Text
		}
	}
}
