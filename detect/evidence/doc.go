// Package evidence keeps what the requests of a key were like in its hottest
// seconds, and turns it into the shares that a finding shows: operations, sort keys,
// items, callers, attributes.
//
// The sketch gathers evidence of a key once it reached a tenth of a limit in a
// second: of sort keys from all requests, of the rest from a uniform sample, so shares
// have the bounds of a sample
// (see [github.com/keyheat/keyheat/detect/sampling.Wilson]). Of each key the 16
// hottest seconds are kept.
package evidence
