// Package streamstest is a DynamoDB for tests, with streams that behave like
// the real ones: shards that split and roll over while they are read, pages
// that are empty in the middle of a shard, iterators that expire, records that
// are trimmed, a DescribeStream that lags behind, limits, refusals and errors.
// The stand-ins that others made keep one open shard a stream, and so cannot
// show any of this. It is for tests only.
//
//	fake := streamstest.New(streamstest.Options{})
//	table := fake.CreateTable(model.Schema{Name: "orders", Key: model.Key{Partition: []string{"pk"}}})
//	table.EnableStream(streamstest.NewAndOldImages)
//	client := dynamodbstreams.NewFromConfig(fake.Config("reader"))
//
// A Fake speaks AWS's JSON 1.0 protocol, to the real SDK: through memory with
// Config, which opens no socket and starts no goroutine, or as an http.Handler
// behind a listener on loopback. Its time is time.Now, moved on by Advance; in
// a testing/synctest bubble it is the bubble's time.
//
// # What it holds to, and where that is written
//
// API = Amazon DynamoDB Streams API Reference (the SDK's own comments repeat
// it), Guide = DynamoDB Developer Guide, "Change data capture for DynamoDB
// Streams" and "Quotas". What AWS does not say is marked: assumed.
//
//   - Each record stands once in the stream; the records of one item stand in
//     the order of its changes (Guide). A write that changes nothing has no
//     record (Guide).
//   - A shard closes when its parent partition splits or after about four
//     hours; its children cover its keys. It then has an EndingSequenceNumber
//     (API, DescribeStream). Options.Rollover and Table.Split.
//   - An iterator expires 15 minutes after it was given, by GetShardIterator
//     or as NextShardIterator: ExpiredIteratorException (API, GetRecords).
//   - Records are removed after 24 hours. A sequence number older than that,
//     and an iterator whose next record was removed meanwhile, are answered
//     with TrimmedDataAccessException; TRIM_HORIZON begins with the oldest
//     record that is left (API, GetShardIterator, and the exception's text).
//   - A shard that closed more than 24 hours ago is gone: not listed, and
//     ResourceNotFoundException. Its children still name it as their parent
//     (assumed, as seen by consumers).
//   - GetRecords returns up to 1,000 records or 1 MB, whichever comes first;
//     it may return none although more will follow: only a null
//     NextShardIterator ends a shard (API, GetRecords). That null may come with
//     the last records or with an empty page after them (assumed).
//   - DescribeStream lists up to 100 shards a page, in no promised order; a
//     LastEvaluatedShardId does not mean that there is more (API). It returns
//     CHILD_SHARDS with the children of one shard (API, ShardFilter).
//   - Records appear in near-real time, not at once (Guide): Options.Delay.
//   - DescribeStream may show new shards, and the end of their parents, only
//     after a while (assumed, seen by consumers): Options.Lag.
//   - DescribeStream is allowed 10 times a second, ListStreams 5 times (API):
//     beyond, ThrottlingException. More than two processes on one shard are
//     answered with LimitExceededException (API, the exception's text; Guide,
//     "Quotas"). A process is known by its access key.
//   - A stream that is disabled can be read for 24 hours more; a stream that is
//     enabled again has a new ARN, and begins empty (Guide).
//   - ApproximateCreationDateTime is rounded down to the second (API,
//     StreamRecord). Sequence numbers are decimal, 21 to 40 digits long (API,
//     GetShardIterator): those of this package grow from 39 digits to 40 early
//     in every stream, to trip who compares them as text or as integers.
//   - A deletion by time to live carries a userIdentity of type Service and
//     principalId dynamodb.amazonaws.com (API, Record).
//
// It records everything: Calls lists every request, Table.Written every change,
// and model.Schema.Charges what each change costs on the table and on every
// index. They are the oracle of tests, and share no code with what is tested.
package streamstest
