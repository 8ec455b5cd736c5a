package contributorinsights_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"

	"github.com/keyheat/keyheat/internal/analyze/contributorinsights"
)

// TestStandIn is for an endpoint that answers in another protocol than CloudWatch's.
func TestStandIn(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{"<ErrorResponse><Error><Code>InvalidAction</Code></Error></ErrorResponse>", "{}", "\x7f"} {
		for _, status := range []int{200, 400} {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(status)
				_, _ = io.WriteString(w, answer)
			}))
			api := cloudwatch.New(cloudwatch.Options{
				Region: "eu-west-1", BaseEndpoint: aws.String(server.URL), RetryMaxAttempts: 1,
				Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""),
			})
			now := time.Now().UTC().Truncate(time.Minute)
			_, err := contributorinsights.Read(t.Context(), api, "rule", now.Add(-time.Hour), now)
			server.Close()
			if err == nil || !strings.Contains(err.Error(), "does not speak CloudWatch's protocol: does AWS_ENDPOINT_URL name a stand-in") {
				t.Errorf("%d %q: %v", status, answer, err)
			}
		}
	}
}
