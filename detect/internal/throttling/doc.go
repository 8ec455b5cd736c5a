// Package throttling measures the pressure on a table or index as a whole: the requests
// that DynamoDB throttled, by throttle reason, and the demand on its provisioned capacity.
//
// The response's throttling reason decides, never the exception's class. Key-range
// throttling without a key near a limit is a hot partition. Any other reason, or a demand
// above the provisioned capacity, is a table with too little of it. Samples from a stream
// carry no reason, so only their demand is known.
package throttling
