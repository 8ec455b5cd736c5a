package streamstest_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/keyheat/keyheat/internal/streamstest"
)

func TestSmoke(t *testing.T) {
	w := setup(t, streamstest.Options{})
	for i := range 20 {
		w.put("a", i, "status", "open")
	}
	shards, _ := w.describe(nil, 0)
	got := w.read(w.mustIterator(*shards[0].ShardId, types.ShardIteratorTypeTrimHorizon, ""))
	if len(got) != 20 {
		t.Fatal(len(got))
	}
	t.Logf("%+v %v", *got[0].Dynamodb.SequenceNumber, *got[19].Dynamodb.SequenceNumber)
	t.Log(w.table.Split(*shards[0].ShardId))
	shards, _ = w.describe(&types.ShardFilter{ShardId: shards[0].ShardId, Type: "CHILD_SHARDS"}, 0)
	if len(shards) != 2 {
		t.Fatal(len(shards))
	}
}
