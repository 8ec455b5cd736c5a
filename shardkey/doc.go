// Package shardkey spreads one hot DynamoDB partition key over several key shards: write
// sharding. It needs only the standard library and works with any AWS client, because it only
// makes and reads names of partition keys.
//
// A Sharding is a number of key shards and the form of their names:
//
//	s, err := shardkey.New(8, shardkey.HashNumber())   // user#42 → user#42#0 … user#42#7
//
// Choose the key shard of an item with Pick, from an attribute that you know when you read the
// item. Use Random only if you always read the whole key. To read the whole key, query the
// names of All; Query does so concurrently and merges the results.
//
// # Costs
//
// Reading the whole key takes one query for each key shard, of at least half a read unit. A
// later change of the number of key shards is a change of the application; Grow keeps older
// items readable. DynamoDB places names by a hash, so that key shards numbered 0, 1, 2 may
// share a partition until it splits. PlaceApart chooses numbers that lie apart.
//
// # Names
//
// Parse recognises the common forms of names. HashNumber, DotNumber, NumberHash and NumberDash
// also look like ordinary composite keys ("user#42"). For these, Parse guesses from one name;
// confirm it by other names of the same base.
package shardkey
