package publish_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/bits"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/internal/aws/cloudwatch/publish"
	"github.com/keyheat/keyheat/internal/testsupport/cloudwatchtest"
	"github.com/keyheat/keyheat/rollup"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// clocked is a store with a clock of the test's own.
type clocked struct {
	*store.Store
	now time.Time
}

func (c *clocked) Now(context.Context) (time.Time, error) { return c.now, nil }

var (
	orders  = sample.Target{Account: "111122223333", Region: "eu-west-1", Table: "orders"}
	byState = sample.Target{Account: "111122223333", Region: "eu-west-1", Table: "orders", Index: "by-state"}
	carts   = sample.Target{Region: "us-east-1", Table: "carts"}
)

// world is a store with four minutes from a time on, each with more load. The
// third was seen in part.
func world(t *testing.T, from time.Time) *clocked {
	t.Helper()
	s, err := store.Open(t.Context(), "sqlite::memory:", store.Options{})
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	var j store.Judgement
	for n := range 4 {
		at := from.Add(time.Duration(n) * time.Minute)
		seconds := uint64(1<<60 - 1)
		if n == 2 {
			seconds >>= 20
		}
		j.Seen = append(j.Seen, store.SeenMinute{Minute: at, Seconds: seconds})
		for _, of := range []sample.Target{orders, byState, carts} {
			w := &sketch.Window{Target: of, Second: at.Unix()}
			for k, wcu := range []int{500, 900 + 100*n} {
				if of == carts {
					wcu /= 10
				}
				w.Keys = append(w.Keys, sketch.KeyLoad{Hash: uint64(k + 1), Key: sample.KeyString(fmt.Sprint("key-", k)), Requests: 1, Low: sketch.Load{Write: sample.Milli(1000 * wcu)}})
			}
			body, err := rollup.OfSecond(w, true).MarshalBinary()
			must(t, err)
			j.Rollups = append(j.Rollups, store.Rollup{Target: of, Level: int64(rollup.Minute), Begins: at, Body: body})
		}
	}
	document, err := json.Marshal(detect.Table{Target: orders, CloudWatch: &detect.TableCloudWatch{Write: &detect.Figure{Value: 0.34, Low: 0.3, High: 0.4}}})
	must(t, err)
	j.Views = append(j.Views, store.TargetDocument{Target: orders, Document: document})
	j.Incidents = append(j.Incidents, store.Incident{
		ID: "hot", Target: orders, Case: string(casebook.HotKey), Subject: string(detect.KeyWrites), Severity: "critical", State: string(detect.Firing), OpenedAt: from, LastSeen: from, Document: []byte(`{}`),
	})
	l, ok, err := s.AcquireLease(t.Context(), "judge", "test", time.Minute)
	if err != nil || !ok {
		t.Fatalf("lease: %t, %v", ok, err)
	}
	must(t, s.Judge(t.Context(), l, j))
	return &clocked{Store: s}
}

func open(t *testing.T, c publish.Config, s publish.Store, to *cloudwatchtest.Server, holder string) *publish.Publisher {
	t.Helper()
	p, err := publish.New(c, func(region string) publish.API {
		if region == "" {
			region = "eu-central-1"
		}
		return to.ClientIn(region)
	}, s, holder, slog.New(slog.DiscardHandler))
	must(t, err)
	return p
}

// lines are what was written, one line each, in order.
func lines(all []cloudwatchtest.Written, from time.Time) (told []string) {
	for _, w := range all {
		told = append(told, fmt.Sprintf("%d %s %s %s{%s} %.0f %s", int(w.At.Sub(from).Minutes()), w.Region, w.Namespace, w.Name, w.Dimensions, w.Value, w.Unit))
	}
	slices.Sort(told)
	return told
}

// minutesAgo is the beginning of a minute.
func minutesAgo(n int) time.Time {
	return time.Now().Add(-time.Duration(n) * time.Minute).Truncate(time.Minute).UTC()
}

// TestAMinuteIsWrittenOnce: what is known of the newest minute that is over for a while,
// in the Region of each table, and no figure of what is not known.
func TestAMinuteIsWrittenOnce(t *testing.T) {
	t.Parallel()
	from := minutesAgo(10)
	s, to := world(t, from), cloudwatchtest.New(t)
	p, other := open(t, publish.Config{}, s, to, "a"), open(t, publish.Config{}, s, to, "b")
	for _, seconds := range []int{125, 130, 179} { // of which minute 0 is the newest
		s.now = from.Add(time.Duration(seconds) * time.Second)
		must(t, p.Pass(t.Context()))
		must(t, other.Pass(t.Context()))
	}
	written, _ := to.Written()
	want := []string{
		"0 eu-central-1 Keyheat SecondsCounted{} 60 Count",
		"0 eu-west-1 Keyheat FiringIncidents{TableName=orders,AccountId=111122223333} 1 Count",
		"0 eu-west-1 Keyheat FiringIncidents{TableName=orders,GlobalSecondaryIndexName=by-state,AccountId=111122223333} 0 Count",
		"0 eu-west-1 Keyheat HighestUtilization{TableName=orders,AccountId=111122223333} 90 Percent",
		"0 eu-west-1 Keyheat HighestUtilization{TableName=orders,GlobalSecondaryIndexName=by-state,AccountId=111122223333} 90 Percent",
		"0 eu-west-1 Keyheat HotKeys{TableName=orders,AccountId=111122223333} 0 Count",
		"0 eu-west-1 Keyheat HotKeys{TableName=orders,GlobalSecondaryIndexName=by-state,AccountId=111122223333} 0 Count",
		"0 eu-west-1 Keyheat WriteCoverage{TableName=orders,AccountId=111122223333} 34 Percent",
		"0 us-east-1 Keyheat FiringIncidents{TableName=carts} 0 Count",
		"0 us-east-1 Keyheat HighestUtilization{TableName=carts} 9 Percent",
		"0 us-east-1 Keyheat HotKeys{TableName=carts} 0 Count",
	}
	if got := lines(written, from); !slices.Equal(got, want) {
		t.Errorf("written is\n%s", strings.Join(got, "\n"))
	}

	// A minute that was not counted has no counts, and none says that all is well.
	s.now = from.Add(-10 * time.Minute)
	p = open(t, publish.Config{}, s, to, "a")
	must(t, p.Pass(t.Context()))
	now, _ := to.Written()
	if got := lines(now[len(written):], from); !slices.Equal(got, []string{"-12 eu-west-1 Keyheat WriteCoverage{TableName=orders,AccountId=111122223333} 34 Percent"}) {
		t.Errorf("of a minute that nobody counted is written\n%s", strings.Join(got, "\n"))
	}
}

// TestARegionThatIsAway: its minutes are written when it is back, in order and once, and
// the others' meanwhile.
func TestARegionThatIsAway(t *testing.T) {
	t.Parallel()
	from := minutesAgo(10)
	s, to := world(t, from), cloudwatchtest.New(t)
	p := open(t, publish.Config{}, s, to, "a")
	for n := range 4 {
		to.Away("us-east-1", cloudwatchtest.Failure{Status: http.StatusInternalServerError, Code: "InternalServiceFault", Message: "away"})
		if n == 3 {
			to.Away("us-east-1", cloudwatchtest.Failure{})
		}
		s.now = from.Add(time.Duration(n+2)*time.Minute + 5*time.Second)
		for range 2 {
			if err := p.Pass(t.Context()); (err != nil) != (n < 3) || err != nil && !strings.Contains(err.Error(), "us-east-1") {
				t.Errorf("minute %d: %v", n, err)
			}
		}
	}
	written, _ := to.Written()
	var counted, hot, here, there []string
	for _, w := range written {
		said := fmt.Sprintf("%d:%.0f", int(w.At.Sub(from).Minutes()), w.Value)
		switch {
		case w.Name == publish.SecondsCounted:
			counted = append(counted, said)
		case w.Name == publish.HotKeys && w.Dimensions == "TableName=orders,AccountId=111122223333":
			hot = append(hot, said)
		case w.Name == publish.HighestUtilization && w.Dimensions == "TableName=orders,AccountId=111122223333":
			here = append(here, said)
		case w.Name == publish.HighestUtilization && w.Region == "us-east-1":
			there = append(there, said)
		}
	}
	for _, c := range []struct {
		name, want string
		got        []string
	}{
		{publish.SecondsCounted, fmt.Sprintf("[0:60 1:60 2:%d 3:60]", bits.OnesCount64((1<<60-1)>>20)), counted},
		{publish.HotKeys, "[0:0 1:0 2:1 3:1]", hot}, // 1,000 units are the limit itself
		{publish.HighestUtilization, "[0:90 1:100 2:110 3:120]", here},
		{"that of the other Region", "[0:9 1:10 2:11 3:12]", there},
	} {
		if fmt.Sprint(c.got) != c.want {
			t.Errorf("%s is %v, want %s", c.name, c.got, c.want)
		}
	}
}

// TestTheCostIsBounded: the hottest tables have metrics, and those that had some keep them.
func TestTheCostIsBounded(t *testing.T) {
	t.Parallel()
	from := minutesAgo(10)
	s, to := world(t, from), cloudwatchtest.New(t)
	c := publish.Config{MonthlyCost: publish.Price + 2.5*publish.CostOf()}
	if c.Tables() != 2 {
		t.Fatalf("%d tables for $%.2f", c.Tables(), c.MonthlyCost)
	}
	p := open(t, c, s, to, "a")
	s.now = from.Add(2 * time.Minute)
	must(t, p.Pass(t.Context()))
	written, _ := to.Written()
	for _, w := range written {
		if strings.Contains(w.Dimensions, "carts") {
			t.Errorf("the calmest table has %s", w.Name)
		}
	}
	if len(written) == 0 {
		t.Error("nothing is written")
	}
}

// TestManyTables: no call has more data than CloudWatch takes.
func TestManyTables(t *testing.T) {
	t.Parallel()
	from := minutesAgo(10)
	s, to := world(t, from), cloudwatchtest.New(t)
	var j store.Judgement
	for n := range 400 {
		w := &sketch.Window{Keys: []sketch.KeyLoad{{Hash: 1, Key: sample.KeyString("k"), Requests: 1, Low: sketch.Load{Write: 1000}}}}
		body, err := rollup.OfSecond(w, true).MarshalBinary()
		must(t, err)
		j.Rollups = append(j.Rollups, store.Rollup{Target: sample.Target{Table: fmt.Sprintf("table-%03d", n)}, Level: int64(rollup.Minute), Begins: from, Body: body})
	}
	l, ok, err := s.AcquireLease(t.Context(), "judge", "test", time.Minute)
	if err != nil || !ok {
		t.Fatalf("lease: %t, %v", ok, err)
	}
	must(t, s.Judge(t.Context(), l, j))
	s.now = from.Add(2 * time.Minute)
	must(t, open(t, publish.Config{MonthlyCost: 5000}, s, to, "a").Pass(t.Context()))
	written, sizes := to.Written()
	if len(written) < 3*400 || slices.Max(sizes) != 1000 {
		t.Errorf("%d data in calls of %v", len(written), sizes)
	}
}

func TestSettingsAreChecked(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]publish.Config{
		"":                {},
		"AWS's own":       {Namespace: "AWS/Keyheat"},
		"letters, digits": {Namespace: "Key heat"},
		"US dollars":      {MonthlyCost: -1},
	} {
		if err := c.Validate(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
