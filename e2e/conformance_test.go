//go:build e2e

package e2e_test

import (
	"os"
	"testing"

	"github.com/keyheat/keyheat/internal/streamstest"
)

// TestStreamsConformance holds the stand-ins that others wrote to the suite
// that our own fake passes, so that the fake is not the only witness of what it
// pretends to be. KEYHEAT_TEST_DYNAMODB_ENDPOINT names one more, such as
// DynamoDB itself, which then is not asked for money we do not have: nobody
// sets it in CI.
func TestStreamsConformance(t *testing.T) {
	for name, known := range map[string]map[string]string{
		"ministack": {},
		"moto":      {},
	} {
		t.Run(name, func(t *testing.T) { streamstest.Conform(t, awsConfig(startStandIn(t, name)), known) })
	}
	if endpoint := os.Getenv("KEYHEAT_TEST_DYNAMODB_ENDPOINT"); endpoint != "" {
		t.Run(endpoint, func(t *testing.T) { streamstest.Conform(t, awsConfig(endpoint), nil) })
	}
}
