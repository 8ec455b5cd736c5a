package streams_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"pgregory.net/rapid"

	"github.com/keyheat/keyheat/internal/source/shards/streams"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/change"
)

const stream = "arn:aws:dynamodb:eu-west-1:123456789012:table/orders/stream/2026-11-21T12:00:00.000"

// kept are the samples of a message.
type kept struct {
	records []sample.Record
	bad     []sample.RejectReason
}

func (k *kept) Record(r *sample.Record)                  { k.records = append(k.records, *r) }
func (k *kept) Bad(reason sample.RejectReason, _ []byte) { k.bad = append(k.bad, reason) }

// TestRecordsAreWhatTheDecoderReads: the decoder finds all fields in a record's JSON.
func TestRecordsAreWhatTheDecoderReads(t *testing.T) {
	t.Parallel()
	item := map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "ann \"é\n\u2028"}, "n": &types.AttributeValueMemberN{Value: "7"}}
	r := types.Record{
		EventID: aws.String("e1"), EventName: types.OperationTypeRemove, AwsRegion: aws.String("eu-west-1"),
		UserIdentity: &types.Identity{Type: aws.String("Service"), PrincipalId: aws.String("dynamodb.amazonaws.com")},
		Dynamodb: &types.StreamRecord{
			SequenceNumber: aws.String("1" + strings.Repeat("0", 39)), ApproximateCreationDateTime: aws.Time(time.Unix(1763692032, 0)),
			Keys: map[string]types.AttributeValue{"id": item["id"]}, OldImage: item,
		},
	}
	var k kept
	change.NewDecoder(nil).Decode(streams.AppendRecord(nil, stream, &r), 0, &k)
	if len(k.bad) > 0 || len(k.records) != 1 {
		t.Fatalf("records %v, bad %v", k.records, k.bad)
	}
	got := k.records[0]
	want := sample.Record{Time: 1763692032000, Table: "orders", PK: sample.KeyString("ann \"é\n\u2028"), Op: sample.DeleteItem,
		Bytes: got.Bytes, Rate: 1, N: 1, Account: "123456789012", Region: "eu-west-1", ID: "e1"}
	if got.PK != want.PK || got.Time != want.Time || got.Table != want.Table || got.Op != want.Op || got.WCU != 0 || got.Bytes == 0 ||
		got.Account != want.Account || got.Region != want.Region || got.ID != want.ID {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestValuesSurvive: the decoder gives every value the same meaning as the SDK.
func TestValuesSurvive(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		image, want := map[string]types.AttributeValue{}, change.Item{}
		for name := range rapid.MapOfN(rapid.String(), rapid.Bool(), 0, 6).Draw(rt, "names") {
			image[name], want[name] = drawValue(rt, 3)
		}
		r := types.Record{Dynamodb: &types.StreamRecord{NewImage: image}}
		var event struct {
			Dynamodb struct{ NewImage change.Item }
		}
		raw := streams.AppendRecord(nil, stream, &r)
		if err := json.Unmarshal(raw, &event); err != nil {
			rt.Fatalf("%v: %s", err, raw)
		}
		if got := event.Dynamodb.NewImage; !got.Equal(want) || got.Size() != want.Size() {
			rt.Fatalf("%s\n got %v\nwant %v", raw, got, want)
		}
	})
}

// drawValue draws a value, as the SDK has it and as the decoder should.
func drawValue(rt *rapid.T, depth int) (types.AttributeValue, change.Value) {
	kinds := []change.Type{change.String, change.Number, change.Binary, change.Bool, change.Null, change.StringSet, change.NumberSet, change.BinarySet, change.List, change.Map}
	if depth == 0 {
		kinds = kinds[:8]
	}
	text := rapid.StringOf(rapid.Rune()).Draw(rt, "text")
	number := rapid.SampledFrom([]string{"0", "-7", "1.5", "123456789012345678901234567890"}).Draw(rt, "number")
	raw := rapid.SliceOf(rapid.Byte()).Draw(rt, "bytes")
	switch kind := rapid.SampledFrom(kinds).Draw(rt, "kind"); kind {
	case change.String:
		return &types.AttributeValueMemberS{Value: text}, change.Value{Type: kind, Text: text}
	case change.Number:
		return &types.AttributeValueMemberN{Value: number}, numberValue(number)
	case change.Binary:
		return &types.AttributeValueMemberB{Value: raw}, change.Value{Type: kind, Text: string(raw)}
	case change.Bool:
		return &types.AttributeValueMemberBOOL{Value: true}, change.Value{Type: kind, Text: "true"}
	case change.Null:
		return &types.AttributeValueMemberNULL{Value: true}, change.Value{Type: kind, Text: "true"}
	case change.StringSet:
		return &types.AttributeValueMemberSS{Value: []string{text, "x" + text}},
			change.Value{Type: kind, Elements: []change.Value{{Type: change.String, Text: text}, {Type: change.String, Text: "x" + text}}}
	case change.NumberSet:
		return &types.AttributeValueMemberNS{Value: []string{number}}, change.Value{Type: kind, Elements: []change.Value{numberValue(number)}}
	case change.BinarySet:
		return &types.AttributeValueMemberBS{Value: [][]byte{raw}},
			change.Value{Type: kind, Elements: []change.Value{{Type: change.Binary, Text: string(raw)}}}
	case change.List:
		v, w := drawValue(rt, depth-1)
		return &types.AttributeValueMemberL{Value: []types.AttributeValue{v, v}}, change.Value{Type: kind, Elements: []change.Value{w, w}}
	default:
		v, w := drawValue(rt, depth-1)
		return &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{text: v}}, change.Value{Type: kind, Members: change.Item{text: w}}
	}
}

func numberValue(number string) change.Value {
	k, err := sample.KeyNumber(number)
	if err != nil {
		panic(err)
	}
	return change.Value{Type: change.Number, Text: k.Text}
}

// TestUnknownTypeIsABadImage: a future type of the SDK is a bad image, and no crash.
func TestUnknownTypeIsABadImage(t *testing.T) {
	t.Parallel()
	r := types.Record{EventName: types.OperationTypeInsert, Dynamodb: &types.StreamRecord{
		ApproximateCreationDateTime: aws.Time(time.Unix(1763692032, 0)),
		Keys:                        map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "a"}},
		NewImage:                    map[string]types.AttributeValue{"x": &types.UnknownUnionMember{Tag: "VECTOR"}},
	}}
	var k kept
	change.NewDecoder(nil).Decode(streams.AppendRecord(nil, stream, &r), 0, &k)
	if len(k.bad) != 1 || k.bad[0] != change.RejectBadImage {
		t.Errorf("bad %v, records %v", k.bad, k.records)
	}
}
