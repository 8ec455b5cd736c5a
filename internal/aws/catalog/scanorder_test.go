package catalog_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/keyheat/keyheat/internal/aws/catalog"
	"github.com/keyheat/keyheat/internal/testsupport/streamstest"
	"github.com/keyheat/keyheat/internal/testsupport/streamstest/model"
)

// server is a fake with one table.
func server(o streamstest.Options, keyType, sortType string) (*streamstest.Fake, *dynamodb.Client) {
	fake := streamstest.New(o)
	s := model.Schema{Name: "orders", Key: model.Key{Partition: []string{"pk"}}, Types: map[string]string{"pk": keyType}}
	if sortType != "" {
		s.Key.Sort, s.Types["sk"] = []string{"sk"}, sortType
	}
	fake.CreateTable(s)
	config := fake.Config("check")
	config.Retryer = func() aws.Retryer { return aws.NopRetryer{} }
	return fake, dynamodb.NewFromConfig(config)
}

// TestCheckPlacement: DynamoDB's hash is confirmed for every type of key, another one is refuted, and a
// denied Scan says nothing.
func TestCheckPlacement(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"S", "N", "B"} {
		for _, sort := range []string{"", "S", "N", "B"} {
			_, client := server(streamstest.Options{}, key, sort)
			if r, err := catalog.CheckPlacement(t.Context(), client, "orders"); err != nil || r != (catalog.PlacementCheck{Verdict: catalog.Confirmed, Scans: 3, RCU: 1}) {
				t.Errorf("%s, %s: %+v, %v", key, sort, r, err)
			}
		}
	}
	_, client := server(streamstest.Options{OtherHash: true}, "S", "")
	if r, err := catalog.CheckPlacement(t.Context(), client, "orders"); err != nil || r != (catalog.PlacementCheck{Verdict: catalog.Refuted, Scans: 3}) {
		t.Errorf("another hash: %+v, %v", r, err)
	}
	for _, operation := range []string{"Scan", "DescribeTable"} {
		fake, client := server(streamstest.Options{}, "S", "")
		fake.Deny(operation)
		if r, err := catalog.CheckPlacement(t.Context(), client, "orders"); err == nil || !strings.Contains(err.Error(), "allow dynamodb:"+operation) || r.Verdict != "" {
			t.Errorf("denied: %+v, %v", r, err)
		}
	}
	if _, err := catalog.CheckPlacement(t.Context(), client, "absent"); err == nil || !strings.Contains(err.Error(), "no such table") {
		t.Errorf("no table: %v", err)
	}
}

// careless takes every start key.
type careless struct {
	catalog.ScanAPI
	err error
}

func (c careless) Scan(context.Context, *dynamodb.ScanInput, ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error) {
	return &dynamodb.ScanOutput{}, c.err
}

// TestCheckPlacementOfAStandIn: a server that does not look at start keys confirms nothing.
func TestCheckPlacementOfAStandIn(t *testing.T) {
	t.Parallel()
	_, client := server(streamstest.Options{}, "S", "")
	if r, err := catalog.CheckPlacement(t.Context(), careless{ScanAPI: client}, "orders"); err != nil || r.Verdict != catalog.Unclear {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := catalog.CheckPlacement(t.Context(), careless{client, errors.New("another fault")}, "orders"); err == nil || r.Verdict != "" {
		t.Errorf("%+v, %v", r, err)
	}
}
