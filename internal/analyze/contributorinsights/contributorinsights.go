package contributorinsights

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awscloudwatch "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/contributors"
	"github.com/keyheat/keyheat/detect/corroboration"
	"github.com/keyheat/keyheat/internal/analyze"
	"github.com/keyheat/keyheat/internal/aws/cloudwatch"
	"github.com/keyheat/keyheat/sample"
)

// Options choose the input and the output.
type Options struct {
	// Table is the table's name, Index a global index's; empty for the table itself.
	Table, Index string
	// Last is the time that is judged, up to five minutes ago: younger minutes are not
	// complete. At most [Longest].
	Last   time.Duration
	Policy func(detect.Target) detect.Policy
	// Hide replaces hidden keys of a record; nil hides nothing.
	Hide   func(*sample.Record)
	Format analyze.Format
	Out    io.Writer
	// FailOn is the severity from which keys are an error; empty for none.
	FailOn detect.Severity
}

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
	// read only if some key may be near a limit or had throttled requests.
	Keys  []contributors.Key `json:"keys"`
	Items []contributors.Key `json:"items"`
	// Minutes counts the minutes with a reported partition key. The others are unknown.
	Minutes int `json:"minutes"`
	// Unlisted is the most that an unlisted partition key can have had in a minute, 3W + R.
	Unlisted float64 `json:"unlisted"`
	// KeyRange counts the requests of all keys that CloudWatch counts as throttled because
	// of a key range; null if unknown.
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
	setup, err := Describe(ctx, dynamodb.NewFromConfig(settings), named)
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

type reading struct {
	Options
	setup   Setup
	named   sample.Target // without the Region
	policy  detect.Policy
	client  *awscloudwatch.Client
	reports Reader
	result  Result
}

func (r *reading) read(ctx context.Context) error {
	keys, err := r.rules(ctx, AccessedKeys, ThrottledKeys)
	if err != nil {
		return err
	}
	out := &r.result
	out.Minutes, out.Unlisted = keys.minutes(), keys.accessed.Unlisted
	var table cloudwatch.Result
	if out.Judged = len(keys.accessed.Series)+len(keys.throttled.Series) > 0; out.Judged {
		table = cloudwatch.ReadTarget(ctx, r.client, r.named, metrics, out.From, out.To)
		out.Metrics = len(metrics)
		if err := r.judgeKeys(ctx, &keys, &table); err != nil {
			return err
		}
	}
	out.Reports = r.reports.Calls
	out.CostUSD = float64(out.Reports)*price + float64(out.Metrics)*cloudwatch.Price
	r.note(&keys, &table)
	return nil
}

// judgeKeys judges keys and, if some key may be near a limit or had throttled requests,
// their items.
func (r *reading) judgeKeys(ctx context.Context, keys *pair, table *cloudwatch.Result) error {
	out := &r.result
	if table.State == corroboration.Read {
		out.KeyRange = new(int64)
		for _, m := range table.Minutes {
			*out.KeyRange += int64(contributors.KeyRangeThrottles(m))
		}
	} else {
		table.Minutes = nil // a part of the minutes would prove too much
	}
	out.Keys = r.judge(keys, table.Minutes)
	if countCalm(out.Keys) < len(out.Keys) {
		items, err := r.rules(ctx, AccessedItems, ThrottledItems)
		if err != nil {
			return err
		}
		out.Items = r.judge(&items, table.Minutes)
		for i := range out.Keys {
			out.Keys[i].SetLargestItem(items.accessed.Series)
		}
	}
	r.hide(out.Keys)
	r.hide(out.Items)
	return nil
}

// pair holds two rules' reports.
type pair struct{ accessed, throttled Report }

// minutes counts the minutes in which one of the rules reported some key.
func (p *pair) minutes() int {
	in := make(map[int64]bool)
	for _, s := range slices.Concat(p.accessed.Series, p.throttled.Series) {
		for at := range s.Values {
			in[at] = true
		}
	}
	return len(in)
}

// rules reads two rules, as far as they exist.
func (r *reading) rules(ctx context.Context, accessed, throttled Rule) (p pair, err error) {
	if name, is := r.setup.Rules[accessed]; is {
		p.accessed, err = r.reports.Read(ctx, name, r.result.From, r.result.To)
	}
	if name, is := r.setup.Rules[throttled]; is && err == nil {
		p.throttled, err = r.reports.Read(ctx, name, r.result.From, r.result.To)
	}
	return p, err
}

func (r *reading) judge(p *pair, minutes []corroboration.Minute) []contributors.Key {
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

func (r *reading) hide(keys []contributors.Key) {
	if r.Hide == nil {
		return
	}
	for i := range keys {
		k := &keys[i]
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
}

// fail returns the error for the exit code; nil for a verdict without a finding.
func (r *Result) fail(on detect.Severity) error {
	if !r.Judged {
		return fmt.Errorf("%w: %s", analyze.ErrNothingJudged, r.Unjudged)
	}
	if on == "" {
		return nil
	}
	keys, open := countFrom(r.Keys, on)
	items, _ := countFrom(r.Items, on) // a policy may exclude an item's key, and not the item
	switch {
	case keys > 0:
		return fmt.Errorf("%w: keys of severity %s or worse: %d", analyze.ErrFound, on, keys)
	case items > 0:
		return fmt.Errorf("%w: items of severity %s or worse: %d", analyze.ErrFound, on, items)
	case open > 0:
		return fmt.Errorf("no key is proven to be of severity %s or worse, but %s may be", on, plural(int64(open), "key"))
	case r.incomplete != "":
		return fmt.Errorf("no key is proven to be of severity %s or worse, but %s", on, r.incomplete)
	}
	return nil
}

// countFrom counts the keys of a severity or worse, and the keys that may be.
func countFrom(keys []contributors.Key, severity detect.Severity) (n, open int) {
	for i := range keys {
		switch k := &keys[i]; {
		case detect.Rank(k.Severity) >= detect.Rank(severity):
			n++
		case detect.Rank(k.Worst) >= detect.Rank(severity):
			open++
		}
	}
	return n, open
}
