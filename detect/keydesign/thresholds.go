package keydesign

import "github.com/keyheat/keyheat/sample"

// These thresholds decide the verdicts. The story table of the test holds them to the
// examples that the sources name.
const (
	// fewWords is the most distinct words that count as a list of values, such as states
	// or countries: there are 249 country codes. Such lists do not grow with the traffic.
	fewWords = 256
	// fewKeys is the number of ids that will bound a table soon, veryFewKeys the number
	// that bounds it now.
	fewKeys, veryFewKeys = 100, 10
	// manyKeys is the least number of keys of an excellent design, evenShare the largest
	// share of one.
	manyKeys, evenShare = 1000, 0.01
	// dominantShare is the share of a key that stands out, majorityShare the share of a
	// key that has more than all others.
	dominantShare, majorityShare = 0.1, 0.5
	// unknownShares is the least standard deviation of shares that count as unknown.
	unknownShares = 0.1
	// flushedShare is the share of load with the times of flushes above which seconds do
	// not show which requests met.
	flushedShare = 0.05
	// oneForm is the share of keys that must have a form before it describes all keys.
	oneForm = 0.9
	// throughout is the part of the time that a key must span before its share holds for
	// all of it.
	throughout = 0.9
	// evenShards is the ratio of the hottest shard to the mean up to which shards are
	// even: the sources warn from 20% on.
	evenShards = 1.2
	// deepParts is the number of parts that makes a key hard to query.
	deepParts = 6
)

// A key is judged by its share once it has this much: a key with one request had the
// whole of its second.
const (
	shareRequests              = 100
	shareUnits    sample.Milli = 50_000
	// majorityRequests is the least number of a key's requests that can bound a second.
	// Of fewer requests, some key has most by chance.
	majorityRequests = 30
)

// Keys count as ordered if at least orderedKeys of them have numbers and the numbers
// agree with the order of first use: 0 is no agreement, 1 perfect.
const (
	orderedKeys        = 30
	orderedConcordance = 0.9
)
