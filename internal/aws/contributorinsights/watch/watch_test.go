package watch_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/contributors"
	"github.com/keyheat/keyheat/detect/sampling"
	"github.com/keyheat/keyheat/internal/aws/contributorinsights"
	"github.com/keyheat/keyheat/internal/aws/contributorinsights/watch"
	"github.com/keyheat/keyheat/internal/judge/heat"
	"github.com/keyheat/keyheat/internal/keys/keypolicy"
	"github.com/keyheat/keyheat/internal/testsupport/cloudwatchtest"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

const (
	accessed  = "DynamoDBContributorInsights-PKC-orders-1576629651520"
	throttled = "DynamoDBContributorInsights-PKT-orders-1576629651520"
)

var (
	orders   = sample.Target{Table: "orders"}
	byStatus = sample.Target{Table: "orders", Index: "by-status"}
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// scenario is a store, an AWS and a watcher of it.
type scenario struct {
	t       *testing.T
	store   *store.Store
	server  *cloudwatchtest.Server
	options watch.Options
	watcher *watch.Watcher
	logs    bytes.Buffer
	regions map[string]bool
	judges  bool
	now     time.Time
	// ahead is how far the database's clock has gone on since now.
	ahead time.Duration
}

// clocked is a store whose clock a test can set forward.
type clocked struct {
	*store.Store
	of *scenario
}

func (c clocked) Now(ctx context.Context) (time.Time, error) {
	now, err := c.Store.Now(ctx)
	return now.Add(c.of.ahead), err
}

// newScenario returns one in which the table orders has Contributor Insights, an open
// incident and samples of the key hot, 66,000 units of which it wrote 10 minutes ago.
func newScenario(t *testing.T) *scenario {
	t.Helper()
	st, err := store.Open(t.Context(), "sqlite::memory:", store.Options{Migrate: true})
	must(t, err)
	t.Cleanup(func() { _ = st.Close() })
	s := &scenario{t: t, store: st, server: cloudwatchtest.New(t), regions: map[string]bool{}, judges: true, now: time.Now().UTC()}
	tables := dynamodb.New(dynamodb.Options{
		Region: "eu-west-1", BaseEndpoint: aws.String(s.server.URL), Retryer: aws.NopRetryer{},
		Credentials: credentials.NewStaticCredentialsProvider("AKID", "secret", ""),
	})
	s.options = watch.Options{
		Clients: func(region string) (contributorinsights.API, contributorinsights.Tables) {
			s.regions[region] = true
			return s.server.Client(), tables
		},
		Store: clocked{st, s}, Budget: func(time.Time) float64 { return 50 }, Judges: func() bool { return s.judges }, Log: slog.New(slog.NewTextHandler(&s.logs, nil)),
	}
	s.watcher = watch.New(s.options)
	s.server.Describe("orders", "", cloudwatchtest.Insights{Status: "ENABLED", Rules: []string{accessed, throttled}})
	s.incident(orders, detect.CauseHotKey, detect.Firing)
	s.sampled(orders, sample.KeyString("hot"))
	return s
}

// ago is a minute before now.
func (s *scenario) ago(minutes int) time.Time {
	return s.now.Truncate(time.Minute).Add(-time.Duration(minutes) * time.Minute)
}

// judge writes what a judge found.
func (s *scenario) judge(j store.Judgement) {
	s.t.Helper()
	lease, _, err := s.store.AcquireLease(s.t.Context(), "judge", "test", time.Minute)
	must(s.t, err)
	must(s.t, s.store.Judge(s.t.Context(), lease, j))
}

// incident gives a target an incident; CloudWatch was read for it.
func (s *scenario) incident(of sample.Target, cause detect.Cause, state detect.State) {
	s.t.Helper()
	s.unread(of, cause, state)
	must(s.t, s.store.PutCloudWatch(s.t.Context(), store.CloudWatchRead{Target: of, State: "read", Through: s.ago(1)}, nil))
}

// unread gives a target an incident before CloudWatch was read for it.
func (s *scenario) unread(of sample.Target, cause detect.Cause, state detect.State) {
	s.t.Helper()
	s.judge(store.Judgement{Incidents: []store.Incident{{
		ID: of.Name() + of.Region + string(cause), Cause: string(cause), Target: of, Severity: "critical", State: string(state),
		OpenedAt: s.now, LastSeen: s.now, Revision: 1, Document: []byte("{}"),
	}}})
}

// sampled gives a target the roll-up of a minute, in which a key wrote 66,000 units.
func (s *scenario) sampled(of sample.Target, key sample.Key) {
	s.t.Helper()
	second := sampling.Interval{Value: 1_200_000, Low: 1_200_000, High: 1_200_000}
	body, err := (&heat.Rollup{Seconds: 60, Keys: []heat.Key{{Key: key, Seconds: 60, Write: heat.Side{Max: second, Sum: 70_000_000, Throttled: 4_000_000}}}}).MarshalBinary()
	must(s.t, err)
	s.judge(store.Judgement{Rollups: []store.Rollup{{Target: of, Level: int64(heat.Minute), Begins: s.ago(10), Body: body}}})
}

func (s *scenario) pass() { s.t.Helper(); must(s.t, s.watcher.Pass(s.t.Context())) }

func (s *scenario) of(target sample.Target) contributors.Reading {
	s.t.Helper()
	r := s.watcher.Readings()[target]
	if r == nil {
		s.t.Fatalf("nothing was read of %s", target.Name())
	}
	return *r
}

// TestAReading: what both rules list, and what the samples show of the same minutes.
func TestAReading(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.server.Contribute(accessed, s.ago(10), 198_000, "hot")
	s.server.Contribute(accessed, s.ago(3), 198_000, "too young")
	s.server.Contribute(accessed, s.ago(60), 198_000, "too old")
	s.server.Contribute(throttled, s.ago(10), 40, "hot")
	s.pass()
	r := s.of(orders)
	if r.Unread != "" || !r.Accessed.Exists || !r.Throttled.Exists || len(r.Accessed.Series) != 1 || len(r.Throttled.Series) != 1 ||
		r.Accessed.Series[0].Points[0] != (contributors.Point{At: s.ago(10), Value: 198_000}) || r.Names["hot"] != "hot" {
		t.Errorf("read is %+v", r)
	}
	if r.To.Sub(r.From) != watch.Span || s.now.Sub(r.To) < 4*time.Minute {
		t.Errorf("it is of %s to %s, at %s", r.From, r.To, s.now)
	}
	got := r.Sampled[s.ago(10).Unix()]["hot"]
	if got.Served.Write != 66_000 || got.Served.Read != 0 || got.Peak != 1.2 || !r.SampledTo.Equal(s.ago(9)) {
		t.Errorf("the samples show %+v up to %s", got, r.SampledTo)
	}
}

// TestWhatIsDue: only tables with an open incident of a hot key are read, once in five
// minutes, by the process that judges, in their Region, and what that costs counts in the
// month.
func TestWhatIsDue(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.server.Describe("orders", "by-status", cloudwatchtest.Insights{Status: "ENABLED", Rules: []string{"DynamoDBContributorInsights-PKT-by-status"}})
	ireland := sample.Target{Account: "123456789012", Region: "eu-west-1", Table: "orders"}
	s.incident(ireland, detect.CauseHotKey, detect.Resolved)
	s.incident(sample.Target{Table: "starved"}, detect.CauseStarvation, detect.Firing)
	s.unread(sample.Target{Table: "new"}, detect.CauseHotKey, detect.Firing)
	s.judges = false
	s.pass()
	if s.server.Reports() != 0 {
		t.Fatal("a process that does not judge reads")
	}
	s.judges = true
	s.pass()
	s.pass()
	s.ahead = 4 * time.Minute
	s.pass()
	if n := s.server.Reports(); n != 2 || len(s.watcher.Readings()) != 1 || !s.regions[""] || len(s.regions) != 1 {
		t.Errorf("%d reports of %v in Regions %v, want 2 of orders", n, s.watcher.Readings(), s.regions)
	}
	s.incident(ireland, detect.CauseHotKey, detect.Firing)
	s.incident(byStatus, detect.CauseHotKey, detect.Pending)
	s.ahead = 6 * time.Minute
	s.pass()
	if n := s.server.Reports(); n != 2+2+2+1 || !s.regions["eu-west-1"] {
		t.Errorf("%d reports in Regions %v, want two more of orders and of Ireland, and one of the index", n, s.regions)
	}
	if r := s.of(byStatus); r.Accessed.Exists || !r.Throttled.Exists {
		t.Errorf("of an index with one rule is read %+v", r)
	}
	reads, err := s.store.CloudWatchReads(t.Context())
	must(t, err)
	charged := int64(0)
	for _, read := range reads {
		charged += read.Requested
	}
	if charged != 7 {
		t.Errorf("%d reports are charged, want 7", charged)
	}
	s.incident(orders, detect.CauseHotKey, detect.Resolved)
	s.ahead = time.Hour
	s.pass()
	if _, kept := s.watcher.Readings()[orders]; kept {
		t.Error("what was read an hour ago is kept")
	}
}

// TestUnread: what cannot be read is said, and is not the end of what was.
func TestUnread(t *testing.T) {
	t.Parallel()
	refuse := func(operation, code string) func(*scenario) {
		return func(s *scenario) {
			s.server.FailAll(operation, cloudwatchtest.Failure{Status: 400, Code: code, Message: "no"})
		}
	}
	for name, c := range map[string]struct {
		prepare func(*scenario)
		says    string
	}{
		"not enabled": {func(s *scenario) {
			s.server.Describe("orders", "", cloudwatchtest.Insights{Status: "DISABLED"})
		}, "is not enabled: enable it"},
		"a rule that is disabled": {func(s *scenario) { s.server.Disable(accessed) }, "aws cloudwatch enable-insight-rules"},
		"denied to describe":      {refuse("DescribeContributorInsights", "AccessDeniedException"), "allow dynamodb:DescribeContributorInsights"},
		"denied to read":          {refuse("GetInsightRuleReport", "AccessDenied"), "allow cloudwatch:GetInsightRuleReport"},
		"expired":                 {refuse("GetInsightRuleReport", "ExpiredToken"), "expired"},
		"no such table": {func(s *scenario) {
			s.server.FailAll("DescribeContributorInsights", cloudwatchtest.Failure{Status: 400, Code: "ResourceNotFoundException", Message: "no"})
		}, "there is no such table or index"},
		"no budget": {func(s *scenario) {
			must(s.t, s.store.ChargeCloudWatch(s.t.Context(), orders, int64(50/contributorinsights.Price)))
		}, "cloudwatch.monthly_cost"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, before := range []bool{false, true} {
				s := newScenario(t)
				if before {
					s.server.Contribute(accessed, s.ago(10), 198_000, "hot")
					s.pass()
					if len(s.of(orders).Accessed.Series) != 1 {
						t.Fatal("nothing was read")
					}
					s.ahead = 6 * time.Minute
				}
				c.prepare(s)
				s.pass()
				if r := s.of(orders); before != (r.Unread == "") || !before && !strings.Contains(r.Unread, c.says) {
					t.Errorf("with an earlier reading %t, there is %+v", before, r)
				}
				if n := strings.Count(s.logs.String(), "tells nothing of a table"); n != 1 {
					t.Errorf("the log says so %d times:\n%s", n, &s.logs)
				}
				s.ahead = 2 * watch.Span
				s.pass()
				if r := s.of(orders); !strings.Contains(r.Unread, c.says) {
					t.Errorf("an hour later there is %+v", r)
				}
			}
		})
	}
}

// TestHiddenKeys: keys are hashed as the collectors hash them, whatever their type, and
// nothing keeps the keys themselves.
func TestHiddenKeys(t *testing.T) {
	t.Parallel()
	secrets, err := keypolicy.ParseSecrets("c2l4dGVlbiBieXRlcyBhdCBsZWFzdA==")
	must(t, err)
	policy, err := keypolicy.Parse("hmac")
	must(t, err)
	for _, key := range []sample.Key{sample.KeyString("canary"), {Type: sample.TypeNumber, Text: "90017734211"}} {
		s := newScenario(t)
		hider := keypolicy.NewHider(func(sample.Target) keypolicy.Policy { return policy }, secrets)
		s.options.Hashes = hider.Hashes
		s.watcher = watch.New(s.options)
		record := sample.Record{Table: "orders", PK: key, Time: s.now.UnixMilli()}
		hider.Hide(&record)
		s.sampled(orders, record.PK)
		s.server.Contribute(accessed, s.ago(10), 198_000, key.Text)
		s.server.Contribute(throttled, s.ago(10), 40, key.Text)
		s.pass()
		r := s.of(orders)
		id := r.Names[record.PK.Text]
		if !r.Hashes || id == "" || r.Accessed.Series[0].Keys[0] != id || r.Throttled.Series[0].Keys[0] != id || r.Sampled[s.ago(10).Unix()][record.PK.Text].Peak == 0 {
			t.Errorf("the hash %s is not known in %+v", record.PK.Text, r)
		}
		if all := fmt.Sprintf("%+v %s", r, &s.logs); strings.Contains(all, key.Text) {
			t.Errorf("the key is in %s", all)
		}
		f := detect.NewFinding(detect.HotKeyWrite, orders, record.PK)
		f.FirstSeen, f.LastSeen = s.ago(10), s.ago(9).Add(-time.Second)
		if said := r.Assess(&f, nil, 0.8); said.Verdict != detect.CountedThrottled || !strings.Contains(said.Why, "40 requests, retries among them, were throttled") {
			t.Errorf("of the finding it says %+v", said)
		}
	}
}

// TestNumbersAndStrings: 042 and 42 are two keys of a table of strings.
func TestNumbersAndStrings(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	for i, key := range []string{"042", "42", "0042"} {
		s.server.Contribute(accessed, s.ago(10), float64(1000*(i+1)), key)
	}
	s.pass()
	r := s.of(orders)
	for _, key := range []string{"042", "42", "0042"} {
		if r.Names[key] != key {
			t.Errorf("the key %s is taken for %s", key, r.Names[key])
		}
	}
}
