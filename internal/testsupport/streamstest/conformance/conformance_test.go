package conformance_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"

	"github.com/keyheat/keyheat/internal/testsupport/streamstest"
	"github.com/keyheat/keyheat/internal/testsupport/streamstest/conformance"
)

// TestConformance holds the fake to the same suite as the stand-ins that others
// wrote; those are servers, and run with the end-to-end tests.
func TestConformance(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]streamstest.Options{
		"well behaved": {NoRates: true},
		"with faults":  {NoRates: true, EmptyPages: 0.3, Throttles: 0.1, Errors: 0.02, Lag: time.Second, Seed: 7},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := streamstest.New(o).Config("conformance")
			config.Retryer = func() aws.Retryer { return retry.AddWithMaxBackoffDelay(retry.NewStandard(), 5*time.Millisecond) }
			conformance.Run(t, config, nil)
		})
	}
}

// TestConformanceOfARefusal: what is known to fail may fail, and nothing else.
func TestConformanceOfARefusal(t *testing.T) {
	t.Parallel()
	fake := streamstest.New(streamstest.Options{NoRates: true})
	fake.Deny("ListStreams")
	conformance.Run(t, fake.Config("conformance"), map[string]string{
		"the table describes its schema and its stream": "ListStreams is refused",
		"a stream that is enabled again is another one": "ListStreams is refused",
	})
}
