// Package corroboration compares samples with CloudWatch. It estimates the part of the
// real load that the samples show. It checks whether and why DynamoDB throttled requests
// in the minutes of a finding, and finds throttling without a hot key.
//
// CloudWatch's minutes are means over 60 seconds and over all partitions. They cannot
// show a hot key, or a hot second, but they count every request, and they name the
// reasons of throttling.
package corroboration
