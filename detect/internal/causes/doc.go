// Package causes finds the findings that have one cause, so that they form one incident:
// 300 shards of one key, or the hours of a rolling key.
//
// [Moving] finds load that moves from key to key. [Assign] sets each finding's incident,
// and gives the finding that explains the others their severity and state.
package causes
