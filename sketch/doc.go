// Package sketch finds the hot keys of a stream of requests in bounded memory. Every key near a
// limit of a DynamoDB partition is listed, and every load comes with two bounds that always
// hold.
//
// # Use
//
// Make one [Shard] for each core and call [Shard.Add] with each record, from one goroutine at a
// time. Call [Shard.Seal] every few seconds. It moves the summaries into a [Delta], which has a
// binary form for storage and transport. Join the windows of one second and table with
// [Window.Merge], in any order, and then ask the merged window:
//
//   - [KeyLoad.Low] is the load that is proven for a key, and [KeyLoad.High] the most that it
//     can be.
//   - [Window.Unseen] is the most that any unlisted key can have had. If it is below a limit,
//     the window lists every key over that limit.
//   - [Cardinality.Estimate] is the number of distinct keys in a minute.
//
// DynamoDB's limits are per second, so each event-time second has a summary of its own. A Shard
// keeps four seconds open at once. A newer second seals the oldest, and a late record opens its
// second again.
//
// # Limits of the method
//
// The bounds cover the records that were added. If the records are samples,
// [KeyLoad.ReadSpread] and [KeyLoad.WriteSpread] bound the variance that sampling adds.
// Summaries merge only if their [Config.Seed] is the same. Two keys with the same 64-bit hash
// count as one; among a million keys a second, that happens once in 37 million seconds. A shard
// keeps a limited number of tables apart ([Config.Tables]) and returns [ErrTooManyTables] for
// more.
//
// # The front and the counters
//
// The front is a set-associative table of candidate keys. A candidate has exact counts since
// its admission, and an admission error: the most load it can have had before. Behind the front
// is a count-min sketch with conservative update (Estan and Varghese, 2002; Cormode and
// Muthukrishnan, 2005). It is blocked, so that a key touches one cache line.
//
// The count-min sketch counts the keys outside the front and decides about admission. A key
// enters when its upper bound exceeds the smallest upper bound in its full set. It replaces that
// candidate, as in Space-Saving (Metwally, Agrawal and El Abbadi, 2005). A request weighs
// 3·write units + read units. In this measure both limits of a partition are 3,000 a second, so
// one sketch serves reads and writes.
//
// A set is crowded when its smallest key is heavy, perhaps because of keys of other tables.
// Keys without room in a crowded set compete for the reserve of their own table, which has
// fourteen places under Space-Saving. So a flood in one table leaves each other table its
// heaviest keys.
//
// Totals of requests and units are exact for each table and index.
//
// # Bounds
//
// Take one sealed second of one table. Let T be the exact total of requests with a key, and Σc
// the counts of all listed keys. R = T − Σc is then the load of all unlisted keys. Let ε be the
// admission error of a listed key, and A the largest upper bound of any key when its set
// rejected or evicted it. For a listed key
//
//	c ≤ true ≤ c + min(ε/a, R)
//
// and for an unlisted key
//
//	true ≤ min(A/a, R)
//
// where a is 3 for write units and 1 for read units, because ε and A are weights. The bound by
// ε holds because ε is the smaller of two upper bounds of the key's earlier load: its count-min
// estimate, and the largest upper bound that its set ever left outside. The bound by R holds
// because T counts the load of unlisted keys and of keys before their admission, and no c does.
//
// Windows of the same second add. Low bounds add; each window adds its own error for the keys
// it lists, and its own Unseen for the others. So the merged bounds are the sums of the single
// windows' bounds, in any order. R is taken for each window alone, which is never wider than R
// over all of them.
//
// A full counter stands for an unlimited amount, and then only R bounds the load.
//
// # Evidence
//
// From a tenth of a limit on, a key gets [Evidence]: operations, throttle reasons, sort keys
// and their direction, callers, sizes. The hottest items and callers come from Misra and
// Gries's summary (1982). Each has a lower bound, and one number bounds the weight that any of
// them misses. Both add when windows merge, so a share is judged by its lower bound.
//
// [Retries] adds up attempts, waiting times and failures of all requests whose records have
// them, with the eight callers who sent most. The sums include all other callers.
//
// # Contention
//
// A key's first lost attempt earns it evidence, however cool the key is: conflicts of transactions
// and failed conditions come at a few requests a second. [Contention] has the items that lost most,
// each with all its attempts, so that their share is known. A shard remembers contended items for a
// minute and counts them from the first request of a second. Requests that may be an item's too
// are counted apart, in [Contended.Before].
//
// # Sampling
//
// Calls are sampled, and items are counted, so the uncertainty of a key's load is the variance
// of the sums of its calls ([Spread]). A record that states how many of its requests were drawn
// together adds a bound. A record that names its call adds the variance against the last few
// calls of the key. Bounds add over collectors. Variances add too, as long as one collector
// gets all records of a call. [Draws] keeps the sampling that records stated.
//
// # Times
//
// Some producers write the time of a flush into their records, instead of the times of the
// requests. Window.Arrivals finds such requests by producer, and Evidence.Arrivals finds them
// by key, so one caller who flushes does not mark the keys of others. Each part of a second
// carries the times, and only the merged second decides. So the verdict does not depend on how
// records were spread over parts.
//
// # Positions
//
// DynamoDB keeps keys in the order of their positions (package position). For tables that
// [Shard.PlaceKeys] chose, the load of each request whose key has no candidate is added to its
// key's cell, one of 16,384, and an evicted candidate's load too. [Window.Trim] does so with the
// keys that it drops. So [Window.Keys], [Window.Cells] and [Window.Remainder] add up to the total,
// exactly, and a range of positions has a load with bounds. A position costs an MD5. They are
// taken some at a time, which costs about half as much as counting a request.
//
// # Distinct keys
//
// A HyperLogLog for each table, index and minute counts distinct keys with the same hash
// (precision 12, standard error 1.6%). A Delta carries only registers that have risen. They
// merge by maximum, so sending one twice changes nothing.
package sketch
