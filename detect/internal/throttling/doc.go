// Package throttling measures the pressure on a table or index as a whole: which
// requests DynamoDB throttled and why, and the demand as a share of the provisioned
// capacity.
//
// The cause is in the throttling reason of the response, never in the exception's
// class. Key-range throttling without a key near a limit is a hot partition; any
// other cause, or a demand above the provisioned capacity, is a table that has too
// little of it. Where the samples do not carry a reason, as those of a stream do
// not, only the demand is known.
package throttling
