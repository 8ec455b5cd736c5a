// Package shardkey spreads one hot DynamoDB partition key over several: write
// sharding. It needs nothing but the standard library, and knows nothing of any
// AWS client: what it makes and reads are names of partition keys.
//
// A Sharding is a number of shards and the form of their names:
//
//	s, err := shardkey.New(8, shardkey.HashNumber())   // user#42 → user#42#0 … user#42#7
//
// A writer that only ever reads the aggregate takes a Random shard. One that
// reads single items back takes For, which calculates the shard from an
// attribute that the reader knows too. A reader of everything takes All, and
// Query, which reads the shards side by side and merges them.
//
// # What it costs
//
// Reading the whole key takes one query a shard, each of at least half a read
// unit. Changing the number of shards later is a change of the application:
// Grow keeps what the old number wrote readable. N names are not N partitions:
// DynamoDB places them by hash, and several may share one until it has split.
//
// # Names
//
// Parse recognises the forms that are found in the field. HashNumber, DotNumber,
// NumberHash and NumberDash look like ordinary composite keys too ("user#42"): what Parse
// says of these is a guess from one name, that other names of the same base have
// to confirm.
package shardkey
