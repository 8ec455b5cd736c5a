package cli_test

import (
	"net/http/httptest"
	"os"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/logging"

	"github.com/keyheat/keyheat/internal/aws/awserror"
	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/source/files/bucket"
	"github.com/keyheat/keyheat/internal/testsupport/cloudwatchtest"
	"github.com/keyheat/keyheat/internal/testsupport/must"
)

// TestTheSDKWarnsNobody: what the SDK logs by itself goes to the terminal unless it is told
// otherwise.
func TestTheSDKWarnsNobody(t *testing.T) {
	if c := bareAWS(t); c.Logger != (logging.Nop{}) {
		t.Errorf("the SDK logs with %T", c.Logger)
	}
}

// bareAWS is what the SDK finds in an environment with a Region, and nothing else.
func bareAWS(t *testing.T) aws.Config {
	t.Helper()
	for name, value := range map[string]string{
		"AWS_REGION": "eu-west-1", "AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_PROFILE": "",
	} {
		t.Setenv(name, value)
	}
	c, err := cli.AWS(t.Context())
	must.Succeed(t, err)
	return c
}

// TestResponsesAreBounded: no client of the SDK reads a response that never ends.
func TestResponsesAreBounded(t *testing.T) {
	c := bareAWS(t)
	c.Credentials, c.RetryMaxAttempts = credentials.NewStaticCredentialsProvider("a", "b", ""), 1
	for name, ask := range map[string]func(aws.Config) error{
		"CloudWatch": func(c aws.Config) error {
			_, err := cloudwatch.NewFromConfig(c).DescribeInsightRules(t.Context(), &cloudwatch.DescribeInsightRulesInput{})
			return err
		},
		"DynamoDB": func(c aws.Config) error {
			_, err := dynamodb.NewFromConfig(c).ListTables(t.Context(), &dynamodb.ListTablesInput{})
			return err
		},
		"streams": func(c aws.Config) error {
			_, err := dynamodbstreams.NewFromConfig(c).ListStreams(t.Context(), &dynamodbstreams.ListStreamsInput{})
			return err
		},
		"S3": func(c aws.Config) error {
			_, err := bucket.NewClient(c).ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: aws.String("a")})
			return err
		},
	} {
		var taken atomic.Int64
		server := httptest.NewServer(cloudwatchtest.Endless(&taken))
		c.BaseEndpoint = aws.String(server.URL)
		err := ask(c)
		server.Close()
		if err == nil || taken.Load() > 4*awserror.MaxResponse {
			t.Errorf("%s: %v after %d MiB", name, err, taken.Load()>>20)
		}
	}
}
