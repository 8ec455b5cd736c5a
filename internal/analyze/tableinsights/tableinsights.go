// Package tableinsights judges a table's or index's keys by CloudWatch Contributor
// Insights' counts, beside CloudWatch's metrics of the table: for `analyze`, with
// credentials and without samples. It reports its reading, the cost, and the limits of
// such minutes.
package tableinsights

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awscloudwatch "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/contributors"
	"github.com/keyheat/keyheat/detect/corroboration"
	"github.com/keyheat/keyheat/detect/wording"
	"github.com/keyheat/keyheat/internal/analyze"
	"github.com/keyheat/keyheat/internal/aws/cloudwatch"
	"github.com/keyheat/keyheat/internal/aws/contributorinsights"
	"github.com/keyheat/keyheat/sample"
)

// Options choose the input and the output.
type Options struct {
	// Table is the table's name, Index a global index's; empty for the table itself.
	Table, Index string
	// Last is the time that is judged, up to five minutes ago: younger minutes are not
	// complete. At most [Longest].
	Last time.Duration
	// Policy returns the policy of a table or index.
	Policy func(detect.Target) detect.Policy
	// Hide replaces hidden keys of a record; nil hides nothing.
	Hide func(*sample.Record)
	// Format is one of [Formats]. Out takes the result, Err the announcements.
	Format   analyze.Format
	Out, Err io.Writer
	// FailOn is the severity from which keys are an error; empty for none.
	FailOn detect.Severity
}

// Longest is the longest time that is judged at once.
const Longest = contributorinsights.Longest

// Formats lists the formats of a result.
func Formats() []analyze.Format { return []analyze.Format{analyze.FormatTable, analyze.FormatJSON} }

// metrics are the requested metrics of the table or index.
var metrics = []detect.Metric{
	corroboration.ConsumedWrite, corroboration.ConsumedRead,
	corroboration.WriteKeyRangeThrottles, corroboration.ReadKeyRangeThrottles,
}

// Result is the verdict, in its JSON form.
type Result struct {
	detect.Target
	// From and To are the first minute that was judged, and the end of the last.
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
	// Judged reports whether there is a verdict: false if Contributor Insights lists no
	// key at all.
	Judged bool `json:"judged"`
	// Unjudged explains a missing verdict; empty if there is one.
	Unjudged string `json:"unjudged"`
	// Keys are the partition keys, the worst first. Items are single items, which are
	// requested only for keys near or over a limit.
	Keys  []contributors.Key `json:"keys"`
	Items []contributors.Key `json:"items"`
	// Minutes is in how many minutes some partition key was reported. Of the others nothing
	// is known.
	Minutes int `json:"minutes"`
	// Unlisted is the most that a partition key can have had in a minute without a
	// report, 3W + R, and OpenMinutes the number of minutes in which that may be near a
	// limit.
	Unlisted    float64 `json:"unlisted"`
	OpenMinutes int     `json:"open_minutes"`
	// KeyRange is how many requests of all keys CloudWatch counts that were throttled because
	// of a key range; null where that is not known.
	KeyRange *int64 `json:"key_range_throttled"`
	// Reports and Metrics are the requests to CloudWatch, for about CostUSD.
	Reports int64   `json:"reports"`
	Metrics int     `json:"metrics"`
	CostUSD float64 `json:"cost_usd"`
	// Notes are sentences about the read and unread parts.
	Notes []string `json:"notes"`

	// incomplete describes the verdict's gaps, for callers who rely on there being no
	// finding.
	incomplete string
}

// Run reads, judges, and writes the result. Errors are [analyze.Run]'s, with
// [analyze.ErrNothingJudged] and [analyze.ErrFound] among them.
func Run(ctx context.Context, settings aws.Config, o Options) error {
	target := sample.Target{Region: settings.Region, Table: o.Table, Index: o.Index}
	named := sample.Target{Table: o.Table, Index: o.Index}
	setup, err := contributorinsights.Describe(ctx, dynamodb.NewFromConfig(settings), named)
	if err == nil {
		err = setup.ErrDisabled()
	}
	if err != nil {
		return fmt.Errorf("%s in %s: %w", named.Name(), settings.Region, err)
	}
	to := time.Now().UTC().Truncate(time.Minute).Add(-corroboration.Delay)
	r := reading{
		Options: o, setup: setup, named: named, policy: o.Policy(target),
		client: awscloudwatch.NewFromConfig(settings),
		result: Result{Target: target, From: to.Add(-o.Last).Truncate(time.Minute), To: to, Keys: []contributors.Key{}, Items: []contributors.Key{}, Notes: []string{}},
	}
	r.reports.API = r.client
	paragraph(o.Err, 0, r.costText())
	err = r.read(ctx)
	if ctx.Err() != nil {
		return fmt.Errorf("%w: the reading was interrupted", analyze.ErrNothingJudged)
	}
	if err != nil {
		return fmt.Errorf("%s in %s: %w", named.Name(), settings.Region, err)
	}
	if err := r.result.write(o.Out, o.Format); err != nil {
		return err
	}
	return r.result.fail(o.FailOn)
}

// reading is one that is under way.
type reading struct {
	Options
	setup   contributorinsights.Setup
	named   sample.Target // without the Region
	policy  detect.Policy
	client  *awscloudwatch.Client
	reports contributorinsights.Reader
	result  Result
}

// costText describes the planned reading, and its cost at most.
func (r *reading) costText() string {
	minutes := int(r.result.To.Sub(r.result.From) / time.Minute)
	return fmt.Sprintf("Reading Contributor Insights of %s, %s up to %s. It takes one report a rule where few keys have much load, and %s a rule at most, at $%.2f for 1,000.",
		r.named.Name(), plural(int64(minutes), "minute"), r.result.To.Format(time.RFC3339), wording.Count(int64(2*minutes-1)), 1000*contributorinsights.Price)
}

// read reads and judges.
func (r *reading) read(ctx context.Context) error {
	keys, err := r.rules(ctx, contributorinsights.AccessedKeys, contributorinsights.ThrottledKeys)
	if err != nil {
		return err
	}
	out := &r.result
	out.Minutes = keys.minutes()
	out.Unlisted, out.OpenMinutes = keys.accessed.Unlisted, keys.accessed.Open
	if out.Judged = len(keys.accessed.Series)+len(keys.throttled.Series) > 0; !out.Judged {
		r.empty(ctx)
		return nil
	}
	table := cloudwatch.ReadTarget(ctx, r.client, r.named, metrics, out.From, out.To)
	out.Metrics = len(metrics)
	if table.State != corroboration.Read {
		table.Minutes = nil // what is read in part would prove what it does not
	}
	out.Keys = r.judge(keys, table.Minutes)
	if worthItems(out.Keys) {
		items, err := r.rules(ctx, contributorinsights.AccessedItems, contributorinsights.ThrottledItems)
		if err != nil {
			return err
		}
		out.Items = r.judge(items, table.Minutes)
		for i := range out.Keys {
			out.Keys[i].SetItems(items.accessed.Series)
		}
	}
	for i := range out.Keys {
		out.Keys[i].Advise(contributors.Place{Table: r.Table, Index: r.Index, Headroom: r.policy.Headroom})
	}
	if table.State == corroboration.Read {
		out.KeyRange = new(keyRangeThrottled(table.Minutes))
	}
	r.hide(out.Keys)
	r.hide(out.Items)
	r.notes(ctx, keys, &table)
	return nil
}

// pair holds two rules' reports.
type pair struct{ accessed, throttled contributorinsights.Report }

// minutes returns in how many minutes one of the rules reported some key.
func (p *pair) minutes() int {
	in := make(map[int64]bool)
	for _, s := range slices.Concat(p.accessed.Series, p.throttled.Series) {
		for _, point := range s.Points {
			in[point.At.Unix()] = true
		}
	}
	return len(in)
}

// rules reads two rules, as far as they exist.
func (r *reading) rules(ctx context.Context, accessed, throttled contributorinsights.Rule) (p pair, err error) {
	if name, is := r.setup.Rules[accessed]; is {
		if p.accessed, err = r.reports.Read(ctx, name, r.result.From, r.result.To, r.policy.Warning*contributors.Decisive); err != nil {
			return p, err
		}
	}
	if name, is := r.setup.Rules[throttled]; is {
		// Unlisted keys were throttled less than the others: they need no search.
		p.throttled, err = r.reports.Read(ctx, name, r.result.From, r.result.To, math.Inf(1))
	}
	return p, err
}

// judge returns the verdicts, as the policy wants them.
func (r *reading) judge(p pair, minutes []corroboration.Minute) []contributors.Key {
	throttled := p.throttled.Series
	reports := contributors.Reports{
		Accessed: p.accessed.Series, Throttled: throttled,
		// A rule that lists no key may not count at all.
		AllThrottled: len(throttled) > 0 && p.throttled.Unlisted <= 0,
		Minutes:      minutes, Warning: r.policy.Warning,
	}
	all := []contributors.Key{}
	for _, k := range reports.Judge() {
		if r.policy.Excludes(k.Key) {
			continue
		}
		k.Severity, k.Worst = r.policy.Cap(k.Severity), r.policy.Cap(k.Worst)
		all = append(all, k)
	}
	return all
}

// keyRangeThrottled returns how many requests were throttled because of a key range.
func keyRangeThrottled(minutes []corroboration.Minute) (n int64) {
	for _, m := range minutes {
		n += int64(m.Metrics[corroboration.WriteKeyRangeThrottles] + m.Metrics[corroboration.ReadKeyRangeThrottles])
	}
	return n
}

// hide replaces the keys that a policy hides.
func (r *reading) hide(keys []contributors.Key) {
	if r.Hide == nil {
		return
	}
	for i := range keys {
		r.hideKey(&keys[i])
	}
}

func (r *reading) hideKey(k *contributors.Key) {
	record := sample.Record{Region: r.result.Region, Table: r.Table, Index: r.Index, PK: sample.Key{Type: "S", Text: k.Key}}
	if k.SortKey != nil {
		record.SK = sample.Key{Type: "S", Text: *k.SortKey}
	}
	r.Hide(&record)
	k.Key = record.PK.Text
	if k.SortKey != nil {
		k.SortKey = new(record.SK.Text)
	}
}

// worthItems reports whether some key is such that it matters how its items are.
func worthItems(keys []contributors.Key) bool {
	for i := range keys {
		if v := keys[i].Verdict; v != contributors.NotOver && v != contributors.PossiblyNear {
			return true
		}
	}
	return false
}

// empty notes in the result that there is nothing to judge, and possible causes.
func (r *reading) empty(ctx context.Context) {
	why := "no key is reported for these minutes. Contributor Insights is enabled and empty, which is neither zero load nor health: it counts only from when it was enabled, and no PartiQL statements; or nothing used the table then"
	if _, all := r.setup.Rules[contributorinsights.AccessedKeys]; !all {
		why = "no throttled key is reported for these minutes. Only throttled keys are counted, so that nothing tells whether that is calm or a table that nobody used. For all keys: " + r.setup.EnableAll()
	}
	if rule := r.reports.ExplainDisabled(ctx, &r.setup, contributorinsights.AccessedKeys, contributorinsights.ThrottledKeys); rule != "" {
		why = "no key is reported: " + rule
	}
	r.result.Unjudged = why
	r.costs()
}

// costs notes the requests.
func (r *reading) costs() {
	out := &r.result
	out.Reports = r.reports.Calls - r.reports.Throttled
	out.CostUSD = float64(out.Reports)*contributorinsights.Price + float64(out.Metrics)*cloudwatch.Price
	throttled := ""
	if r.reports.Throttled > 0 {
		throttled = fmt.Sprintf(" %s were throttled, and asked for again.", wording.Count(r.reports.Throttled))
	}
	out.Notes = append(out.Notes, fmt.Sprintf("Read %s to %s with GetInsightRuleReport (%s) and GetMetricData (%s metrics), for about $%.5f at the usual price.%s",
		out.From.Format(time.RFC3339), out.To.Format(time.RFC3339), plural(out.Reports, "report"), wording.Count(int64(out.Metrics)), out.CostUSD, throttled))
}

func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return wording.Count(n) + " " + noun + "s"
}

// notes describes the verdict's coverage.
func (r *reading) notes(ctx context.Context, keys pair, table *cloudwatch.Result) {
	out := &r.result
	out.Notes = append(out.Notes, out.throttles())
	r.costs()
	if asked := int(out.To.Sub(out.From) / time.Minute); out.Minutes < asked {
		out.Notes = append(out.Notes, fmt.Sprintf("Some key was reported in %s of %s. Of the others nothing is known.", wording.Count(int64(out.Minutes)), plural(int64(asked), "minute")))
	}
	if len(keys.accessed.Series) == 0 || len(keys.throttled.Series) == 0 {
		if rule := r.reports.ExplainDisabled(ctx, &r.setup, contributorinsights.AccessedKeys, contributorinsights.ThrottledKeys); rule != "" {
			out.incomplete = rule
			out.Notes = append(out.Notes, "Not all is counted: "+rule+".")
		}
	}
	if keys.throttled.Unlisted > 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("A report lists %d throttled keys: others may have been throttled, too.", contributorinsights.MostContributors))
	}
	_, all := r.setup.Rules[contributorinsights.AccessedKeys]
	switch {
	case !all:
		out.incomplete = "only throttled keys are counted"
		out.Notes = append(out.Notes, "Only throttled keys are counted: how much load keys have is not known. For accessed keys, which are paid by every request: "+r.setup.EnableAll()+".")
	case out.OpenMinutes > 0:
		others := "near a limit, though not over it in a minute's mean"
		if out.Unlisted > contributors.Decisive {
			others = "over a limit, too"
		}
		out.incomplete = "keys that no report lists may be " + others
		out.Notes = append(out.Notes, fmt.Sprintf("In %s more keys had much load than the %d that a report lists: others may be %s.", plural(int64(out.OpenMinutes), "minute"), contributorinsights.MostContributors, others))
	case out.Unlisted > 0:
		out.Notes = append(out.Notes, fmt.Sprintf("A report lists %d keys. No other one had more than %s ConsumedThroughputUnits in a minute, %s of what a partition serves.",
			contributorinsights.MostContributors, wording.About(out.Unlisted), wording.Percent(out.Unlisted/contributors.Decisive)))
	}
	if table.State != corroboration.Read {
		why := table.Message
		if table.State == corroboration.NoData {
			why = "CloudWatch has no data of them"
		}
		out.incomplete = "the table's own consumption is not known"
		out.Notes = append(out.Notes, "The consumption of the table or index, without which reads and writes of a key cannot be told apart, is not known: "+strings.TrimSuffix(why, ".")+". No key is proven over.")
	}
	if oneSided(table.Minutes) {
		out.Notes = append(out.Notes, "In minutes for which CloudWatch has consumption of one kind only, reads or writes, the other kind counts as none: DynamoDB publishes no data point of it then.")
	}
	if r.Hide != nil {
		out.Notes = append(out.Notes, "Keys that a policy hashes are hashed as strings: the type of a key is not reported.")
	}
	out.Notes = append(out.Notes, contributors.Blind, "Contributor Insights calls its values approximate, and counts neither PartiQL statements nor writes that an index without capacity holds back.")
}

// throttles returns whether a partition was full in the time that was read, in words.
func (r *Result) throttles() string {
	in := "in these " + plural(int64(r.To.Sub(r.From)/time.Minute), "minute")
	switch {
	case r.KeyRange == nil:
		return "Whether requests were throttled because of a key range " + in + " is not known: CloudWatch's metrics could not be read, or have no data."
	case *r.KeyRange == 0:
		return "CloudWatch counts no request that was throttled because of a key range " + in + ": no partition was full."
	}
	return fmt.Sprintf("CloudWatch counts %s, retries among them, that were throttled because of a key range %s.", plural(*r.KeyRange, "request"), in)
}

// oneSided reports whether some minute has consumption of one kind only.
func oneSided(minutes []corroboration.Minute) bool {
	return slices.ContainsFunc(minutes, func(m corroboration.Minute) bool {
		_, writes := m.Metrics[corroboration.ConsumedWrite]
		_, reads := m.Metrics[corroboration.ConsumedRead]
		return writes != reads
	})
}

// fail returns the error that the result is.
func (r *Result) fail(on detect.Severity) error {
	if !r.Judged {
		return fmt.Errorf("%w: %s", analyze.ErrNothingJudged, r.Unjudged)
	}
	if on == "" {
		return nil
	}
	n, open := atLeast(r.Keys, on)
	of := "keys"
	if n == 0 { // a policy may exclude the key of an item, and not the item
		n, _ = atLeast(r.Items, on)
		of = "items"
	}
	switch {
	case n > 0:
		return fmt.Errorf("%w: %s of severity %s or worse: %d", analyze.ErrFound, of, on, n)
	case open > 0:
		why := ""
		if count(r.Keys).full > 0 {
			why = ": requests were throttled while a partition was full"
		}
		if r.incomplete != "" {
			why = ": " + r.incomplete
		}
		return fmt.Errorf("no key of %s or worse is proven, but what was read cannot tell of %s%s", on, plural(int64(open), "key"), why)
	case r.incomplete != "":
		return errors.New("no key of " + string(on) + " or worse, but " + r.incomplete)
	}
	return nil
}

// atLeast returns of how many keys the severity is as bad as that, and of how many more it
// may be.
func atLeast(keys []contributors.Key, as detect.Severity) (n, open int) {
	for i := range keys {
		switch k := &keys[i]; {
		case detect.Rank(k.Severity) >= detect.Rank(as):
			n++
		case detect.Rank(k.Worst) >= detect.Rank(as):
			open++
		}
	}
	return n, open
}
