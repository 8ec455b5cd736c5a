// Package retries adds up how the calls of a hot key were sent in its last minute: how
// often, by whom, and the toll of that, which is for how long callers waited in retries
// and how many requests failed for good.
//
// Attempts are no demand: a request that is sent four times is asked for once. They
// size nothing, and say whose client is to be mended.
package retries
