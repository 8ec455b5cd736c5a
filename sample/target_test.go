package sample_test

import (
	"slices"
	"testing"

	"github.com/keyheat/keyheat/sample"
)

func TestTargetsAreOrderedAndNamed(t *testing.T) {
	t.Parallel()
	all := []sample.Target{
		{Account: "1", Region: "eu-west-1", Table: "a"}, {Table: "orders", Index: "by-date"}, {Table: "users"}, {Table: "orders"},
	}
	slices.SortFunc(all, sample.Target.Compare)
	var names []string
	for _, target := range all {
		names = append(names, target.Name())
	}
	if want := []string{"orders", "orders/by-date", "users", "1/eu-west-1/a"}; !slices.Equal(names, want) {
		t.Errorf("targets are %q, want %q", names, want)
	}
}
