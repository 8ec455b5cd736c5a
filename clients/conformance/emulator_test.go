//go:build e2e

package conformance_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyheat/keyheat/internal/testsupport/standin"
)

// TestCalls makes all calls of the table, the ones without answers against an emulator.
func TestCalls(t *testing.T) {
	emulator := standin.Start(t, "../../scripts", "ministack")
	t.Run("go", func(t *testing.T) {
		newOrders(t, emulator)
		runCalls(t, "go", goClient, emulator)
	})
	for _, packages := range [][]string{nil, {"aio"}} {
		t.Run(strings.Join(append([]string{"python"}, packages...), "-"), func(t *testing.T) {
			newOrders(t, emulator)
			arguments := append([]string{"../python/tests/conformance.py"}, packages...)
			runCalls(t, "python", startRunner(t, ensurePython(t, packages), arguments...), emulator)
		})
	}
	for _, kind := range nodeClients {
		t.Run("node-"+kind, func(t *testing.T) {
			newOrders(t, emulator)
			ensureNode(t)
			runCalls(t, "node", startRunner(t, "node", "--no-warnings", "../node/test/conformance.mjs", kind), emulator)
		})
	}
}

// ensureNode installs the AWS SDK for JavaScript beside the Node client.
func ensureNode(t *testing.T) {
	t.Helper()
	cmd := exec.Command("../../scripts/ensure-node-client")
	cmd.Stderr = t.Output()
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
}

// ensurePython returns the Python that has botocore, or aiobotocore.
func ensurePython(t *testing.T, packages []string) string {
	t.Helper()
	cmd := exec.Command("../../scripts/ensure-python-clients", packages...)
	cmd.Stderr = t.Output()
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// newOrders creates the table anew, with its indexes.
func newOrders(t *testing.T, endpoint string) {
	t.Helper()
	client, orders := dynamodb.NewFromConfig(standin.Config(endpoint)), aws.String("orders")
	_, _ = client.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: orders}) // the first time there is none
	in := &dynamodb.CreateTableInput{TableName: orders, BillingMode: types.BillingModePayPerRequest, KeySchema: keySchema("pk", "sk")}
	for name, kind := range map[string]types.ScalarAttributeType{"pk": "S", "sk": "N", "status": "S", "date": "S"} {
		in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{AttributeName: &name, AttributeType: kind})
	}
	all := &types.Projection{ProjectionType: types.ProjectionTypeAll}
	in.GlobalSecondaryIndexes = []types.GlobalSecondaryIndex{{IndexName: aws.String("by-status"), Projection: all, KeySchema: keySchema("status")}}
	in.LocalSecondaryIndexes = []types.LocalSecondaryIndex{{IndexName: aws.String("by-date"), Projection: all, KeySchema: keySchema("pk", "date")}}
	if _, err := client.CreateTable(t.Context(), in); err != nil {
		t.Fatal(err)
	}
}

func keySchema(names ...string) (elements []types.KeySchemaElement) {
	for i, name := range names {
		kind := types.KeyTypeHash
		if i > 0 {
			kind = types.KeyTypeRange
		}
		elements = append(elements, types.KeySchemaElement{AttributeName: &name, KeyType: kind})
	}
	return elements
}
