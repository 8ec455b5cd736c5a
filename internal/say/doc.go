// Package say writes the words that people read about a finding: a title and five answers, in the
// order in which on-call needs them. The answers come from [answer.New] as codes and
// figures. Text of the monitored system, such as a key or a caller, enters a sentence
// through quote alone.
package say
