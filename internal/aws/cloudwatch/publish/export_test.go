package publish

import "context"

// Pass does what Run does at one time.
func (p *Publisher) Pass(ctx context.Context) error { return p.pass(ctx) }
