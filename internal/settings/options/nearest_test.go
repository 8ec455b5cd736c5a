package options_test

import (
	"slices"
	"testing"

	"github.com/keyheat/keyheat/internal/settings/options"
)

// TestNearestNames: a slip of a few letters finds its name, and text that is like none finds
// none.
func TestNearestNames(t *testing.T) {
	t.Parallel()
	known := []string{"orders", "carts", "by-status", ""}
	for name, want := range map[string]string{
		"oders": "orders", "ordesr": "orders", "Orders": "orders", "order": "orders", "by-state": "by-status",
		"invoices": "", "x": "", "": "",
	} {
		if got := options.Nearest(name, known); got != want {
			t.Errorf("the nearest to %q is %q, want %q", name, got, want)
		}
	}
	for name, want := range map[string]string{
		"oders": `: did you mean "orders"?`, "invoices": "; known are orders, carts, by-status",
	} {
		if got := options.Suggest(name, known[:3]); got != want {
			t.Errorf("%s%s, want %s", name, got, want)
		}
	}
	if got := options.Suggest("invoices", slices.Repeat([]string{"a"}, 12)); got != "; known are a, a, a, a, a, a, a, a, a, a and 2 more" {
		t.Errorf("of twelve: %s", got)
	}
}
