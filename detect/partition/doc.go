// Package partition infers a table's partitions from its stream.
//
// Each partition of a table has one open stream shard, and holds one contiguous range of key
// positions (package sample/position). So the positions of the keys that a shard delivers
// bound the range of its partition. A [Map] gathers these bounds; [Map.Locate] returns the
// partitions where a key can lie.
//
// AWS documents neither the hash nor the ranges, so a map checks itself with every record: a
// record that no set of contiguous, disjoint ranges can hold is a contradiction. Evidence
// is the chance that an unrelated hash would have caused none; below MinEvidence a map claims
// nothing. After some contradictions a map withdraws itself; see [State].
//
// There is no time in a map: a record belongs to the shard that delivered it, whenever it
// arrives. Adding a record twice changes nothing, and the order between shards does not matter.
// Indexes have no stream, and so no map.
//
// A [WalkDetector] finds load that walks through the key space, and needs no map.
package partition
