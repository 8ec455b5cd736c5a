// Package keypatterns recognises two patterns in the names of hot keys, and judges the
// keys of a pattern together.
//
// Keys may be named after the time in which they are hot, such as 2026-11-21 or
// events#2026112109: today's key is hot today, and tomorrow another one will be.
// [MatchTime] finds a second, minute, hour, day or ISO week in a key's name, or a Unix
// time. It does not recognise months. [Rolling] keeps the newest hot keys of each such
// pattern, and returns a finding about the pattern once two of its keys were hot.
//
// Keys may also be shards of one key already, such as user#42#SHARD_0 to
// user#42#SHARD_7. [Groups] observes every window and sums the shards of a key by
// second, over the last horizon or two. [Groups.Findings] reports too few, too many or
// uneven shards. It also puts the sharding into the findings about single shards, so that
// their advice is about the whole key.
//
// Keyheat believes a name with a word, such as #SHARD_7. A mere number, as in user#42, is
// a shard if the policy declares it. It also is one if all numbers are there, most carry
// about the same load, and together they would be a hot key. At most 1,024 shards a key
// and 20,000 keys are kept.
package keypatterns
