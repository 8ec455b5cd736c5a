//go:build e2e

package e2e_test

import (
	"os"
	"testing"

	"github.com/keyheat/keyheat/internal/testsupport/streamstest/conformance"
)

// TestStreamsConformance holds the stand-ins that others wrote to the suite
// that our own fake passes, so that the suite is not tested by the fake alone.
// Their known differences are listed, and must still be there. KEYHEAT_TEST_DYNAMODB_ENDPOINT names one more, which must pass it all.
func TestStreamsConformance(t *testing.T) {
	t.Parallel()
	for name, known := range map[string]map[string]string{
		"ministack": {
			"a shard that is not there is refused":          "ministack gives iterators of any shard",
			"a record has a size":                           "ministack leaves SizeBytes at 0",
			"a stream that is enabled again is another one": "ministack forgets a stream that is disabled",
		},
		"moto": {
			"a stream that is not there is refused":         "moto describes a table's stream by any label",
			"a shard that is not there is refused":          "moto returns a page of HTML",
			"times are whole seconds":                       "moto returns fractions of a second",
			"a write that changes nothing has no record":    "moto records it",
			"a stream that is enabled again is another one": "moto returns a page of HTML once the stream is disabled",
		},
	} {
		t.Run(name, func(t *testing.T) { conformance.Run(t, awsConfig(startStandIn(t, name)), known) })
	}
	if endpoint := os.Getenv("KEYHEAT_TEST_DYNAMODB_ENDPOINT"); endpoint != "" {
		t.Run(endpoint, func(t *testing.T) { conformance.Run(t, awsConfig(endpoint), nil) })
	}
}
