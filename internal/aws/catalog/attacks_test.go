package catalog_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"

	"github.com/keyheat/keyheat/internal/aws/awserror"
	"github.com/keyheat/keyheat/internal/aws/catalog"
	"github.com/keyheat/keyheat/internal/testsupport/hostile"
)

// endpoint answers whatever is asked.
type endpoint struct {
	status int
	body   io.Reader
}

func (e endpoint) Do(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: e.status, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}}, Body: io.NopCloser(e.body), Request: r}, nil
}

// endless is a text in JSON that never ends, and counts what is read of it.
type endless struct{ read atomic.Int64 }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'a'
	}
	if e.read.Add(int64(len(p))) > 1<<30 {
		return 0, io.EOF
	}
	return len(p), nil
}

func client(e endpoint) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region: "eu-west-1", HTTPClient: e, BaseEndpoint: aws.String("http://dynamodb.fake"), Retryer: aws.NopRetryer{},
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""), APIOptions: []func(*middleware.Stack) error{awserror.LimitResponse},
	})
}

// TestAttacksByDescriptions gives each answer to DescribeTable: it is refused with a reason, or
// its facts are ones that a table can have.
func TestAttacksByDescriptions(t *testing.T) {
	t.Parallel()
	const key = `"KeySchema":[{"AttributeName":"id","KeyType":"HASH"}]`
	table := func(text string) string { return `{"Table":{` + key + `,` + text + `}}` }
	for name, c := range map[string]struct {
		answer string
		want   string // the error; empty for none
	}{
		"a table":                      {table(`"TableName":"orders"`), ""},
		"nothing":                      {`{}`, "describes no table"},
		"null":                         {`{"Table":null}`, "describes no table"},
		"no key":                       {`{"Table":{}}`, "has no partition key"},
		"a sort key only":              {`{"Table":{"KeySchema":[{"AttributeName":"id","KeyType":"RANGE"}]}}`, "has no partition key"},
		"an index without key":         {table(`"GlobalSecondaryIndexes":[{"IndexName":"by-day"}]`), "has no partition key"},
		"a negative capacity":          {table(`"ProvisionedThroughput":{"WriteCapacityUnits":-5,"ReadCapacityUnits":1}`), "is negative"},
		"an index's":                   {table(`"GlobalSecondaryIndexes":[{"IndexName":"by-day",` + key + `,"ProvisionedThroughput":{"ReadCapacityUnits":-1}}]`), "is negative"},
		"a capacity of 10^30":          {table(`"ProvisionedThroughput":{"WriteCapacityUnits":1e30}`), "does not speak DynamoDB's protocol"},
		"a capacity of NaN":            {table(`"ProvisionedThroughput":{"WriteCapacityUnits":"NaN"}`), "does not speak DynamoDB's protocol"},
		"a list for a table":           {`{"Table":[]}`, "does not speak DynamoDB's protocol"},
		"no JSON":                      {"\x1b[2J", "does not speak DynamoDB's protocol"},
		"half an answer":               {`{"Table":{`, "does not speak DynamoDB's protocol"},
		"an account that is a command": {table(`"TableArn":"arn:aws:dynamodb:eu-west-1:1\u001b[2J:table/orders"`), "an account has 12 digits"},
		"an account of a table's name": {table(`"TableArn":"arn:aws:dynamodb:eu-west-1:orders:table/orders"`), `the table's account is "orders", and an account has 12 digits: does AWS_ENDPOINT_URL name the right server?`},
		"an account of 13 digits":      {table(`"TableArn":"arn:aws:dynamodb:eu-west-1:1234567890123:table/orders"`), "an account has 12 digits"},
		"a Region that is a city":      {table(`"TableArn":"arn:aws:dynamodb:Dublin:123456789012:table/orders"`), `a Region of the table is "Dublin", and a Region has a name such as eu-west-1: does AWS_ENDPOINT_URL name the right server?`},
		"a Region of two letters":      {table(`"Replicas":[{"RegionName":"eu"}]`), `a Region of the table is "eu"`},
		"a table in China":             {table(`"TableArn":"arn:aws-cn:dynamodb:cn-northwest-1:123456789012:table/orders","Replicas":[{"RegionName":"us-gov-east-1"}]`), ""},
		"DynamoDB Local":               {table(`"TableArn":"arn:aws:dynamodb:ddblocal:000000000000:table/orders"`), ""},
		"an ARN that is none":          {table(`"TableArn":"orders"`), ""},
		"a Region with NUL":            {table(`"TableArn":"arn:aws:dynamodb:\u0000:123456789012:table/orders"`), "a Region has a name such as eu-west-1"},
		"a replica's Region":           {table(`"Replicas":[{"RegionName":"\u202e"}]`), "a Region has a name such as eu-west-1"},
		"an index that is markup":      {table(`"GlobalSecondaryIndexes":[{"IndexName":"<b>",` + key + `}]`), "an index's name has 3 to 255 letters"},
		"a local index":                {table(`"LocalSecondaryIndexes":[{"IndexName":"a b"}]`), "an index's name has 3 to 255 letters"},
		"a vector index":               {table(`"VectorIndexes":[{"IndexName":"a\nb"}]`), "an index's name has 3 to 255 letters"},
		"a name of a megabyte":         {table(`"GlobalSecondaryIndexes":[{"IndexName":"` + strings.Repeat("a", 1<<20) + `",` + key + `}]`), "an index's name has 3 to 255 letters"},
		"a time of the year 9999":      {table(`"CreationDateTime":253402300799`), ""},
		"a time beyond all":            {table(`"CreationDateTime":1e300`), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := catalog.Describe(t.Context(), client(endpoint{http.StatusOK, strings.NewReader(c.answer)}), "orders")
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Fatalf("%v, want %q", err, c.want)
			}
			if err != nil {
				if wrong := hostile.Fault(err.Error()); wrong != "" || len(err.Error()) > 1000 {
					t.Errorf("the error has %s: %.300q", wrong, err)
				}
			} else if facts, err := json.Marshal(got.Facts); err != nil {
				t.Errorf("%s: %v", facts, err)
			}
		})
	}
	t.Run("an error that steers a terminal", func(t *testing.T) {
		text := `{"__type":"a#\u001b[2J","message":"\u202e\u0000` + strings.Repeat("x", 1<<20) + `"}`
		_, err := catalog.Describe(t.Context(), client(endpoint{http.StatusBadRequest, strings.NewReader(text)}), "orders")
		if err == nil || hostile.Fault(err.Error()) != "" || len(err.Error()) > 1000 {
			t.Errorf("%.500q", err)
		}
	})
	for _, status := range []int{http.StatusOK, http.StatusBadRequest} {
		var e endless
		_, err := catalog.Describe(t.Context(), client(endpoint{status, io.MultiReader(strings.NewReader(`{"message":"`), &e)}), "orders")
		if err == nil || !strings.Contains(err.Error(), "more than 16 MiB") || e.read.Load() > 2*awserror.MaxResponse {
			t.Errorf("%d: %v after %d MiB", status, err, e.read.Load()>>20)
		}
	}
}
