package cloudwatch

import "context"

// Pass is one look at what is due.
func (r *Reader) Pass(ctx context.Context) error { return r.pass(ctx) }
