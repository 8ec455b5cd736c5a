//go:build e2e

package e2e_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/standin"
)

// startMinistack starts a DynamoDB for this test on loopback and returns its
// address.
func startMinistack(t *testing.T) string {
	t.Helper()
	return startStandIn(t, "ministack")
}

// startStandIn starts one of the DynamoDBs that others wrote.
func startStandIn(t *testing.T, name string) string {
	t.Helper()
	return standin.Start(t, "../scripts", name)
}

func awsConfig(endpoint string) aws.Config { return standin.Config(endpoint) }

// newOrders creates the table orders: with a sort key and a global index.
func newOrders(t *testing.T, client *dynamodb.Client) {
	t.Helper()
	_, _ = client.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: orders}) // the first time there is none
	text := types.ScalarAttributeTypeS
	_, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: orders, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("pk"), AttributeType: text}, {AttributeName: aws.String("sk"), AttributeType: text},
			{AttributeName: aws.String("status"), AttributeType: text},
		},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}, {AttributeName: aws.String("sk"), KeyType: types.KeyTypeRange},
		},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String("by-status"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
			KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("status"), KeyType: types.KeyTypeHash}},
		}},
	})
	must.Succeed(t, err)
}

// throttler is a proxy between a program and DynamoDB that responds to some
// requests itself, as DynamoDB does when it throttles.
type throttler struct {
	url string

	mu   sync.Mutex
	next map[string][]canned // by operation
}

type canned struct {
	status int
	body   string
}

func newThrottler(t *testing.T, target string) *throttler {
	t.Helper()
	to, err := url.Parse(target)
	must.Succeed(t, err)
	p := &throttler{next: map[string][]canned{}}
	proxy := httputil.NewSingleHostReverseProxy(to)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
		answer, armed := p.pop(operation)
		if !armed {
			proxy.ServeHTTP(w, r)
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		w.WriteHeader(answer.status)
		_, _ = io.WriteString(w, answer.body)
	}))
	t.Cleanup(server.Close)
	p.url = server.URL
	return p
}

// arm makes the next requests of an operation get these responses.
func (p *throttler) arm(operation string, answers ...canned) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next[operation] = append(p.next[operation], answers...)
}

func (p *throttler) pop(operation string) (canned, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	queue := p.next[operation]
	if len(queue) == 0 {
		return canned{}, false
	}
	p.next[operation] = queue[1:]
	return queue[0], true
}

// slowDown returns DynamoDB's throttling error with its reason, of the table orders.
func slowDown(reason string) canned { return slowDownOf(reason, "table/orders") }

// slowDownOf returns the error with the reason and what it is of.
func slowDownOf(reason, resource string) canned {
	return canned{status: 400, body: `{"__type":"com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException","message":"slow down",` +
		`"ThrottlingReasons":[{"reason":"` + reason + `","resource":"arn:aws:dynamodb:eu-west-1:000000000000:` + resource + `"}]}`}
}
