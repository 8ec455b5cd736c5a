package collect_test

import (
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/collect"
	"github.com/keyheat/keyheat/sketch"
)

func TestConfigIsChecked(t *testing.T) {
	t.Parallel()
	sound := collect.Config{Source: "kafka:keyheat"}
	if err := sound.Validate(); err != nil {
		t.Errorf("the defaults are refused: %v", err)
	}
	for _, c := range []struct {
		fault string
		spoil func(*collect.Config)
	}{
		{"no source", func(c *collect.Config) { c.Source = " " }},
		{"commit interval", func(c *collect.Config) { c.CommitInterval = -time.Second }},
		{"commit timeout", func(c *collect.Config) { c.CommitTimeout = time.Microsecond }},
		{"stop timeout", func(c *collect.Config) { c.StopTimeout = 2 * time.Hour }},
		{"too old", func(c *collect.Config) { c.TooOld = time.Millisecond }},
		{"too far ahead", func(c *collect.Config) { c.TooFarAhead = -1 }},
		{"max ahead", func(c *collect.Config) { c.MaxAhead = -1 }},
		{"patience", func(c *collect.Config) { c.Patience = -1 }},
		{"stuck after", func(c *collect.Config) { c.StuckAfter = -1 }},
		{"shards", func(c *collect.Config) { c.Shards = -1 }},
		{"pending bytes", func(c *collect.Config) { c.PendingBytes = 1 << 40 }},
		{"bad share", func(c *collect.Config) { c.BadShare = 1.5 }},
		{"bad samples", func(c *collect.Config) { c.BadSamples = -1 }},
		{"sets", func(c *collect.Config) { c.Sketch = sketch.Config{Sets: 3} }},
	} {
		spoiled := sound
		c.spoil(&spoiled)
		if err := spoiled.Validate(); err == nil || !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%s: Validate returns %v", c.fault, err)
		}
		if _, err := collect.New(spoiled, newMemory(), seed, quiet); err == nil {
			t.Errorf("%s: New takes it", c.fault)
		}
	}
}
