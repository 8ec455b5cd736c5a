// Package diagnosis finds why a table does not heal by itself.
//
// [Diagnose] returns a hot key's reason and ground; [HotPartition] and [ForTable] do so, with
// the steps, for a table or index as a whole. Package fixes has the steps for a hot key.
// [FindRelated] returns further findings of a hot key's evidence: a single caller, a test's
// key, large items, a growing item collection.
//
// All follows from the finding and from facts about the table. Nothing is guessed: with an
// unknown cause the reason is UNDETERMINED.
package diagnosis
