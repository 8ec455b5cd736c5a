// Package causes tells which findings have one cause, so that people are told of it
// once: 300 shards of one key, or the hours of a rolling key, are one incident.
//
// [Moving] finds load that goes from key to key. [Assign] says of each finding which
// incident it is evidence of, and gives the finding that explains the others their
// severity and state.
package causes
