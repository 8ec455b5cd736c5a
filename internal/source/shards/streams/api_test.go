package streams_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"github.com/keyheat/keyheat/internal/source/shards/streams"
)

// TestAServerThatIsAway: the error names a remedy, and is the same at every try.
func TestAServerThatIsAway(t *testing.T) {
	t.Parallel()
	client := dynamodbstreams.New(dynamodbstreams.Options{
		Region: "eu-west-1", Credentials: aws.AnonymousCredentials{}, Retryer: aws.NopRetryer{},
		BaseEndpoint: aws.String("http://127.0.0.1:1"),
	})
	_, err := client.ListStreams(t.Context(), &dynamodbstreams.ListStreamsInput{})
	if err == nil {
		t.Fatal("there is a server on port 1")
	}
	want := "ListStreams: AWS failed: no answer: connection refused: check the region, the endpoint and the network"
	if got := streams.Explain("ListStreams", err); got.Error() != want {
		t.Errorf("%q, want %q", got, want)
	}
}
