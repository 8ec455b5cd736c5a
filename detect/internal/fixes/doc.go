// Package fixes is the ledger of what can be done about a hot key: for each fix when
// the evidence supports it, the load that it leaves, and its effort.
//
// [Steps] returns the fixes that apply, ordered by effect for effort: one that
// leaves the key below the policy's share of the limit comes before one of which that is
// open, and that before one that certainly does not, as far as their efforts are alike.
// A caller that alone makes the key hot, and a table that is short of capacity, come
// first: no design of keys mends them. Shards, the costliest fix, are left out where a
// cheaper one suffices.
//
// The table in ledger.go lists every fix; requests.go, items.go and keys.go hold them,
// by what they change.
package fixes
