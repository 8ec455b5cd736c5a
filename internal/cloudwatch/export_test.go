package cloudwatch

import "context"

// Pass is one look at what is due.
func (r *Reader) Pass(ctx context.Context) error { return r.pass(ctx) }

// Allowed is the part of a month's budget that may be spent by a time.
var Allowed = allowed
