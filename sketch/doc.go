// Package sketch summarises a stream of requests in bounded memory, so that
// every key that comes near a DynamoDB partition's limits is found, with
// bounds that hold for certain.
//
// # How it is used
//
// One Shard takes records, by one goroutine at a time; a collector has one a
// core. Limits are per second, so a Shard keeps a ring of live event-time
// seconds, each with a summary of its own; a second that leaves the ring is
// sealed, and a late record opens its second again. Seal hands everything over
// as a Delta, which travels in binary form and whose windows Merge in any
// order.
//
// # What a second holds
//
// The front is a set-associative table of candidate keys. A key in the front
// has exact counts since its admission, and an admission error: the most that
// it can have had before. Behind the front stands a count-min sketch with
// conservative update (Estan and Varghese, 2002; Cormode and Muthukrishnan,
// 2005), blocked so that a key touches one cache line. It counts what has no
// place in the front, and decides who enters: a key whose upper bound passes the
// smallest upper bound in its full set takes that candidate's place, as in
// Space-Saving (Metwally, Agrawal and El Abbadi, 2005). The weight of a
// request is 3·write units + read units, DynamoDB's own measure of
// consumption, in which both of a partition's limits are 3,000 a second; so one
// sketch serves both.
//
// A set whose smallest key is heavy is crowded: keys of other tables may fill it. Keys that
// it has no room for then compete for the reserve of their own table, fourteen places by
// Space-Saving, so that a flood in one table leaves each other table its heaviest keys. At
// most 256 tables of a second have a reserve; of the others Window.Unseen tells.
//
// Totals of requests and units are exact per table and index.
//
// # Bounds
//
// In one sealed second of one table let T be the exact total of requests with a key, Σc the counts of
// all listed keys, R = T − Σc what unlisted keys had, ε the admission error of
// a listed key, and A the largest upper bound that any key had when its set
// turned it away or put it out. Then for a listed key
//
//	c ≤ true ≤ c + min(ε/a, R)
//
// and for a key that is not listed
//
//	true ≤ min(A/a, R)
//
// where a is 3 for write units and 1 for read units, since ε and A are weights.
// The first holds because ε is the smaller of two upper bounds of what the key
// had: its count-min estimate, and the largest upper bound with which its set
// ever left a key outside. Both hold also with
// R, because what the key had before its admission, or had at all, is counted
// in T and in no c.
//
// Windows of the same second add: low bounds add, and each window adds its own
// error for the keys it lists and its own "unseen" for those it does not. The
// merged bounds are therefore the sums that the windows would have given one by
// one, whatever the order. Window.Unseen below a limit proves that no key over
// that limit was missed. R is taken window by window, which is never wider than
// taking it over all of them.
//
// A counter that is full stands for an unlimited amount; then only R bounds.
//
// Two keys that share all 64 bits of the hash are taken for one. Among a million
// keys a second that happens once in 37 million seconds.
//
// # Evidence
//
// Of a key that reaches a tenth of a limit in a second it is also gathered what
// its requests were like: operations, causes of throttling, sort keys and their
// direction, callers, sizes. Hottest items and callers are kept by Misra and
// Gries's summary (1982): a lower bound each, and the most that any misses; both
// add when windows merge, so that a share decides by its lower bound.
//
// Where records tell it, how often its calls were sent, how long their callers waited
// for that and what failed is added up as well, of all requests, with the eight callers
// who sent most (Retries). A caller that is not listed is in the sums.
//
// # Sampling
//
// What samples leave open of a key's load is the variance of the sums of its calls
// (Spread), since calls are sampled and items are counted. A record that says how
// many of its requests were drawn together adds a bound, one that names its call the
// variance against the last few calls of the key; bounds add over collectors, and so
// do the others as long as the records of a call come to one collector. Draws keeps
// what the records stated.
//
// # Times
//
// Window.Arrivals tells of the requests of each producer which have the times of a flush,
// as it seems, and not their own. Evidence.Arrivals tells it of a key's load, whoever sent
// the requests: so that one caller who flushes says nothing of the keys of others. Parts of
// a second carry the times themselves, and only the merged second decides: the verdict is
// the same over however many parts the records went.
//
// # Distinct keys
//
// Beside the ring there is a HyperLogLog a table, index and minute (precision
// 12, standard error 1.6%), fed with the same hash. A Delta carries only
// registers that have risen; merging is by maximum, so sending one twice
// changes nothing.
package sketch
