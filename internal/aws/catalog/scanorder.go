package catalog

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/keyheat/keyheat/internal/aws/awserror"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/position"
)

// ScanAPI are the operations that a check uses; *dynamodb.Client has them.
type ScanAPI interface {
	DescribeTable(context.Context, *dynamodb.DescribeTableInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error)
	Scan(context.Context, *dynamodb.ScanInput, ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error)
}

// Placement is the outcome of a check.
type Placement string

const (
	// Confirmed means that two keys lie where they were computed, and a wrong segment was
	// refused. By chance this happens once in 16 million tables.
	Confirmed Placement = "confirmed"
	// Refuted means that neither key lies there.
	Refuted Placement = "refuted"
	// Unclear means that the answers contradict each other.
	Unclear Placement = "unclear"
)

// PlacementCheck is the outcome of a check, and its cost.
type PlacementCheck struct {
	Verdict Placement `json:"verdict"`
	// Scans counts requests, RCU the read units that they consumed.
	Scans int     `json:"scans"`
	RCU   float64 `json:"rcu"`
}

// segmentBits is how many bits of a position name a segment. DynamoDB allows a million
// segments, but their borders are known for powers of two only.
const segmentBits = 12

// The errors of a check beside ErrDenied.
var (
	errScan    = errors.New("not checked: Scan is denied: allow dynamodb:Scan on the table to this role for the time of the check")
	errMissing = errors.New("there is no such table in this account and Region")
)

// CheckPlacement checks whether DynamoDB places a table's keys where package sample/position
// computes them: a Scan of one segment accepts a start key only if the key lies in the segment.
// It scans three segments from made-up keys, reading at most one item of each. It does not check
// the ranges of partitions.
func CheckPlacement(ctx context.Context, api ScanAPI, table string) (r PlacementCheck, err error) {
	out, err := api.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &table})
	if err != nil {
		return r, awserror.Explain("DescribeTable", "DynamoDB", err, ErrDenied, errMissing)
	}
	c := scanner{api: api, table: out.Table, name: table}
	first, second, err := c.keys()
	if err != nil {
		return r, err
	}
	var accepted [3]bool
	for i, k := range []placed{first, second, {first.at + 1<<63, first.key}} {
		if accepted[i], err = c.accepts(ctx, k, &r); err != nil {
			return r, err
		}
	}
	switch accepted {
	case [3]bool{true, true, false}:
		r.Verdict = Confirmed
	case [3]bool{false, false, false}, [3]bool{false, false, true}:
		r.Verdict = Refuted
	default:
		r.Verdict = Unclear
	}
	return r, nil
}

type scanner struct {
	api   ScanAPI
	table *types.TableDescription
	name  string
}

// placed is a start key, and a position in the segment where it is tried.
type placed struct {
	at  position.Position
	key map[string]types.AttributeValue
}

// keys makes two keys in different segments, neither near an edge of its own.
func (c *scanner) keys() (first, second placed, err error) {
	const inner = 0.1
	for i := 0; ; i++ {
		var p placed
		if p, err = c.key(i); err != nil {
			return first, second, err
		}
		segment := float64(p.at<<segmentBits) / (1 << 63) / 2
		switch {
		case segment < inner || segment > 1-inner:
		case first.key == nil:
			first = p
		case p.at.Cell(segmentBits) != first.at.Cell(segmentBits):
			return first, p, nil
		}
	}
}

// key makes the key with a number, of the table's types.
func (c *scanner) key(number int) (p placed, err error) {
	p.key = map[string]types.AttributeValue{}
	if c.table == nil || len(c.table.KeySchema) == 0 {
		return p, errors.New("DescribeTable: the answer describes no table: does AWS_ENDPOINT_URL name the right server?")
	}
	kinds := map[string]types.ScalarAttributeType{}
	for _, a := range c.table.AttributeDefinitions {
		kinds[aws.ToString(a.AttributeName)] = a.AttributeType
	}
	text := "keyheat-check-" + strconv.Itoa(number)
	for _, e := range c.table.KeySchema {
		name := aws.ToString(e.AttributeName)
		k, value := sample.KeyString(text), types.AttributeValue(&types.AttributeValueMemberS{Value: text})
		switch kinds[name] {
		case types.ScalarAttributeTypeN:
			text := strconv.Itoa(number)
			k, value = sample.Key{Type: sample.TypeNumber, Text: text}, &types.AttributeValueMemberN{Value: text}
		case types.ScalarAttributeTypeB:
			k, value = sample.KeyBinary([]byte(text)), &types.AttributeValueMemberB{Value: []byte(text)}
		case types.ScalarAttributeTypeS:
		}
		p.key[name] = value
		if e.KeyType == types.KeyTypeHash {
			p.at, _ = position.Find(k)
		}
	}
	return p, nil
}

// accepts reports whether DynamoDB takes a key for one of the segment of a position.
func (c *scanner) accepts(ctx context.Context, p placed, r *PlacementCheck) (bool, error) {
	r.Scans++
	out, err := c.api.Scan(ctx, &dynamodb.ScanInput{
		TableName: &c.name, Select: types.SelectCount, Limit: aws.Int32(1), ExclusiveStartKey: p.key, ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
		TotalSegments: aws.Int32(1 << segmentBits), Segment: aws.Int32(int32(p.at.Cell(segmentBits))), //nolint:gosec // 12 bits
	})
	var failed smithy.APIError
	switch {
	case err == nil:
		if out.ConsumedCapacity != nil {
			r.RCU += aws.ToFloat64(out.ConsumedCapacity.CapacityUnits)
		}
		return true, nil
	case errors.As(err, &failed) && failed.ErrorCode() == "ValidationException" && strings.Contains(strings.ToLower(failed.ErrorMessage()), "correct segment"):
		return false, nil
	}
	return false, fmt.Errorf("not checked: %w", awserror.Explain("Scan", "DynamoDB", err, errScan, errMissing))
}
