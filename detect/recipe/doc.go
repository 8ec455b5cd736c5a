// Package recipe writes the application code of a sharded key in Go, Python and
// JavaScript for Node. The code writes to shards, reads all shards, moves stored items,
// and counts.
//
// The code is to be copied. It contains the key's own names, and in Go it imports package
// shardkey and nothing else of Keyheat. In every language it chooses shards like
// shardkey.
package recipe
