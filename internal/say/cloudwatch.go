package say

import (
	"fmt"
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/corroboration"
	"github.com/keyheat/keyheat/internal/say/wording"
)

// refusals are CloudWatch's metrics of refused requests, by the reason in words.
var refusals = []struct {
	metrics []detect.Metric
	reason  string
}{
	{[]detect.Metric{corroboration.WriteKeyRangeThrottles, corroboration.ReadKeyRangeThrottles}, "a full partition"},
	{[]detect.Metric{corroboration.WriteProvisionedThrottles, corroboration.ReadProvisionedThrottles}, "provisioned capacity"},
	{[]detect.Metric{corroboration.WriteAccountThrottles, corroboration.ReadAccountThrottles}, "the account's quota"},
	{[]detect.Metric{corroboration.WriteOnDemandThrottles, corroboration.ReadOnDemandThrottles}, "the on-demand maximum"},
}

// unread are the reasons for a comparison that was not made.
var unread = map[detect.Unread]string{
	detect.UnreadNoData: "CloudWatch has no data of it: it may be idle, or in another Region or account.",
	detect.UnreadDenied: "Reading CloudWatch is denied.",
	detect.UnreadFailed: "CloudWatch could not be read.",
	detect.UnreadNotYet: "CloudWatch has not reported these minutes yet.",
	detect.UnreadTooFew: "The samples' part of the load is not known yet.",
}

// corroborations name CloudWatch's verdicts.
var corroborations = map[detect.Corroborated]string{
	detect.CloudWatchConfirms: "CloudWatch confirms it", detect.CloudWatchOtherCause: "CloudWatch shows another cause",
	detect.CloudWatchQuiet: "CloudWatch shows no throttling", detect.CloudWatchContradicts: "CloudWatch contradicts it",
}

// CorroborationName names CloudWatch's verdict on a finding; empty for none.
func CorroborationName(c detect.Corroborated) string { return corroborations[c] }

// CloudWatch writes CloudWatch's verdict on a finding, with its figures.
func CloudWatch(f *detect.Finding) string {
	c := f.CloudWatch
	var all []string
	switch c.Verdict {
	case detect.CloudWatchConfirms, detect.CloudWatchOtherCause:
		all = append(all, reasons(c.Throttles))
	case detect.CloudWatchQuiet:
		all = append(all, fmt.Sprintf("No %s of the %s was refused in these minutes.", detect.SideOf(f, "write", "read"), targetWord(f)))
	case detect.CloudWatchContradicts:
		all = append(all, fmt.Sprintf("The whole %s consumed less than the samples show: requests count twice, or their rate is wrong.", targetWord(f)))
	default:
		all = append(all, unread[c.Unread])
	}
	if c.Coverage != nil && c.Verdict != detect.CloudWatchContradicts {
		all = append(all, coverage(c.Coverage, detect.SideOf(f, "writes", "reads")))
	}
	return strings.TrimSpace(strings.Join(all, " "))
}

// TableCloudWatch writes the comparison of a table or index with CloudWatch.
func TableCloudWatch(c *detect.TableCloudWatch) string {
	var all []string
	if c.Unread != "" {
		all = append(all, unread[c.Unread])
	}
	if c.Message != "" {
		all = append(all, quote(c.Message)+".")
	}
	if c.Write != nil {
		all = append(all, coverage(c.Write, "writes"))
	}
	if c.Read != nil {
		all = append(all, coverage(c.Read, "reads"))
	}
	return strings.Join(all, " ")
}

// reasons writes refused requests by reason.
func reasons(throttles map[detect.Metric]float64) string {
	var parts []string
	for _, r := range refusals {
		n := 0.0
		for _, m := range r.metrics {
			n += throttles[m]
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%s for %s", wording.Count(int64(n)), r.reason))
		}
	}
	if len(parts) == 0 {
		return "DynamoDB refused requests for an unknown reason."
	}
	return "DynamoDB refused " + wording.List(parts) + " in these minutes."
}

// coverage writes the part of the load that samples show.
func coverage(c *detect.Figure, requests string) string {
	if c.Low > corroboration.Whole {
		return fmt.Sprintf("The samples show more %s than there are: requests count twice, or their rate is wrong.", requests)
	}
	between := ""
	if c.High-c.Low > 0.01 {
		between = fmt.Sprintf(" (%s)", wording.PercentRange(c.Low, min(1, c.High)))
	}
	return fmt.Sprintf("The samples show %s%s of the %s.", wording.Percent(min(1, c.Value)), between, requests)
}
