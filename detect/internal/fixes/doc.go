// Package fixes is the ledger of fixes for a hot key: when the evidence supports each fix,
// the load that it leaves, and its effort.
//
// [Steps] returns the fixes that apply, ordered by effect for effort. Among fixes of like
// effort, a fix that certainly leaves the key below the policy's share of the limit comes
// first, then a fix that may, then a fix that does not. A caller that alone makes the key
// hot, and a table short of capacity, come before all: no design of keys mends them. Key
// shards, the costliest fix, are left out if a cheaper one suffices.
//
// The table in ledger.go lists every fix. The functions are in requests.go, items.go and
// keys.go, by the thing that they change.
package fixes
