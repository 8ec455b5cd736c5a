// Package relate finds why a table does not heal by itself, and which findings have one
// cause.
//
// [Diagnose] returns a hot key's ground; [HotPartition] and [ForTable] do so, with the
// steps, for a table or index as a whole. Package fixes has the steps for a hot key.
// [FindRelated] returns further findings of a hot key's evidence: a single caller, a test's
// key, large items, a growing item collection.
//
// [Assign] sets each finding's incident: findings with one cause form one incident, such as
// the 300 shards of a key, or the hours of a rolling key. It also gives the finding that
// explains the others their severity and state. [Moving] finds load that moves from key to
// key.
//
// All follows from the finding and from facts about the table. Nothing is guessed: where
// the samples leave it open, the ground says why.
package relate
