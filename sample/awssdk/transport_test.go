package awssdk_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"go.uber.org/goleak"

	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/awssdk"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// response is one HTTP response of a DynamoDB in memory, as JSON 1.0.
type response struct {
	status int // 200 when 0
	body   string
}

// script answers requests one after another, and the last answer repeats. Only requests that
// ask for capacity get its ConsumedCapacity, as from DynamoDB.
type script struct {
	mu        sync.Mutex
	responses []response
	asked     []string // the ReturnConsumedCapacity of each request
}

func (s *script) Do(request *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	var in struct{ ReturnConsumedCapacity string }
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, in.ReturnConsumedCapacity)
	a := s.responses[0]
	if len(s.responses) > 1 {
		s.responses = s.responses[1:]
	}
	if in.ReturnConsumedCapacity == "" {
		a.body = withoutCapacity(a.body)
	}
	if a.status == 0 {
		a.status = http.StatusOK
	}
	return &http.Response{
		StatusCode: a.status, Body: io.NopCloser(strings.NewReader(a.body)), ContentLength: int64(len(a.body)),
		Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}, "X-Amzn-Requestid": {"R1"}}, Request: request,
	}, nil
}

func withoutCapacity(body string) string {
	var out map[string]any
	if json.Unmarshal([]byte(body), &out) != nil {
		return body
	}
	delete(out, "ConsumedCapacity")
	text, _ := json.Marshal(out) // it came out of JSON
	return string(text)
}

func config(transport aws.HTTPClient) aws.Config {
	return aws.Config{
		Region: "eu-west-1", HTTPClient: transport,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "id", SecretAccessKey: "secret"}, nil
		}),
		Retryer: func() aws.Retryer {
			return retry.NewStandard(func(o *retry.StandardOptions) {
				o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
			})
		},
	}
}

// kept collects a sink's records.
type kept struct {
	mu      sync.Mutex
	records []sample.Record
}

func (k *kept) Write(_ context.Context, records []sample.Record) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.records = append(k.records, records...)
	return nil
}

// lines returns the records, sorted, without the fields that differ between runs. A collector
// must accept each of them.
func (k *kept) lines(t *testing.T) []string {
	t.Helper()
	lines := []string{}
	for _, r := range k.records {
		if reason := r.Check(); reason != "" {
			t.Errorf("a collector refuses %+v: %s", r, reason)
		}
		mark := ""
		if r.Estimated {
			mark = " estimated"
		}
		r.TimeFromMessage, r.Region = true, ""
		if r.Calls == 1 { // all stories have one request; TestItemsOfOneCall checks Calls
			r.Calls = 0
		}
		if r.Waited = 0; r.Attempts == 1 && !r.Failed { // most stories are of one attempt; for how long is TestDemandUnderRetries's
			r.Attempts = 0
		}
		if r.Bytes = 0; r.Estimated { // so that the units are written out
			r.Estimated = false
		}
		lines = append(lines, string(r.AppendJSON(nil))+mark)
	}
	slices.Sort(lines)
	return lines
}

// call is one request of a program.
type call func(ctx context.Context, c *dynamodb.Client) (any, error)

// outcome describes the program's result for comparison: all fields of the response except the
// transport's own metadata, and the error's text.
func outcome(result any, err error) string {
	if v := reflect.ValueOf(result); v.Kind() == reflect.Pointer && !v.IsNil() {
		v.Elem().FieldByName("ResultMetadata").SetZero()
	}
	body, fault := json.Marshal(result)
	return fmt.Sprintf("%T %s %v %T %v", result, body, fault, err, err)
}

// run makes the call with and without the middleware, and checks that the program's results are
// equal.
func run(t *testing.T, do call, responses []response, options awssdk.Options) (*kept, awssdk.Stats, *script) {
	t.Helper()
	bareScript, tapped := &script{responses: responses}, &script{responses: responses}
	bare := outcome(do(t.Context(), dynamodb.NewFromConfig(config(bareScript))))

	sink := &kept{}
	options.Sink = sink
	cfg := config(tapped)
	sampler, err := awssdk.Instrument(&cfg, options)
	must.Succeed(t, err)
	if got := outcome(do(t.Context(), dynamodb.NewFromConfig(cfg))); got != bare {
		t.Errorf("with the middleware the program gets\n%s, without\n%s", got, bare)
	}
	must.Succeed(t, sampler.Close(t.Context()))
	if len(tapped.asked) != len(bareScript.asked) {
		t.Errorf("the middleware sent %d requests, the program %d", len(tapped.asked), len(bareScript.asked))
	}
	return sink, sampler.Stats(), tapped
}

var errBroken = errors.New("the line is dead")

// broken is a transport that cannot send.
type broken struct{ calls *atomic.Int32 }

func (b broken) Do(*http.Request) (*http.Response, error) {
	b.calls.Add(1)
	return nil, errBroken
}
