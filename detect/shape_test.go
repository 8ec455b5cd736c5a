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
		if got := detect.NamedShape(name); got != want {
			t.Errorf("%q is a %s, want %s", name, got, want)
		}
	}
}
