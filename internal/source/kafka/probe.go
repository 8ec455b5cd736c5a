package kafka

import (
	"context"
	"fmt"
)

// Probe checks once that the cluster answers and has every topic. Its error is a
// sentence about what is wrong and what to do.
func (c Config) Probe(ctx context.Context) error {
	if err := c.Validate(); err != nil {
		return err
	}
	c = c.withDefaults()
	conn := newConnection(c)
	defer conn.close()
	ctx, cancel := context.WithTimeout(ctx, c.RequestTimeout)
	defer cancel()
	missing, err := conn.missingTopics(ctx, c.Topics)
	switch {
	case err != nil:
		return err
	case len(missing) > 0:
		return fmt.Errorf("the cluster has no topic %q: create it, or correct the name", missing[0])
	}
	return nil
}
