//go:build e2e

package e2e_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamodbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/pgtest"
	"github.com/keyheat/keyheat/sample"
)

// TestCloudWatchOfMinistack puts DynamoDB's metrics into a CloudWatch that others wrote,
// and has a reporter find, without any sample, that a partition throttles; check says
// that CloudWatch can be read, and what that costs.
func TestCloudWatchOfMinistack(t *testing.T) {
	endpoint := startMinistack(t)
	client := cloudwatch.NewFromConfig(awsConfig(endpoint))
	now := time.Now().Truncate(time.Minute)
	var data []types.MetricDatum
	for ago := 1; ago <= 8; ago++ {
		for name, value := range map[string]float64{"ConsumedWriteCapacityUnits": 54_000, "WriteThrottleEvents": 900, "WriteKeyRangeThroughputThrottleEvents": 900} {
			data = append(data, types.MetricDatum{
				MetricName: aws.String(name), Timestamp: aws.Time(now.Add(-time.Duration(ago) * time.Minute)), Value: aws.Float64(value), Unit: types.StandardUnitCount,
				Dimensions: []types.Dimension{{Name: aws.String("TableName"), Value: aws.String("orders")}},
			})
		}
	}
	if _, err := client.PutMetricData(t.Context(), &cloudwatch.PutMetricDataInput{Namespace: aws.String("AWS/DynamoDB"), MetricData: data}); err != nil {
		t.Fatal(err)
	}

	reporter := newProcess(t, "reporter", "reporter serve", fmt.Sprintf(`
store: {url: %q}
listen: "%%listen%%"
cloudwatch: {enabled: true, tables: [orders]}
`, pgtest.Database(t)))
	t.Setenv("AWS_ENDPOINT_URL", endpoint)
	t.Setenv("AWS_REGION", "eu-west-1")
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
	reporter.run(t, "migrate")
	reporter.run(t, "check")
	reporter.start(t)
	within(t, 2*time.Minute, "the finding is there", func() error {
		body, err := reporter.get("/api/v1/findings")
		if err != nil {
			return err
		}
		var answer struct{ Findings []detect.Finding }
		must.Succeed(t, json.Unmarshal(body, &answer))
		if len(answer.Findings) == 0 {
			return errors.New("no finding")
		}
		f := answer.Findings[0]
		if len(answer.Findings) != 1 || f.Subject != detect.SubjectPartition || f.State != detect.Firing || f.Evidence == nil || f.Evidence.Refused[sample.KeyRange.String()] != 7200 {
			t.Fatalf("the findings are %s", body)
		}
		return nil
	})
}

// TestContributorInsightsOfMinistack has analyze ask a DynamoDB that others wrote whether
// Contributor Insights is enabled for a table, and for its index. That one has no rules,
// nor reports, so that there is never a verdict.
func TestContributorInsightsOfMinistack(t *testing.T) {
	endpoint := startMinistack(t)
	client := dynamodb.NewFromConfig(awsConfig(endpoint))
	newOrders(t, client)
	dir, err := build()
	must.Succeed(t, err)
	says := func(want string, args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "reporter"), append([]string{"analyze", "--contributor-insights"}, args...)...) //nolint:gosec // our own program
		cmd.Env = append(os.Environ(), "AWS_ENDPOINT_URL="+endpoint, "AWS_REGION=eu-west-1", "AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test")
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(string(out), want) {
			t.Errorf("%v: %v, without %q: %s", args, err, want, out)
		}
	}
	says("no such table or index", "order")
	says("no such table or index", "orders", "--index", "by-nothing")
	says("Contributor Insights counts nothing", "orders")
	if _, err := client.UpdateContributorInsights(t.Context(), &dynamodb.UpdateContributorInsightsInput{
		TableName: aws.String("orders"), ContributorInsightsAction: dynamodbtypes.ContributorInsightsActionEnable,
		ContributorInsightsMode: dynamodbtypes.ContributorInsightsModeThrottledKeys,
	}); err != nil {
		t.Fatal(err)
	}
	says("counts nothing (ENABLED)", "orders")
}
