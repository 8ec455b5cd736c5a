package streams_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"github.com/keyheat/keyheat/internal/source/shards/streams"
	"github.com/keyheat/keyheat/internal/testsupport/streamstest"
	"github.com/keyheat/keyheat/internal/testsupport/streamstest/model"
)

// TestProbe tries each permission after the one before it has provided its input.
func TestProbe(t *testing.T) {
	t.Parallel()
	fake := streamstest.New(streamstest.Options{Seed: 1})
	table := fake.CreateTable(model.Schema{Name: "orders", Key: model.Key{Partition: []string{"pk"}}})
	table.EnableStream(streamstest.NewAndOldImages)
	server := dynamodbstreams.NewFromConfig(fake.Config("check"))

	probe := streams.NewProbe(server, "orders")
	const early = "dynamodb:GetRecords cannot be tried before dynamodb:GetShardIterator works"
	if err := probe.Try(t.Context(), "GetRecords"); err == nil || err.Error() != early {
		t.Errorf("before all others: %v, want %q", err, early)
	}
	for _, operation := range streams.Operations() {
		if err := probe.Try(t.Context(), operation); err != nil {
			t.Errorf("%s: %v", operation, err)
		}
		if n := len(fake.Calls(operation)); n != 1 {
			t.Errorf("%s was requested %d times", operation, n)
		}
	}
	if err := probe.Try(t.Context(), "PutItem"); err == nil {
		t.Error("PutItem is an operation of DynamoDB Streams")
	}
	if err := streams.NewProbe(server, "users").Try(t.Context(), "ListStreams"); err == nil {
		t.Error("a table that does not exist has a stream")
	}
}
