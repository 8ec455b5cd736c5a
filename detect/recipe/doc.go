// Package recipe writes the application code of a sharded key in Go, Python and
// JavaScript for Node: writes to its shards, reads of all shards, the move of stored
// items, and counters.
//
// The code is to be copied. It contains the key's own names, and in Go it imports package
// shardkey and nothing else of Keyheat. In every language it chooses shards like
// shardkey.
package recipe
