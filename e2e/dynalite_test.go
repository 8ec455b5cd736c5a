//go:build e2e

package e2e_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyheat/keyheat/internal/aws/catalog"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/position"
)

// TestDynaliteAgreesOnPositions: a server that others wrote, after DynamoDB's own order,
// confirms positions, and its Scan returns keys of each type in their order.
func TestDynaliteAgreesOnPositions(t *testing.T) {
	client := dynamodb.NewFromConfig(awsConfig(startStandIn(t, "dynalite")))
	for _, kind := range []types.ScalarAttributeType{types.ScalarAttributeTypeS, types.ScalarAttributeTypeN, types.ScalarAttributeTypeB} {
		table := "orders-" + string(kind)
		createByHash(t, client, table, kind)
		r, err := catalog.CheckPlacement(t.Context(), client, table)
		if err != nil || r.Verdict != catalog.Confirmed {
			t.Errorf("%s: %+v, %v", kind, r, err)
		}
		var positions []position.Position
		for i := range 100 {
			put(t, client, table, kind, i)
		}
		out, err := client.Scan(t.Context(), &dynamodb.ScanInput{TableName: &table})
		must.Succeed(t, err)
		for _, item := range out.Items {
			at, ok := position.Find(keyOfItem(item["pk"]))
			if !ok {
				t.Fatalf("no position of %v", item["pk"])
			}
			positions = append(positions, at)
		}
		if len(positions) != 100 || !slices.IsSorted(positions) {
			t.Errorf("%s: %d keys, in the order %v", kind, len(positions), positions)
		}
	}
}

// TestMinistackConfirmsNothing: a server that does not look at start keys is no witness.
func TestMinistackConfirmsNothing(t *testing.T) {
	client := dynamodb.NewFromConfig(awsConfig(startMinistack(t)))
	createByHash(t, client, "orders", types.ScalarAttributeTypeS)
	if r, err := catalog.CheckPlacement(t.Context(), client, "orders"); err == nil && r.Verdict == catalog.Confirmed {
		t.Errorf("%+v", r)
	}
}

func createByHash(t *testing.T, client *dynamodb.Client, table string, kind types.ScalarAttributeType) {
	t.Helper()
	_, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: &table, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: kind}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}},
	})
	must.Succeed(t, err)
	within(t, time.Minute, table+" is active", func() error {
		out, err := client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &table})
		if err == nil && out.Table.TableStatus != types.TableStatusActive {
			err = fmt.Errorf("it is %s", out.Table.TableStatus)
		}
		return err
	})
}

func put(t *testing.T, client *dynamodb.Client, table string, kind types.ScalarAttributeType, i int) {
	t.Helper()
	text := fmt.Sprint(i*i-50, ".5")
	var key types.AttributeValue = &types.AttributeValueMemberS{Value: "größe#" + text}
	switch kind {
	case types.ScalarAttributeTypeN:
		key = &types.AttributeValueMemberN{Value: text}
	case types.ScalarAttributeTypeB:
		key = &types.AttributeValueMemberB{Value: []byte{0, 255, byte(i)}}
	case types.ScalarAttributeTypeS:
	}
	if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: map[string]types.AttributeValue{"pk": key}}); err != nil {
		t.Fatal(err)
	}
}

func keyOfItem(v types.AttributeValue) sample.Key {
	switch v := v.(type) {
	case *types.AttributeValueMemberN:
		return sample.Key{Type: sample.TypeNumber, Text: v.Value}
	case *types.AttributeValueMemberB:
		return sample.KeyBinary(v.Value)
	case *types.AttributeValueMemberS:
		return sample.KeyString(v.Value)
	}
	return sample.Key{}
}
