package main

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/corroboration"
	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/testsupport/cloudwatchtest"
	"github.com/keyheat/keyheat/internal/testsupport/must"
)

// insightsStory is a table with Contributor Insights, or a mistake about it.
type insightsStory struct {
	story string
	args  string // beside analyze
	// made makes it so, over a table orders without anything wrong and without keys.
	made func(*insightsWorld)
	env  [2]string
	code int
	says string // what it prints, among other things
}

// insightsWorld is a CloudWatch beside a table's Contributor Insights.
type insightsWorld struct {
	*cloudwatchtest.Server
	now time.Time
}

// names of the rules of the table orders, which has a sort key.
func ruleName(kind string) string {
	return "DynamoDBContributorInsights-" + kind + "-orders-1576629651520"
}

func (w *insightsWorld) ago(minutes int) time.Time {
	return w.now.Truncate(time.Minute).Add(-time.Duration(minutes) * time.Minute)
}

// enable enables a mode for the table, or for an index of it.
func (w *insightsWorld) enable(index, mode string, kinds ...string) {
	in := cloudwatchtest.Insights{Status: "ENABLED", Mode: mode}
	for _, kind := range kinds {
		in.Rules = append(in.Rules, ruleName(kind))
	}
	w.Describe("orders", index, in)
}

// count is what a rule counts of a key in minutes.
func (w *insightsWorld) count(kind string, value float64, minutes []int, keys ...string) {
	for _, ago := range minutes {
		w.Contribute(ruleName(kind), w.ago(ago), value, keys...)
	}
}

// consumed is what CloudWatch counts of the table in minutes.
func (w *insightsWorld) consumed(metric detect.Metric, value float64, minutes []int) {
	for _, ago := range minutes {
		w.Put(cloudwatchtest.Metric{Table: "orders", Name: string(metric)}, w.ago(ago), value)
	}
}

var (
	some = []int{7, 8, 9}
	one  = []int{8}
)

// writes are a key that is over by its writes, beside a calm one.
func writes(w *insightsWorld) {
	w.count("PKC", 198_000, some, "acme")
	w.count("PKC", 6000, some, "calm")
	w.count("SKC", 190_000, some, "acme", "invoice")
	w.count("PKT", 4000, one, "acme")
	w.consumed(corroboration.ConsumedWrite, 70_000, some)
	w.consumed(corroboration.WriteKeyRangeThrottles, 4100, one)
}

// mixed is a key of which nothing tells how much of it is reads.
func mixed(w *insightsWorld) {
	w.count("PKC", 198_000, some, "acme")
	w.consumed(corroboration.ConsumedWrite, 66_000, some)
	w.consumed(corroboration.ConsumedRead, 198_000, some)
}

func refused(operation, code string) func(*insightsWorld) {
	return func(w *insightsWorld) {
		writes(w)
		w.FailAll(operation, cloudwatchtest.Failure{Status: 400, Code: code, Message: "no"})
	}
}

const ofOrders = "--contributor-insights orders"

var insightsStories = []insightsStory{
	{"a key that is over the limit", ofOrders, writes, [2]string{}, 0, "critical orders: writes throttled on one key (“acme”)"},
	{"in a pipeline", ofOrders + " --fail-on critical", writes, [2]string{}, 2, "found: findings of severity critical or worse: 1"},
	{"reads and writes that nothing tells apart", ofOrders, mixed, [2]string{}, 0, "No hot key is proven"},
	{"keys below the limits in every minute's mean", ofOrders + " --last 45m", func(w *insightsWorld) {
		w.count("PKC", 60_000, some, "acme")
		w.consumed(corroboration.ConsumedWrite, 70_000, some)
	}, [2]string{}, 0, "none to be healthy"},
	{"a full partition, which serves no more", ofOrders, func(w *insightsWorld) {
		w.count("PKC", 177_600, some, "acme")
		w.count("PKT", 9000, some, "acme")
		w.consumed(corroboration.ConsumedWrite, 61_000, some)
		w.consumed(corroboration.WriteKeyRangeThrottles, 9000, some)
	}, [2]string{}, 0, "critical orders: writes throttled on one key (“acme”)"},
	{"requests of a key throttled while a partition was full, which reads of the table may be a part of", ofOrders, func(w *insightsWorld) {
		w.count("PKC", 173_400, some, "acme")
		for i := range 9 {
			w.count("PKC", 6000, some, fmt.Sprintf("calm-%d", i))
		}
		w.count("PKT", 22_000, some, "acme")
		w.consumed(corroboration.ConsumedWrite, 70_000, some)
		w.consumed(corroboration.ConsumedRead, 124_000, some)
		w.consumed(corroboration.WriteKeyRangeThrottles, 22_000, some)
	}, [2]string{}, 0, "a partition refuses requests to one key (“acme”)"},
	{"the same in a pipeline, of which nothing proves that a key is critical", ofOrders + " --fail-on critical", func(w *insightsWorld) {
		w.count("PKC", 173_400, some, "acme")
		for i := range 40 {
			w.count("SKC", 4335, some, "acme", fmt.Sprintf("event-%d", i))
		}
		w.count("PKT", 22_000, some, "acme")
		w.consumed(corroboration.ConsumedWrite, 70_000, some)
		w.consumed(corroboration.ConsumedRead, 124_000, some)
		w.consumed(corroboration.WriteKeyRangeThrottles, 22_000, some)
	}, [2]string{}, 0, "a partition refuses requests to one key"},
	{"a possible key, which a pipeline is told", ofOrders + " --fail-on critical", mixed, [2]string{}, 1, "keys may have been over a limit: 2"},
	{"and may be a warning", ofOrders + " --fail-on warning", mixed, [2]string{}, 1, "keys may have been over a limit: 2"},
	{"many items of one key throttled while a partition was full", ofOrders + " --fail-on warning", func(w *insightsWorld) {
		w.count("PKC", 190_000, some, "acme")
		w.count("PKT", 8000, one, "acme")
		for i := range 20 {
			w.count("SKC", 9000+100*float64(i), some, "acme", fmt.Sprintf("event-%d", i))
			w.count("SKT", 400, one, "acme", fmt.Sprintf("event-%d", i))
		}
		w.consumed(corroboration.ConsumedWrite, 70_000, some)
		w.consumed(corroboration.WriteKeyRangeThrottles, 8000, one)
	}, [2]string{}, 2, "found: findings of severity warning or worse: 1"},
	{"a calm key throttled, and no partition full", ofOrders, func(w *insightsWorld) {
		w.count("PKC", 6000, some, "acme")
		w.count("PKT", 400, some, "acme")
		w.consumed(corroboration.ConsumedWrite, 70_000, some)
	}, [2]string{}, 0, "throttled, the samples do not say why"},
	{"throttled keys only, while a partition was full", ofOrders, func(w *insightsWorld) {
		w.enable("", "THROTTLED_KEYS", "PKT", "SKT")
		w.count("PKT", 700, some, "acme")
		w.consumed(corroboration.ConsumedWrite, 70_000, some)
		w.consumed(corroboration.WriteKeyRangeThrottles, 700, some)
	}, [2]string{}, 0, "Not counted: the load of keys: no rule reports it."},
	{"more hot keys in a minute than a report lists, which a pipeline is told", ofOrders + " --fail-on warning", func(w *insightsWorld) {
		for i := range 30 {
			w.count("PKC", 150_000, one, fmt.Sprintf("k%02d", i))
		}
		w.consumed(corroboration.ConsumedWrite, 750_000, one)
		w.consumed(corroboration.ConsumedRead, 2_250_000, one)
	}, [2]string{}, 1, "Not counted: keys beyond the 25 listed"},
	{"an index", ofOrders + " --index by-status", func(w *insightsWorld) {
		w.enable("by-status", "ACCESSED_AND_THROTTLED_KEYS", "PKC", "PKT")
		w.count("PKC", 198_000, some, "OPEN")
		for _, ago := range some {
			w.Put(cloudwatchtest.Metric{Table: "orders", Index: "by-status", Name: string(corroboration.ConsumedWrite)}, w.ago(ago), 70_000)
		}
	}, [2]string{}, 0, "writes to one index key above the partition limit (“OPEN”)"},
	{"throttled keys only", ofOrders, func(w *insightsWorld) {
		w.enable("", "THROTTLED_KEYS", "PKT", "SKT")
		w.count("PKT", 700, some, "acme")
		w.count("SKT", 700, some, "acme", "invoice")
	}, [2]string{}, 0, "throttled, the samples do not say why"},
	{"throttled keys only, and none was: nothing is known", ofOrders, func(w *insightsWorld) { w.enable("", "THROTTLED_KEYS", "PKT") }, [2]string{}, 1, "nothing could be judged: no key is reported"},
	{"enabled and empty", ofOrders, func(*insightsWorld) {}, [2]string{}, 1, "nothing could be judged: no key is reported"},
	{"a rule that is disabled", ofOrders, func(w *insightsWorld) { writes(w); w.Disable(ruleName("PKC")); w.Disable(ruleName("PKT")) }, [2]string{}, 1, "nothing could be judged: no key is reported"},
	{"one of two rules is disabled", ofOrders, func(w *insightsWorld) { writes(w); w.Disable(ruleName("PKC")) }, [2]string{}, 0, "Not counted: the load of keys"},
	{"a rule that is missing", ofOrders, func(w *insightsWorld) { w.Remove(ruleName("PKC")) }, [2]string{}, 1, "CloudWatch no longer has the rule"},
	{"not enabled", ofOrders, func(w *insightsWorld) { w.Describe("orders", "", cloudwatchtest.Insights{Status: "DISABLED"}) }, [2]string{}, 1, "counts nothing (DISABLED): enable it"},
	{"enabled a moment ago", ofOrders, func(w *insightsWorld) { w.Describe("orders", "", cloudwatchtest.Insights{Status: "ENABLING"}) }, [2]string{}, 1, "counts nothing (ENABLING)"},
	{"could not be enabled", ofOrders, func(w *insightsWorld) {
		w.Describe("orders", "", cloudwatchtest.Insights{Status: "FAILED", Failure: [2]string{"AccessDeniedException", "Failed to create service-linked role"}})
	}, [2]string{}, 1, "counts nothing (FAILED, AccessDeniedException: Failed"},
	{"the table's consumption may not be read", ofOrders, refused("GetMetricData", "AccessDenied"), [2]string{}, 0, "Not counted: the table's consumption and throttling: allow cloudwatch:GetMetricData"},
	{"a pipeline that relies on it", ofOrders + " --fail-on critical", func(w *insightsWorld) {
		w.count("PKC", 198_000, some, "acme")
		w.FailAll("GetMetricData", cloudwatchtest.Failure{Status: 403, Code: "AccessDenied", Message: "no"})
	}, [2]string{}, 1, "keys may have been over a limit: 2"},
	{"reports may not be read", ofOrders, refused("GetInsightRuleReport", "AccessDeniedException"), [2]string{}, 1, "allow cloudwatch:GetInsightRuleReport"},
	{"whether it is enabled may not be asked", ofOrders, refused("DescribeContributorInsights", "AccessDeniedException"), [2]string{}, 1, "allow dynamodb:DescribeContributorInsights"},
	{"an expired token", ofOrders, refused("DescribeContributorInsights", "ExpiredTokenException"), [2]string{}, 1, "the AWS credentials have expired"},
	{"no such table, or the wrong Region", "--contributor-insights order", nil, [2]string{}, 1, "there is no such table or index"},
	{"nothing answers", ofOrders, nil, [2]string{"AWS_ENDPOINT_URL", "http://127.0.0.1:1"}, 1, "no answer"},
	{"no credentials", ofOrders, nil, [2]string{"AWS_ACCESS_KEY_ID", ""}, 78, "there are no AWS credentials"},
	{"no Region", ofOrders, nil, [2]string{"AWS_REGION", ""}, 78, "AWS_REGION"},
	{"files beside it", ofOrders + " requests", nil, [2]string{}, 78, "remove requests"},
	{"an index of no table", "--index by-status", nil, [2]string{}, 78, "name its table with --contributor-insights"},
	{"more hours than a report covers", ofOrders + " --last 36h", nil, [2]string{}, 78, "give 1m to 24h"},
	{"what needs single requests", ofOrders + " --explain acme", nil, [2]string{}, 78, "give it with --stream orders"},
	{"a form that it does not have", ofOrders + " -o html", nil, [2]string{}, 78, "give one of table, json, csv"},
}

// minute and clock match times, which differ in every run.
var (
	minute = regexp.MustCompile(`[0-9-]{10}T[0-9:]{8}Z`)
	clock  = regexp.MustCompile(`\b\d\d:\d\d\b`)
)

func withoutTimes(text string) string {
	return clock.ReplaceAllString(minute.ReplaceAllString(text, "…"), "hh:mm")
}

// environment has the SDK ask this CloudWatch.
func (w *insightsWorld) environment(t *testing.T) {
	t.Helper()
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": w.URL, "AWS_REGION": "eu-west-1", "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b",
		"AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
		"AWS_PROFILE": "", "AWS_DEFAULT_REGION": "",
	} {
		t.Setenv(name, value)
	}
}

// run runs analyze in the world of a story.
func (s *insightsStory) run(t *testing.T, more ...string) (code int, out, errs string) {
	t.Helper()
	w := &insightsWorld{cloudwatchtest.New(t), time.Now()}
	w.enable("", "ACCESSED_AND_THROTTLED_KEYS", "PKC", "SKC", "PKT", "SKT")
	if s.made != nil {
		s.made(w)
	}
	w.environment(t)
	if s.env[0] != "" {
		t.Setenv(s.env[0], s.env[1])
	}
	var o, e bytes.Buffer
	args := append(append([]string{"analyze"}, strings.Fields(s.args)...), more...)
	code = cli.Run(t.Context(), command(), args, cli.Streams{Out: &o, Err: &e})
	return code, withoutTimes(o.String()), withoutTimes(e.String())
}

// TestContributorInsights runs analyze on every story. What the first one prints is
// testdata/insights.golden.
func TestContributorInsights(t *testing.T) {
	for i, s := range insightsStories {
		t.Run(s.story, func(t *testing.T) {
			code, out, errs := s.run(t)
			if code != s.code || !strings.Contains(plain(errs+out), plain(s.says)) {
				t.Errorf("exit code %d, want %d with %q:\n%s%s", code, s.code, s.says, errs, out)
			}
			if strings.Contains(out, "No hot keys") {
				t.Errorf("a clean bill of health:\n%s", out)
			}
			if i == 0 {
				golden(t, "testdata/insights.golden", out)
			}
		})
	}
}

// plain is a text without its times and lines.
func plain(text string) string { return strings.Join(strings.Fields(withoutTimes(text)), " ") }

func golden(t *testing.T, file, text string) {
	t.Helper()
	if *update {
		must.Succeed(t, os.WriteFile(file, []byte(text), 0o600))
		return
	}
	want, err := os.ReadFile(file) //nolint:gosec // a test's own file
	if err != nil || text != string(want) {
		t.Errorf("%s differs (%v): run with -update, and read the difference", file, err)
	}
}

// TestContributorInsightsAsJSON: the JSON form follows the published schema.
func TestContributorInsightsAsJSON(t *testing.T) {
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	schema, err := compiler.Compile("../../docs/findings.schema.json")
	must.Succeed(t, err)
	for _, s := range insightsStories[:13] {
		_, out, errs := s.run(t, "-o", "json")
		document, err := jsonschema.UnmarshalJSON(strings.NewReader(strings.ReplaceAll(out, "…", "2026-11-21T12:00:00Z")))
		if err != nil {
			t.Fatalf("%v: %s%s", err, out, errs)
		}
		if err := schema.Validate(document); err != nil {
			t.Errorf("%s: %v", s.story, err)
		}
	}
}

// TestContributorInsightsHidesKeys: what a policy hides is not shown.
func TestContributorInsightsHidesKeys(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"policy.yaml": "policy: {keys: hmac}\n", "secret": strings.Repeat("s", 40)} {
		must.Succeed(t, os.WriteFile(dir+"/"+name, []byte(text), 0o600))
	}
	code, out, errs := insightsStories[0].run(t, "--tables", dir+"/policy.yaml", "--keys-secret-file", dir+"/secret")
	if code != 0 || strings.Contains(out, "acme") || strings.Contains(out, "invoice") || !strings.Contains(out, "“~") {
		t.Errorf("exit code %d: %s%s", code, errs, out)
	}
}

// TestStartWithContributorInsights runs the commands of docs/START.md for Contributor
// Insights as they stand, on a table as its page has it: what the page shows below a block
// is in what the last command prints.
func TestStartWithContributorInsights(t *testing.T) {
	page, err := os.ReadFile("../../docs/START.md")
	must.Succeed(t, err)
	_, section, _ := strings.Cut(string(page), "## From Contributor Insights\n")
	section, _, _ = strings.Cut(section, "\n## ")
	w := &insightsWorld{cloudwatchtest.New(t), time.Now()}
	w.enable("", "ACCESSED_AND_THROTTLED_KEYS", "PKC", "SKC", "PKT", "SKT")
	writes(w)
	w.Describe("orders", "by-status", cloudwatchtest.Insights{Status: "ENABLED", Mode: "ACCESSED_AND_THROTTLED_KEYS", Rules: []string{ruleName("PKC") + "-index"}})
	for _, ago := range some {
		w.Contribute(ruleName("PKC")+"-index", w.ago(ago), 198_000, "OPEN")
		w.Put(cloudwatchtest.Metric{Table: "orders", Index: "by-status", Name: string(corroboration.ConsumedWrite)}, w.ago(ago), 70_000)
	}
	w.environment(t)
	output, run, shown := "", 0, 0
	for _, block := range strings.Split(section, "\n```")[1:] {
		language, text, _ := strings.Cut(block, "\n")
		for line := range strings.Lines(text) {
			if args, is := strings.CutPrefix(line, "bin/reporter "); is && language == "shell" {
				var out bytes.Buffer
				cli.Run(t.Context(), command(), strings.Fields(args), cli.Streams{Out: &out, Err: &out}) // its exit code is said in what it prints
				output, run = out.String(), run+1
			}
			if language == "console" {
				if shown++; !strings.Contains(plain(output), plain(line)) {
					t.Errorf("%q is not in\n%s", line, output)
				}
			}
		}
	}
	if run != 3 || shown != 8 {
		t.Errorf("%d commands ran, %d lines were compared", run, shown)
	}
}
