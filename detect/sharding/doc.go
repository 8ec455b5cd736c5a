// Package sharding recognises keys that are sharded already, such as user#42#SHARD_0
// to user#42#SHARD_7, and judges all shards together as the one key that they are:
// too few of them, too many, or uneven ones.
//
// [Groups] observes every window and sums the shards of a key by second, over the
// last horizon or two. [Groups.Findings] returns what is wrong with them, and puts
// the sharding into the findings about single shards, whose advice then is about the
// number of shards of the whole key.
//
// A name with a word, such as #SHARD_7, is believed. A mere number, as in user#42,
// is a shard only when the numbers are all there, most of them carry about the same
// and together they would be a hot key; or when the policy says so. At most 1,024
// shards a key and 20,000 keys are kept.
package sharding
