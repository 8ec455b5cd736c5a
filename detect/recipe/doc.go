// Package recipe writes the application code of a sharded key: writing to its shards,
// reading all of them, the move of what is stored, and counters, in Go, Python and
// JavaScript for Node.
//
// The code is to be copied: it has the key's own names, nothing of Keyheat but, in Go,
// package shardkey, and chooses shards as that does in every language.
package recipe
