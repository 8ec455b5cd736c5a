package catalog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample/change"
)

// API is what is asked of DynamoDB; *dynamodb.Client is one.
type API interface {
	DescribeTable(context.Context, *dynamodb.DescribeTableInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error)
}

// ErrDenied says that this role may not ask for the table.
var ErrDenied = errors.New("DescribeTable is denied: allow dynamodb:DescribeTable on the table to this role")

// Table is what DynamoDB says of a table.
type Table struct {
	// Schema is what decoders of stream records need.
	Schema change.Schema
	// Facts are what the verdict needs; the store keeps them as JSON.
	Facts detect.TableFacts
}

// Describe asks for a table. Its error is a sentence that says what is wrong and
// what to do.
func Describe(ctx context.Context, api API, table string) (Table, error) {
	out, err := api.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(table)})
	var refused smithy.APIError
	switch {
	case err == nil:
		return read(out.Table), nil
	case !errors.As(err, &refused):
		return Table{}, fmt.Errorf("DescribeTable: %w", err)
	case refused.ErrorCode() == "ResourceNotFoundException":
		return Table{}, errors.New("there is no such table in this account and region: create it, or correct its name")
	case strings.HasPrefix(refused.ErrorCode(), "AccessDenied"):
		return Table{}, ErrDenied
	}
	return Table{}, fmt.Errorf("DescribeTable: %s: %s", refused.ErrorCode(), refused.ErrorMessage())
}

// read takes from a description what is needed of it.
func read(d *types.TableDescription) Table {
	pk, sk := keys(d.KeySchema)
	t := Table{Facts: detect.TableFacts{
		Billing: string(types.BillingModeProvisioned), LSIs: []string{}, PK: pk, SK: sk, Indexes: map[string]detect.IndexFacts{},
	}}
	if b := d.BillingModeSummary; b != nil && b.BillingMode != "" { // missing where it never changed
		t.Facts.Billing = string(b.BillingMode)
	}
	t.Facts.WCU, t.Facts.RCU = capacity(d.ProvisionedThroughput)
	if s := d.StreamSpecification; s != nil && aws.ToBool(s.StreamEnabled) {
		t.Facts.Stream = string(s.StreamViewType)
	}
	for _, x := range d.LocalSecondaryIndexes {
		t.Facts.LSIs = append(t.Facts.LSIs, aws.ToString(x.IndexName))
	}
	slices.Sort(t.Facts.LSIs)
	t.Schema.PartitionKey, t.Schema.SortKey = first(pk), first(sk)
	for i := range d.GlobalSecondaryIndexes {
		t.add(&d.GlobalSecondaryIndexes[i])
	}
	slices.SortFunc(t.Schema.Indexes, func(a, b change.Index) int { return strings.Compare(a.Name, b.Name) })
	return t
}

// add takes in a global index. One that is being made or deleted is written too.
func (t *Table) add(x *types.GlobalSecondaryIndexDescription) {
	name := aws.ToString(x.IndexName)
	pk, sk := keys(x.KeySchema)
	facts := detect.IndexFacts{PK: pk, SK: sk}
	facts.WCU, facts.RCU = capacity(x.ProvisionedThroughput)
	t.Facts.Indexes[name] = facts
	index := change.Index{Name: name, PartitionKey: pk, SortKey: sk}
	if p := x.Projection; p != nil {
		index.Projection, index.Include = change.Projection(p.ProjectionType), p.NonKeyAttributes
	}
	t.Schema.Indexes = append(t.Schema.Indexes, index)
}

func keys(schema []types.KeySchemaElement) (pk, sk []string) {
	pk, sk = []string{}, []string{}
	for _, e := range schema {
		if e.KeyType == types.KeyTypeRange {
			sk = append(sk, aws.ToString(e.AttributeName))
		} else {
			pk = append(pk, aws.ToString(e.AttributeName))
		}
	}
	return pk, sk
}

func capacity(p *types.ProvisionedThroughputDescription) (wcu, rcu float64) {
	if p == nil {
		return 0, 0
	}
	return float64(aws.ToInt64(p.WriteCapacityUnits)), float64(aws.ToInt64(p.ReadCapacityUnits))
}

func first(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return names[0]
}
