package main

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/testsupport/cloudwatchtest"
)

// TestSurvey: of an account with many tables, those that single partitions throttled are named, with
// when, and nothing else is called calm than what was asked.
func TestSurvey(t *testing.T) {
	w := cloudwatchtest.New(t)
	hour := time.Now().UTC().Truncate(time.Hour).Add(-30 * time.Hour)
	put := func(table, index, metric string, at time.Time, value float64) {
		w.Put(cloudwatchtest.Metric{Table: table, Index: index, Name: metric}, at, value)
	}
	for _, table := range []string{"carts", "orders", "users"} {
		put(table, "", "ConsumedWriteCapacityUnits", hour, 100)
		put(table, "", "ConsumedReadCapacityUnits", hour, 100)
	}
	calm := strings.Join(surveyed(t, w, cli.OK, "survey"), "\n")
	if !strings.Contains(calm, "No partition refused a request to the 3 tables that had requests in the last 14 d.") {
		t.Error(calm)
	}
	for i, n := range []float64{5, 70, 9} {
		at := hour.Add(time.Duration(i) * time.Hour)
		put("carts", "by-user", "WriteKeyRangeThroughputThrottleEvents", at, n)
		put("carts", "by-user", "WriteThrottleEvents", at.Add(10*time.Minute), n)
	}
	put("users", "", "ReadThrottleEvents", hour, 3)
	put("orders", "", "ReadKeyRangeThroughputThrottleEvents", hour.Add(-15*24*time.Hour), 1000) // too long ago
	text := strings.Join(surveyed(t, w, cli.OK, "survey"), "\n")
	for _, want := range []string{
		"Single partitions refused requests to 1 table or index, of 3 tables that had requests in the last 14 d. 1 table or index refused some for other reasons",
		"carts  by-user", " 84 ", hour.Add(time.Hour).Format("2006-01-02 15:04"), "AWS_REGION=eu-west-1 reporter analyze --stream carts",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	asked := false
	w.Raw("", func(w http.ResponseWriter, r *http.Request) { // STS
		asked = asked || r.FormValue("RoleArn") == "arn:aws:iam::111122223333:role/read-metrics"
		_, _ = io.WriteString(w, `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials><AccessKeyId>x</AccessKeyId><SecretAccessKey>y</SecretAccessKey><SessionToken>z</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`)
	})
	if as := strings.Join(surveyed(t, w, cli.OK, "survey", "--role-arn", "arn:aws:iam::111122223333:role/read-metrics"), "\n"); !asked || !strings.Contains(as, "carts  by-user") {
		t.Errorf("asked as the role: %v\n%s", asked, as)
	}
	empty := strings.Join(surveyed(t, cloudwatchtest.New(t), cli.Failed, "survey"), "\n")
	if !strings.Contains(empty, "knows of no table with requests in the last 14 d: are these the right account and Regions?") {
		t.Error(empty)
	}
	w.FailAll("GetMetricData", cloudwatchtest.Failure{Status: http.StatusForbidden, Code: "AccessDenied", Message: "no"})
	denied := strings.Join(surveyed(t, w, cli.Failed, "survey", "--region", "eu-west-1, us-east-1"), "\n")
	if !strings.Contains(denied, "not asked: us-east-1: allow cloudwatch:GetMetricData to this role") || !strings.Contains(denied, "2 of 2 Regions and roles could not be asked: their tables are unknown") || strings.Contains(denied, "No partition refused") {
		t.Error(denied)
	}
}

// surveyed runs the command, and returns what it prints.
func surveyed(t *testing.T, w *cloudwatchtest.Server, code int, args ...string) []string {
	t.Helper()
	for name, value := range map[string]string{"AWS_ENDPOINT_URL": w.URL, "AWS_REGION": "eu-west-1", "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_MAX_ATTEMPTS": "1"} {
		t.Setenv(name, value)
	}
	var out, errs bytes.Buffer
	if got := cli.Run(t.Context(), command(), args, cli.Streams{Out: &out, Err: &errs}); got != code {
		t.Errorf("%v: exits %d\n%s", args, got, errs.String())
	}
	return []string{out.String(), errs.String()}
}
