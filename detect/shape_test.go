package detect_test

import (
	"testing"

	"github.com/keyheat/keyheat/detect"
)

// TestNamedShape tells what items are by their names: what must stay one item, above all.
func TestNamedShape(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]detect.Shape{
		"seq#order": detect.ShapeSequence, "ORDER_SEQUENCE": detect.ShapeSequence,
		"lock#billing": detect.ShapeLock, "leader": detect.ShapeLock, "jobLease": detect.ShapeLock, "clock#1": detect.ShapeUnknown,
		"session#42": detect.ShapeRecord, "userSession": detect.ShapeRecord, "obsession": detect.ShapeUnknown,
		"ORDER#viewCount": detect.ShapeCounter, "email#a@example.org": detect.ShapeName, "tenant#4": detect.ShapeUnknown, "": detect.ShapeUnknown,
	} {
		if got := detect.NamedShape(name, "orders"); got != want {
			t.Errorf("%q is a %s, want %s", name, got, want)
		}
	}
}

// TestNamedTable tells what the items of a table are by the last word of its name, if they cannot be
// divided, and never against the word of the item itself.
func TestNamedTable(t *testing.T) {
	t.Parallel()
	for table, want := range map[string]detect.Shape{
		"locks": detect.ShapeLock, "orders-locks": detect.ShapeLock, "JobLeases": detect.ShapeLock, "prod_locks_v2": detect.ShapeLock, "locks-prod": detect.ShapeLock,
		"sequences": detect.ShapeSequence, "sessions": detect.ShapeRecord, "idempotency": detect.ShapeRecord,
		"orders-lock-service": detect.ShapeUnknown, "clocks": detect.ShapeUnknown, "session-events": detect.ShapeUnknown,
		"counters": detect.ShapeUnknown, "prod": detect.ShapeUnknown, "": detect.ShapeUnknown,
	} {
		if got := detect.NamedShape("billing", table); got != want {
			t.Errorf("an item of %q is a %s, want %s", table, got, want)
		}
		if got := detect.NamedShape("views", table); got != detect.ShapeCounter {
			t.Errorf("views of %q are a %s", table, got)
		}
	}
}
