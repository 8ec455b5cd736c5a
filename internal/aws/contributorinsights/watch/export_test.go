package watch

import "context"

// Pass is one look at what is due.
func (w *Watcher) Pass(ctx context.Context) error { return w.pass(ctx) }
