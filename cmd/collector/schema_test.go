package main

import (
	"testing"

	"github.com/keyheat/keyheat/internal/testsupport/reference"
)

// TestSchemaIsTrue holds the JSON Schema to the configuration, and the example to both.
func TestSchemaIsTrue(t *testing.T) {
	t.Parallel()
	reference.CheckSchema(t, "../../docs/collector.schema.json", "The configuration of Keyheat's collector", defaults(), "../../deploy/examples/collector.yaml")
}
