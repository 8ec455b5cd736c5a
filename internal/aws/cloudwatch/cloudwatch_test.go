package cloudwatch_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/corroboration"
	"github.com/keyheat/keyheat/internal/aws/cloudwatch"
	"github.com/keyheat/keyheat/internal/testsupport/cloudwatchtest"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		// The SDK's client keeps its idle connections.
		goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"), goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"))
}

func must(t *testing.T, err error) {
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
}

// scenario is a store, a CloudWatch and a reader of it.
type scenario struct {
	t      *testing.T
	store  *store.Store
	server *cloudwatchtest.Server
	reader *cloudwatch.Reader
	logs   *bytes.Buffer
	// regions are those whose client was asked for.
	regions map[string]bool
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

func newScenario(t *testing.T, c cloudwatch.Config) *scenario {
	t.Helper()
	st, err := store.Open(t.Context(), "sqlite::memory:", store.Options{Migrate: true})
	must(t, err)
	t.Cleanup(func() { _ = st.Close() })
	s := &scenario{t: t, store: st, server: cloudwatchtest.New(t), logs: &bytes.Buffer{}, regions: map[string]bool{}, now: time.Now().UTC()}
	s.reader = s.newReader(c, "one")
	return s
}

func (s *scenario) newReader(c cloudwatch.Config, holder string) *cloudwatch.Reader {
	s.t.Helper()
	client := func(region string) cloudwatch.API { s.regions[region] = true; return s.server.Client() }
	r, err := cloudwatch.New(c, client, clocked{s.store, s}, holder, slog.New(slog.NewTextHandler(s.logs, nil)))
	must(s.t, err)
	return r
}

// sampled gives tables a second that the samples show, so that they are active, and an
// open incident where one is wanted.
func (s *scenario) sampled(incident bool, targets ...sample.Target) {
	s.t.Helper()
	lease, _, err := s.store.AcquireLease(s.t.Context(), "judge", "test", time.Minute)
	must(s.t, err)
	var j store.Judgement
	for _, target := range targets {
		j.Windows = append(j.Windows, store.Window{Target: target, Second: s.now.Add(-time.Minute)})
		if incident {
			j.Incidents = append(j.Incidents, store.Incident{
				ID: target.Name(), Case: "hot_key", Subject: "key_writes", Target: target, Severity: "critical", State: "firing",
				OpenedAt: s.now, LastSeen: s.now, Revision: 1, Document: []byte("{}"),
			})
		}
	}
	must(s.t, s.store.Judge(s.t.Context(), lease, j))
}

// put reports a metric of the table orders in a minute before now.
func (s *scenario) put(target sample.Target, metric detect.Metric, ago int, value float64) {
	s.server.Put(cloudwatchtest.Metric{Table: target.Table, Index: target.Index, Name: string(metric)}, s.minute(ago), value)
}

func (s *scenario) minute(ago int) time.Time {
	return s.now.Truncate(time.Minute).Add(-time.Duration(ago) * time.Minute)
}

func (s *scenario) pass() { s.t.Helper(); must(s.t, s.reader.Pass(s.t.Context())) }

func (s *scenario) read(target sample.Target) store.CloudWatchRead {
	s.t.Helper()
	reads, err := s.store.CloudWatchReads(s.t.Context())
	must(s.t, err)
	for _, r := range reads {
		if r.Target == target {
			return r
		}
	}
	return store.CloudWatchRead{}
}

func (s *scenario) minutes(target sample.Target) []store.CloudWatchMinute {
	s.t.Helper()
	all, err := s.store.CloudWatchMinutes(s.t.Context(), target, time.Time{})
	must(s.t, err)
	return all
}

var (
	orders   = sample.Target{Table: "orders"}
	byStatus = sample.Target{Table: "orders", Index: "by-status"}
)

// TestMinutesAreStored: what CloudWatch reports of a table and of its index is stored by
// minute, over several pages; what it does not report is not there.
func TestMinutesAreStored(t *testing.T) {
	t.Parallel()
	s := newScenario(t, cloudwatch.Config{})
	s.sampled(false, orders, byStatus)
	s.server.Pages(2)
	for ago := 10; ago < 13; ago++ {
		s.put(orders, corroboration.ConsumedWrite, ago, float64(100*ago))
		s.put(orders, corroboration.ConsumedWrite, ago, 1) // two partitions add up
	}
	s.put(orders, corroboration.WriteKeyRangeThrottles, 11, 7)
	s.put(byStatus, corroboration.ConsumedRead, 11, 0)
	s.pass()
	got := s.minutes(orders)
	if len(got) != 3 || got[0].Metrics["ConsumedWriteCapacityUnits"] != 1201 || len(got[0].Metrics) != 1 ||
		got[1].Metrics["WriteKeyRangeThroughputThrottleEvents"] != 7 || !got[2].Minute.Equal(s.minute(10)) {
		t.Errorf("stored are %+v", got)
	}
	if index := s.minutes(byStatus); len(index) != 1 || len(index[0].Metrics) != 1 {
		t.Errorf("of the index are stored %+v: zero is a value", index)
	}
	if r := s.read(orders); r.State != "read" || r.Requested != 6 || s.now.Sub(r.Through) > 2*time.Minute {
		t.Errorf("the reading is %+v", r)
	}
	if calls, asked := s.server.Asked(); calls != 3 || asked != 12 {
		t.Errorf("%d calls asked for %d metrics, want 3 for 12", calls, asked)
	}
}

// TestWhatIsDue: a table is read again after its pause, sooner and with more metrics
// while it has an open incident; one process of two reads; each Region has its client.
func TestWhatIsDue(t *testing.T) {
	t.Parallel()
	s := newScenario(t, cloudwatch.Config{Tables: []string{"audit", "orders"}})
	ireland := sample.Target{Account: "123456789012", Region: "eu-west-1", Table: "orders"}
	s.sampled(false, orders, ireland)
	s.pass()
	if _, asked := s.server.Asked(); asked != 3*6 {
		t.Fatalf("%d metrics of three tables are asked for, want 18", asked)
	}
	if !s.regions[""] || !s.regions["eu-west-1"] || len(s.regions) != 2 {
		t.Errorf("clients of the Regions %v", s.regions)
	}
	s.ahead = 4 * time.Minute
	s.pass()
	s.ahead = time.Hour
	must(t, s.newReader(cloudwatch.Config{}, "two").Pass(t.Context()))
	if _, asked := s.server.Asked(); asked != 18 {
		t.Errorf("%d metrics were asked for: a table was read before its time, or by a second process", asked)
	}
	s.ahead = 2 * time.Minute
	s.sampled(true, orders)
	s.pass()
	if _, asked := s.server.Asked(); asked != 18+12 {
		t.Errorf("%d metrics were asked for when orders had an incident, want 12 more", asked-18)
	}
	if r := s.read(sample.Target{Table: "audit"}); r.State != "no_data" {
		t.Errorf("a table without data is %+v", r)
	}
}

// TestTheMonthsBudget: readings beyond it are left out, and that is said once.
func TestTheMonthsBudget(t *testing.T) {
	t.Parallel()
	// A thousandth of a dollar is 100 metrics, of which half a month has half.
	s := newScenario(t, cloudwatch.Config{MonthlyCost: 0.001})
	middle := time.Date(s.now.Year(), s.now.Month(), 15, 0, 0, 0, 0, time.UTC)
	s.now, s.ahead = middle, middle.Sub(s.now)
	var targets []sample.Target
	for n := range 40 {
		targets = append(targets, sample.Target{Table: fmt.Sprintf("t%02d", n)})
	}
	s.sampled(false, targets...)
	s.pass()
	s.pass()
	_, asked := s.server.Asked()
	if cost := float64(asked) * cloudwatch.Price; cost > cloudwatch.AllowedRequests(0.001, s.now.Add(time.Hour)) || asked == 0 {
		t.Errorf("%d metrics cost $%g, want some, within the budget's share", asked, cost)
	}
	if n := strings.Count(s.logs.String(), "budget is used up"); n != 1 {
		t.Errorf("the budget is said %d times, want once:\n%s", n, s.logs)
	}
	first := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	for at, want := range map[time.Time]float64{first: 1, first.AddDate(0, 0, 13): 14, first.AddDate(0, 0, 27).Add(23 * time.Hour): 28} {
		if got := cloudwatch.AllowedRequests(28, at); math.Abs(got-want) > 1e-9 {
			t.Errorf("of 28 dollars in February %g may be spent by %s, want %g", got, at, want)
		}
	}
}

// TestFailures: no data, denied and failed are kept apart, what was read stays, and a
// table that can be read again is.
func TestFailures(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prepare func(*scenario)
		state   corroboration.State
		says    string
	}{
		"denied": {func(s *scenario) {
			s.server.Fail(cloudwatchtest.Failure{Status: 403, Code: "AccessDenied", Message: "no"})
		}, corroboration.Denied, "allow cloudwatch:GetMetricData"},
		"denied by the older name": {func(s *scenario) {
			s.server.Fail(cloudwatchtest.Failure{Status: 403, Code: "AccessDeniedException", Message: "no"})
		}, corroboration.Denied, "allow cloudwatch:GetMetricData"},
		"expired": {func(s *scenario) {
			s.server.Fail(cloudwatchtest.Failure{Status: 403, Code: "ExpiredTokenException", Message: "old"})
		}, corroboration.Failed, "renew them"},
		"throttled": {func(s *scenario) {
			s.server.Fail(cloudwatchtest.Failure{Status: 400, Code: "ThrottlingException", Message: "Rate exceeded"})
		}, corroboration.Failed, "Rate exceeded"},
		"one metric forbidden": {func(s *scenario) {
			s.server.Status(cloudwatchtest.Metric{Table: "orders", Name: string(corroboration.ReadThrottles)}, "Forbidden")
		}, corroboration.Denied, "allow cloudwatch:GetMetricData"},
		"partial data": {func(s *scenario) {
			s.server.Status(cloudwatchtest.Metric{Table: "orders", Name: string(corroboration.ConsumedRead)}, "PartialData")
		}, corroboration.Failed, "a part of ConsumedReadCapacityUnits"},
		"an internal error": {func(s *scenario) {
			s.server.Status(cloudwatchtest.Metric{Table: "orders", Name: string(corroboration.ConsumedRead)}, "InternalError")
		}, corroboration.Failed, "failed to read ConsumedReadCapacityUnits"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScenario(t, cloudwatch.Config{})
			s.sampled(false, orders)
			must(t, s.store.PutCloudWatch(t.Context(), store.CloudWatchRead{Target: orders, State: "read", Through: s.minute(30)},
				[]store.CloudWatchMinute{{Target: orders, Minute: s.minute(31), Metrics: map[string]float64{"ConsumedWriteCapacityUnits": 5}}}))
			s.put(orders, corroboration.ConsumedWrite, 10, 7)
			c.prepare(s)
			s.pass()
			if calls, _ := s.server.Asked(); calls != 0 {
				t.Fatal("a table is read before its time")
			}
			s.ahead = 10 * time.Minute
			s.pass()
			r := s.read(orders)
			if r.State != string(c.state) || !strings.Contains(r.Message, c.says) || !r.Through.Equal(s.minute(30)) {
				t.Errorf("the reading is %+v", r)
			}
			if got := s.minutes(orders); len(got) == 0 || got[0].Metrics["ConsumedWriteCapacityUnits"] != 5 {
				t.Errorf("what was read before is gone: %+v", got)
			}
			if !strings.Contains(s.logs.String(), "tells nothing of a table") {
				t.Errorf("the log has %s", s.logs)
			}
		})
	}
}
