// Package corroboration compares what samples say with what CloudWatch says: the
// part of the real load that the samples show, whether DynamoDB throttled anything
// in the minutes of a finding and why, and what it throttled without a hot key.
//
// CloudWatch's minutes are means over 60 seconds and over all partitions. They
// cannot show a hot key, or a hot second, but they count every request, and they
// tell why requests were throttled.
package corroboration
