package options_test

import (
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
		"orders": "", "oders": `no sample has the table "oders": did you mean "orders"?`, "invoices": `no sample has the table "invoices"`,
	} {
		if err := options.CheckSeen("table", name, known); (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}
