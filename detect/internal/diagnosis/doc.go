// Package diagnosis words a finding: why the table does not heal by itself, and what to
// do about a table as a whole. What to do about a hot key is package fixes.
//
// [Diagnose] gives a hot key's reason;
// [WhyHotPartition], [WhyStarved] and [ForTable] do so for a table or index as a whole.
// [Related] returns the findings that the evidence of a hot key has beside its heat: a
// single caller, a test's key, large items, a growing item collection.
//
// Everything is derived from the finding and from what is known of the table. What is
// not known is not guessed: the reason is then UNDETERMINED.
package diagnosis
