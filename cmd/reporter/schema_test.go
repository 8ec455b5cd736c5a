package main

import (
	"testing"

	"github.com/spf13/pflag"

	"github.com/keyheat/keyheat/internal/settings/config"
	"github.com/keyheat/keyheat/internal/testsupport/reference"
)

// TestSchemaIsTrue holds the JSON Schema to the configuration, and the example to both.
func TestSchemaIsTrue(t *testing.T) {
	t.Parallel()
	const example = "../../deploy/examples/reporter.yaml"
	reference.CheckSchema(t, "../../docs/reporter.schema.json", "The configuration of Keyheat's reporter", defaults(), example)
	if err := config.Load(defaults(), config.Options{Files: []string{example}, Flags: pflag.NewFlagSet("none", pflag.ContinueOnError)}); err != nil {
		t.Errorf("%s: %v", example, err)
	}
}
