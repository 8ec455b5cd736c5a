package keydesign

import "github.com/keyheat/keyheat/sample"

// From where on a key design is judged as it is. The verdicts are those of the
// sources on the examples that they name: see the story table of the test.
const (
	// fewWords distinct words are a list of values, such as states or countries:
	// there are 249 country codes. Such lists do not grow with the traffic.
	fewWords = 256
	// fewKeys is how few ids bound a table soon, and veryFewKeys now.
	fewKeys, veryFewKeys = 100, 10
	// manyKeys and evenShare are what an excellent design has.
	manyKeys, evenShare = 1000, 0.01
	// dominantShare is the share of a key that stands out, majorityShare that of one
	// with more than all others.
	dominantShare, majorityShare = 0.1, 0.5
	// aboutAsMuch is the part of the largest load from which another key's is about as much.
	aboutAsMuch = 0.9
	// unknownShares is the deviation of shares from which they are not known.
	unknownShares = 0.1
	// flushedShare is the part of a load with the times of flushes from which seconds do
	// not show which requests met.
	flushedShare = 0.05
	// oneForm is the share of keys that must have a form for it to say what all are.
	oneForm = 0.9
	// throughout is the part of the time in which a key was there, for its share to
	// be one of all of it.
	throughout = 0.9
	// evenShards is by how much the hottest of even shards is above the mean:
	// the sources warn from 20% on.
	evenShards = 1.2
	// deepParts is how many parts a key has that is hard to query.
	deepParts = 6
)

// What a key must have before it is judged by its share: a key with one request had
// the whole of its second.
const (
	shareRequests              = 100
	shareUnits    sample.Milli = 50_000
	// majorityRequests is how many of one second a key has that bounds the second: of
	// fewer one key has most by chance.
	majorityRequests = 30
)

// Keys are called ordered by their numbers when so many of them agree with the order
// of their first use: 0 is no agreement, 1 perfect.
const (
	orderedKeys        = 30
	orderedConcordance = 0.9
)
