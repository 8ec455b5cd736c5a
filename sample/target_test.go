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

func TestMayBe(t *testing.T) {
	t.Parallel()
	whole := sample.Target{Account: "1", Region: "eu-west-1", Table: "orders"}
	for target, want := range map[sample.Target]bool{
		whole: true, {Table: "orders"}: true, {Region: "eu-west-1", Table: "orders"}: true, {Account: "1", Table: "orders"}: true,
		{Region: "us-west-2", Table: "orders"}: false, {Account: "2", Region: "eu-west-1", Table: "orders"}: false,
		{Table: "users"}: false, {Table: "orders", Index: "i"}: false,
	} {
		if whole.MayBe(target) != want || target.MayBe(whole) != want {
			t.Errorf("%s may be %s: want %t", target.Name(), whole.Name(), want)
		}
	}
}

func TestLookup(t *testing.T) {
	t.Parallel()
	all := map[string]int{"orders": 1, "eu-west-1/orders": 2, "1/eu-west-1/orders": 3, "1/us-west-2/carts": 4}
	for target, want := range map[sample.Target]int{
		{Table: "orders"}: 1, {Account: "1", Table: "orders"}: 1, {Account: "1", Region: "us-west-2", Table: "orders"}: 1,
		{Region: "eu-west-1", Table: "orders"}: 2, {Account: "2", Region: "eu-west-1", Table: "orders", Index: "i"}: 2,
		{Account: "1", Region: "eu-west-1", Table: "orders"}: 3,
		{Account: "1", Region: "us-west-2", Table: "carts"}:  4, {Region: "us-west-2", Table: "carts"}: 0, {Table: "carts"}: 0,
	} {
		if got, ok := sample.Lookup(all, target); got != want || ok != (want > 0) {
			t.Errorf("%s: %d, want %d", target.Name(), got, want)
		}
	}
}

func TestLookupAllocatesNothing(t *testing.T) {
	all := map[string]int{"orders": 1}
	of := sample.Target{Account: "1", Region: "us-west-2", Table: "orders"}
	if n := testing.AllocsPerRun(100, func() { sample.Lookup(all, of) }); n != 0 {
		t.Errorf("%g allocations", n)
	}
}
