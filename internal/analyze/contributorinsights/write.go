package contributorinsights

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/contributors"
	"github.com/keyheat/keyheat/detect/corroboration"
	"github.com/keyheat/keyheat/internal/analyze"
	"github.com/keyheat/keyheat/internal/aws/cloudwatch"
	"github.com/keyheat/keyheat/internal/cli/terminal"
	"github.com/keyheat/keyheat/internal/say/wording"
)

const (
	// maxItems and maxCalm are the most items, and the most calm keys, that the table
	// lists; JSON has all.
	maxItems, maxCalm = 5, 5
	// maxSteps is the most sentences about single keys.
	maxSteps = 5
	// divisible is the largest share of a key's load on one item that leaves key shards
	// most of the load to divide.
	divisible = 0.5

	// enableRule begins the command that enables a rule.
	enableRule = "aws cloudwatch enable-insight-rules --rule-names "
)

func (r *Result) write(out io.Writer, format analyze.Format) error {
	all := r.text()
	if format == analyze.FormatJSON {
		var err error
		if all, err = wording.JSON(r); err != nil {
			return err
		}
	}
	_, err := io.WriteString(out, all)
	return err
}

// text returns the result for a person: a headline, a table, and a few lines below.
func (r *Result) text() string {
	var b strings.Builder
	paragraph := func(sentences string) { b.WriteString(terminal.Wrap(sentences, terminal.Width) + "\n") }
	paragraph(r.headline())
	if len(r.Keys)+len(r.Items) > 0 {
		b.WriteString("\n" + r.table() + "\n\n")
	}
	for _, line := range append(steps(r.Keys), r.Notes...) {
		paragraph(line)
	}
	return b.String()
}

// headline counts the keys of each verdict. It never calls a table healthy.
func (r *Result) headline() string {
	if !r.Judged {
		return "Nothing could be judged: " + r.Unjudged + "."
	}
	var counts []string
	for _, v := range contributors.Verdicts() {
		n := 0
		for i := range r.Keys {
			if r.Keys[i].Verdict == v {
				n++
			}
		}
		if n > 0 {
			counts = append(counts, plural(int64(n), "key")+" "+string(v))
		}
	}
	if len(counts) == 0 {
		counts = []string{"no key to judge"}
	}
	return fmt.Sprintf("%s, %s to %s: %s.", wording.Printable(r.Target.Name()), r.From.Format(time.RFC3339), r.To.Format(time.RFC3339), strings.Join(counts, ", "))
}

// table returns the keys, the worst first, and behind them the items that are not calm.
func (r *Result) table() string {
	t := terminal.Table{Columns: []terminal.Column{
		{Name: "severity"}, {Name: "verdict"}, {Name: "key"}, {Name: "wcu/s", Right: true}, {Name: "rcu/s", Right: true},
		{Name: "of limit", Right: true}, {Name: "throttled", Right: true}, {Name: "minute"},
	}}
	notable := len(r.Items) - countCalm(r.Items)
	keys := r.Keys[:len(r.Keys)-max(0, countCalm(r.Keys)-maxCalm)]
	items := r.Items[:min(notable, maxItems)]
	for _, k := range slices.Concat(keys, items) {
		name := wording.Printable(k.Key)
		if k.SortKey != nil {
			name += " / " + wording.Printable(*k.SortKey)
		}
		wcu, rcu, share, minute := "unknown", "unknown", "unknown", ""
		if k.Bounds != nil {
			wcu, rcu = wording.Range(k.WCU.Low, k.WCU.High), wording.Range(k.RCU.Low, k.RCU.High)
			if share = wording.Percent(k.Share.High); share != wording.Percent(k.Share.Low) {
				share = wording.PercentRange(k.Share.Low, k.Share.High)
			}
		}
		if k.Minute != nil {
			minute = k.Minute.UTC().Format("15:04") // a result covers a day at most
		}
		t.Add(string(k.Severity), string(k.Verdict), text.Trim(name, 40), wcu, rcu, share, wording.Count(k.Throttled), minute)
	}
	if left := len(r.Keys) - len(keys) + notable - len(items); left > 0 {
		return t.Render(0) + fmt.Sprintf("\nand %s more: -o json has all", wording.Count(int64(left)))
	}
	return t.Render(0)
}

// countCalm counts the keys without a minute near a limit and without throttling. They are
// the last ones.
func countCalm(keys []contributors.Key) (n int) {
	for i := range keys {
		if keys[i].Verdict == contributors.Under && keys[i].Throttled == 0 {
			n++
		}
	}
	return n
}

// steps returns a sentence for each key that needs something, or one for several keys that
// need the same.
func steps(keys []contributors.Key) (all []string) {
	for i, n := 0, 1; i < len(keys) && len(all) < maxSteps; i, n = i+n, 1 {
		step, subject := nextStep(&keys[i]), wording.Quote(keys[i].Key)
		for i+n < len(keys) && nextStep(&keys[i+n]) == step {
			n++
		}
		if n > 1 {
			subject += " and " + plural(int64(n-1), "more key")
		}
		if step != "" {
			all = append(all, subject+": "+step)
		}
	}
	return all
}

// nextStep returns what to do about a key, in a sentence; empty for a calm key.
func nextStep(k *contributors.Key) string {
	proven := k.Bounds != nil && k.Share.Low >= detect.SaturatedFrom
	switch {
	case k.Verdict == contributors.Over && k.Served && k.Throttled == 0:
		return "no full partition refused its requests. Change nothing now, and set an alarm on the table's KeyRangeThroughputThrottleEvents."
	case k.Verdict == contributors.Over && !k.Served, k.Verdict == contributors.Full && proven:
		if k.LargestItem != nil && *k.LargestItem > divisible {
			return fmt.Sprintf("one item has %s of its load, and key shards do not divide an item. Write it less often, or cache it.", wording.Percent(*k.LargestItem))
		}
		return "more table capacity will not help. Let clients back off for 15 minutes; if requests are still throttled, split the key."
	case k.Verdict == contributors.Full:
		return "a partition was full, perhaps because of another key. Let clients back off, and sample the requests to see which key fills it."
	case k.KeyRange != nil && *k.KeyRange == 0:
		return "no partition was full when its requests were throttled. Check the table's capacity, its maximum and the account's quota."
	case k.Throttled > 0:
		return "its throttle reason is not known. Read ThrottlingReasons in the application's exceptions."
	case k.Verdict == contributors.Possible:
		return "its reads and writes cannot be told apart. Sample its requests before you change anything."
	case k.Verdict == contributors.Near:
		return "single seconds may be over the limit. Sample its requests before you change anything."
	}
	return ""
}

// note explains the gaps of the result. A gap that may hide a finding is incomplete too.
func (r *reading) note(keys *pair, table *cloudwatch.Result) {
	out, limit := &r.result, contributors.Decisive
	note := func(format string, args ...any) { out.Notes = append(out.Notes, fmt.Sprintf(format, args...)) }
	gap := func(why, format string, args ...any) {
		out.incomplete = why
		note(format, args...)
	}
	accessed, all := r.setup.Rules[AccessedKeys]
	if !out.Judged {
		out.Unjudged = "no key is reported. The table is unused, or was not counted until now, or the rule is disabled: " + enableRule + accessed
		if !all {
			out.Unjudged = "no throttled key is reported. Only throttled keys are counted, so the table may be calm or unused. Count all keys: " + r.setup.EnableAll()
		}
		note("%s", out.costs())
		return
	}
	switch why := strings.TrimSuffix(table.Message, "."); {
	case out.KeyRange == nil:
		if table.State == corroboration.NoData {
			why = "CloudWatch has no data of them"
		}
		gap("the table's own consumption is not known", "The table's own consumption and throttling are not known: %s. Reads and writes of a key cannot be told apart.", why)
	case *out.KeyRange == 0:
		note("No partition was full: CloudWatch counts no request throttled because of a key range.")
	default:
		note("CloudWatch counts %s, with retries, throttled because of a key range.", plural(*out.KeyRange, "request"))
		if len(keys.throttled.Series) == 0 {
			gap("no throttled key is reported beside throttled requests", "No throttled key is reported. If the rule is disabled: %s", enableRule+r.setup.Rules[ThrottledKeys])
		}
	}
	switch {
	case !all:
		gap("only throttled keys are counted", "Only throttled keys are counted, and not their load. All keys, paid by every request: %s", r.setup.EnableAll())
	case len(keys.accessed.Series) == 0:
		gap("no key's load is reported", "No key's load is reported. If the rule is disabled: %s", enableRule+accessed)
	case out.Unlisted > r.policy.Warning*limit:
		gap("a key that the report does not list may be near a limit or over it", "A report lists %d keys. Other keys had up to %s of a limit in a minute: a shorter --last lists more of them.", MostContributors, wording.PercentAtMost(out.Unlisted/limit))
	case out.Unlisted > 0:
		note("A report lists %d keys. No other key had more than %s of a limit in a minute.", MostContributors, wording.PercentAtMost(out.Unlisted/limit))
	}
	if keys.throttled.Unlisted > 0 {
		note("Throttled keys beyond %d are not listed.", MostContributors)
	}
	if minutes := int64(out.To.Sub(out.From) / time.Minute); int64(out.Minutes) < minutes {
		note("Keys were reported in %s of %s. The other minutes are unknown.", wording.Count(int64(out.Minutes)), plural(minutes, "minute"))
	}
	note("WCU/S, RCU/S and OF LIMIT (of one partition) are means of MINUTE, in UTC. THROTTLED counts all minutes. Counts are approximate, without PartiQL statements.")
	note("No key is proven healthy: a key that is over a limit for single seconds is not seen.")
	note("%s", out.costs())
	note("Seconds, causes and key shards: reporter analyze --stream %s, or samples of the requests (docs/INSTRUMENTING.md).", wording.Printable(r.Table))
}

func (r *Result) costs() string {
	return fmt.Sprintf("Read %s and %s for about $%.5f.", plural(r.Reports, "report"), plural(int64(r.Metrics), "metric"), r.CostUSD)
}

func plural(n int64, noun string) string {
	return wording.Plural(int(n), noun, noun+"s")
}
