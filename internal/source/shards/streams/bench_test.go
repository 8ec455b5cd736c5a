package streams_test

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/keyheat/keyheat/internal/source/shards/streams"
	"github.com/keyheat/keyheat/sample/change"
)

// BenchmarkRecord takes a record with two images of 500 bytes from the SDK's form
// to a sample.
func BenchmarkRecord(b *testing.B) {
	item := map[string]types.AttributeValue{
		"customer": &types.AttributeValueMemberS{Value: "user#42"},
		"total":    &types.AttributeValueMemberN{Value: "17.5"},
		"note":     &types.AttributeValueMemberS{Value: strings.Repeat("text ", 90)},
	}
	r := types.Record{
		EventID: aws.String("1f3d"), EventName: types.OperationTypeModify, AwsRegion: aws.String("eu-west-1"),
		Dynamodb: &types.StreamRecord{
			SequenceNumber: aws.String(strings.Repeat("7", 40)), ApproximateCreationDateTime: aws.Time(time.Unix(1763692032, 0)),
			Keys: map[string]types.AttributeValue{"customer": item["customer"]}, OldImage: item, NewImage: item,
		},
	}
	decoder := change.NewDecoder(nil)
	var k kept
	var buf []byte
	b.Run("append", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			buf = streams.AppendRecord(buf[:0], stream, &r)
		}
	})
	b.Run("append and decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			buf = streams.AppendRecord(buf[:0], stream, &r)
			k.records = k.records[:0]
			decoder.Decode(buf, 0, &k)
		}
	})
	if len(k.bad) > 0 {
		b.Fatal(k.bad)
	}
}
