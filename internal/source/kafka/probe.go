package kafka

import (
	"context"
	"fmt"
)

// Probe asks the cluster once whether it answers and has every topic. Its error
// is a sentence that says what is wrong and what to do.
func (c Config) Probe(ctx context.Context) error {
	if err := c.Validate(); err != nil {
		return err
	}
	c = c.withDefaults()
	link := newLink(c)
	defer link.close()
	ctx, cancel := context.WithTimeout(ctx, c.RequestTimeout)
	defer cancel()
	missing, err := link.missingTopic(ctx, c.Topics)
	switch {
	case err != nil:
		return err
	case missing != "":
		return fmt.Errorf("the cluster has no topic %q: create it, or correct the name", missing)
	}
	return nil
}
