package options_test

import (
	"testing"

	"github.com/keyheat/keyheat/internal/settings/options"
	"github.com/keyheat/keyheat/sample"
)

// TestCheck: the first name that no known target has is the error, with the nearest name of
// what is left of the known ones.
func TestCheck(t *testing.T) {
	t.Parallel()
	known := []sample.Target{
		{Table: "orders"}, {Table: "orders", Index: "by-status"}, {Table: "carts", Index: "by-date"},
		{Account: "111122223333", Region: "eu-west-1", Table: "users"}, {Account: "444455556666", Region: "us-east-1", Table: "users"},
	}
	for _, c := range []struct {
		asked sample.Target
		want  string
	}{
		{sample.Target{}, ""},
		{sample.Target{Table: "orders", Index: "by-status"}, ""},
		{sample.Target{Region: "us-east-1"}, ""},
		{sample.Target{Table: "oders", Index: "by-status"}, `no sample has the table "oders": did you mean "orders"?`},
		{sample.Target{Table: "o*"}, `no sample has the table "o*"; known are carts, orders, users`},
		{sample.Target{Table: "orders", Index: "by-date"}, `no sample of orders has the index "by-date"; known are by-status`},
		{sample.Target{Table: "users", Index: "by-date"}, `no sample of users has the index "by-date", or any index: leave it out`},
		{sample.Target{Table: "users", Account: "111122223333", Region: "us-east-1"}, `no sample of users in account 111122223333 has the region "us-east-1": did you mean "eu-west-1"?`},
		{sample.Target{Table: "orders", Region: "eu-west-1"}, `no sample of orders has the region "eu-west-1", or any region: leave it out`},
		{sample.Target{Region: "eu-west-2"}, `no sample has the region "eu-west-2": did you mean "eu-west-1"?`},
	} {
		if err := options.CheckNames(c.asked, known); (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
			t.Errorf("%+v: %v, want %s", c.asked, err, c.want)
		}
		if err := options.CheckNames(c.asked, nil); err != nil {
			t.Errorf("%+v before the first sample: %v", c.asked, err)
		}
	}
}
