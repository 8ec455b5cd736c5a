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

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/aws/awserror"
	"github.com/keyheat/keyheat/internal/settings/options"
	"github.com/keyheat/keyheat/sample"
)

// API are the operations of DynamoDB that catalog uses; *dynamodb.Client is one.
type API interface {
	DescribeTable(context.Context, *dynamodb.DescribeTableInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error)
}

// ErrDenied means that this role may not describe the table.
var ErrDenied = errors.New("DescribeTable is denied: allow dynamodb:DescribeTable on the table to this role")

// Table is DynamoDB's description of a table.
type Table struct {
	// Target is the table, with the account and the Region of its ARN.
	Target sample.Target
	// Schema is for decoders of stream records.
	Schema sample.Schema
	// Facts are for the verdict; the store keeps them as JSON.
	Facts detect.TableFacts
}

// Describe asks for a table. Its error is a sentence with the cause and the remedy.
func Describe(ctx context.Context, api API, table string) (Table, error) {
	out, err := api.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(table)})
	if err != nil {
		return Table{}, awserror.Explain("DescribeTable", "DynamoDB", err, ErrDenied,
			errors.New("there is no such table in this account and region: correct its name, AWS_REGION or the credentials, or create it"))
	}
	if err := check(out.Table); err != nil {
		return Table{}, fmt.Errorf("DescribeTable: %w: does AWS_ENDPOINT_URL name the right server?", err)
	}
	described := read(out.Table)
	described.Target.Table = table
	return described, nil
}

// check returns why a description is none of a table of DynamoDB's.
func check(d *types.TableDescription) error {
	if d == nil {
		return errors.New("the answer describes no table")
	}
	if err := checkPlaces(d); err != nil {
		return err
	}
	var indexes []string
	keys := [][]types.KeySchemaElement{d.KeySchema}
	capacities := []*types.ProvisionedThroughputDescription{d.ProvisionedThroughput}
	for _, x := range d.LocalSecondaryIndexes {
		indexes = append(indexes, aws.ToString(x.IndexName))
	}
	for _, x := range d.VectorIndexes {
		indexes = append(indexes, aws.ToString(x.IndexName))
	}
	for i := range d.GlobalSecondaryIndexes {
		x := &d.GlobalSecondaryIndexes[i]
		indexes, keys, capacities = append(indexes, aws.ToString(x.IndexName)), append(keys, x.KeySchema), append(capacities, x.ProvisionedThroughput)
	}
	for _, name := range indexes {
		if !sample.IsName(name) {
			return fmt.Errorf("an index is called %.100q, and an index's name has %s", name, sample.NameRule)
		}
	}
	for _, key := range keys {
		if !slices.ContainsFunc(key, func(e types.KeySchemaElement) bool {
			return e.KeyType == types.KeyTypeHash && aws.ToString(e.AttributeName) != ""
		}) {
			return errors.New("the table, or an index of it, has no partition key")
		}
	}
	for _, c := range capacities {
		if wcu, rcu := capacity(c); wcu < 0 || rcu < 0 {
			return errors.New("the capacity of the table, or of an index of it, is negative")
		}
	}
	return nil
}

// localRegion is the Region in the ARNs of DynamoDB Local.
const localRegion = "ddblocal"

// checkPlaces returns why the account or a Region of a table is none of AWS's. An ARN of another
// form leaves both unknown.
func checkPlaces(d *types.TableDescription) error {
	account, region := owner(aws.ToString(d.TableArn))
	if account != "" && !options.IsAccount(account) {
		return fmt.Errorf("the table's account is %.100q, and an account has 12 digits", account)
	}
	regions := []string{region}
	for _, r := range d.Replicas {
		regions = append(regions, aws.ToString(r.RegionName))
	}
	for _, name := range regions {
		if name != "" && name != localRegion && !options.IsRegion(name) {
			return fmt.Errorf("a Region of the table is %.100q, and a Region has a name such as eu-west-1", name)
		}
	}
	return nil
}

func read(d *types.TableDescription) Table {
	key := keySchema(d.KeySchema)
	t := Table{
		Schema: sample.Schema{KeySchema: key, Indexes: map[string]sample.IndexSchema{}},
		Facts: detect.TableFacts{
			Billing: string(types.BillingModeProvisioned), LSIs: []string{}, KeySchema: key, Indexes: map[string]detect.IndexFacts{},
		},
	}
	if b := d.BillingModeSummary; b != nil && b.BillingMode != "" { // missing where it never changed
		t.Facts.Billing = string(b.BillingMode)
	}
	t.Facts.StrongRegions = d.MultiRegionConsistency == types.MultiRegionConsistencyStrong
	t.Target.Account, t.Target.Region = owner(aws.ToString(d.TableArn))
	for _, r := range d.Replicas {
		if name := aws.ToString(r.RegionName); name != t.Target.Region {
			t.Facts.Replicas = append(t.Facts.Replicas, name)
		}
	}
	slices.Sort(t.Facts.Replicas)
	t.Facts.WCU, t.Facts.RCU = capacity(d.ProvisionedThroughput)
	if w := d.WarmThroughput; w != nil {
		t.Facts.WarmWCU, t.Facts.WarmRCU = warm(w.WriteUnitsPerSecond, w.ReadUnitsPerSecond)
	}
	if s := d.StreamSpecification; s != nil && aws.ToBool(s.StreamEnabled) {
		t.Facts.Stream = string(s.StreamViewType)
	}
	for _, x := range d.LocalSecondaryIndexes {
		t.Facts.LSIs = append(t.Facts.LSIs, aws.ToString(x.IndexName))
	}
	slices.Sort(t.Facts.LSIs)
	for _, x := range d.VectorIndexes {
		t.Facts.VectorIndexes = append(t.Facts.VectorIndexes, aws.ToString(x.IndexName))
	}
	slices.Sort(t.Facts.VectorIndexes)
	for i := range d.GlobalSecondaryIndexes {
		t.add(&d.GlobalSecondaryIndexes[i])
	}
	return t
}

// add adds a global index, also one that is being created or deleted.
func (t *Table) add(x *types.GlobalSecondaryIndexDescription) {
	name := aws.ToString(x.IndexName)
	key := keySchema(x.KeySchema)
	facts := detect.IndexFacts{KeySchema: key}
	facts.WCU, facts.RCU = capacity(x.ProvisionedThroughput)
	if w := x.WarmThroughput; w != nil {
		facts.WarmWCU, facts.WarmRCU = warm(w.WriteUnitsPerSecond, w.ReadUnitsPerSecond)
	}
	t.Facts.Indexes[name] = facts
	index := sample.IndexSchema{KeySchema: key}
	if p := x.Projection; p != nil {
		index.Projection, index.Include = sample.Projection(p.ProjectionType), p.NonKeyAttributes
	}
	t.Schema.Indexes[name] = index
}

// owner returns the account and the Region of an ARN; both are empty for other text.
func owner(arn string) (account, region string) {
	if parts := strings.SplitN(arn, ":", 6); len(parts) == 6 {
		return parts[4], parts[3]
	}
	return "", ""
}

func keySchema(elements []types.KeySchemaElement) sample.KeySchema {
	k := sample.KeySchema{PartitionKey: []string{}, SortKey: []string{}}
	for _, e := range elements {
		if e.KeyType == types.KeyTypeRange {
			k.SortKey = append(k.SortKey, aws.ToString(e.AttributeName))
		} else {
			k.PartitionKey = append(k.PartitionKey, aws.ToString(e.AttributeName))
		}
	}
	return k
}

func capacity(p *types.ProvisionedThroughputDescription) (wcu, rcu float64) {
	if p == nil {
		return 0, 0
	}
	return float64(aws.ToInt64(p.WriteCapacityUnits)), float64(aws.ToInt64(p.ReadCapacityUnits))
}

// warm returns a warm throughput in units a second; zero where DynamoDB names none.
func warm(write, read *int64) (wcu, rcu float64) {
	return float64(max(0, aws.ToInt64(write))), float64(max(0, aws.ToInt64(read)))
}
