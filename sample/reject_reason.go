package sample

// Handler receives a decoder's results.
type Handler interface {
	// Record receives one good sample. It must not change it. The sample is valid until Record
	// returns.
	Record(r *Record)
	// Bad receives one bad sample with its reject reason. The excerpt is a short raw prefix of
	// it, is valid until Bad returns, and may hold personal data.
	Bad(reason RejectReason, excerpt []byte)
}

// RejectReason names in one word why a sample was not counted. The set is closed, so a reject
// reason may be a metric label.
type RejectReason string

// The reject reasons. A bad sample has the first that applies. Decoders check JSON before
// fields, and the format of all fields before their limits.
const (
	// RejectEmpty rejects a message without a value: a Kafka tombstone, or white space.
	RejectEmpty RejectReason = "empty"
	// RejectSyntax rejects text that is not JSON, and bytes that are not a batch of package
	// samplepb.
	RejectSyntax RejectReason = "syntax"
	// RejectBadUTF8 rejects a string that is not Unicode: invalid UTF-8, or half a surrogate
	// pair.
	RejectBadUTF8 RejectReason = "bad_utf8"
	// RejectTooDeep rejects JSON that is nested too deep.
	RejectTooDeep RejectReason = "too_deep"
	// RejectNotObject rejects a JSON value that is not an object.
	RejectNotObject RejectReason = "not_object"
	// RejectNoTime rejects a missing ts if the message has no time of its own.
	RejectNoTime RejectReason = "no_time"
	// RejectBadTime rejects a ts that is neither Unix milliseconds nor RFC 3339, lies before
	// DynamoDB existed (seconds mistaken for milliseconds), or after 9999.
	RejectBadTime RejectReason = "bad_time"
	// RejectNoTable rejects a missing or empty table.
	RejectNoTable RejectReason = "no_table"
	// RejectBadTable rejects a table or index with an impossible name: not a text, or a text that
	// [IsName] rejects, such as an ARN.
	RejectBadTable RejectReason = "bad_table"
	// RejectBadOp rejects an op that is not a data operation of DynamoDB.
	RejectBadOp RejectReason = "bad_op"
	// RejectNoKey rejects a missing pk, except on a Scan.
	RejectNoKey RejectReason = "no_key"
	// RejectBadKey rejects a pk or sk that DynamoDB could not hold: empty, of another type than
	// keys have, an impossible number, broken base64, too many parts.
	RejectBadKey RejectReason = "bad_key"
	// RejectKeyTooLong rejects a pk over 2,048 bytes or an sk over 1,024.
	RejectKeyTooLong RejectReason = "key_too_long"
	// RejectBadBytes rejects bytes that is not a whole number from 0.
	RejectBadBytes RejectReason = "bad_bytes"
	// RejectTooLarge rejects bytes over DynamoDB's limits: 400 KB for an item, 1 MB for a page
	// of a Query, a Scan or a statement.
	RejectTooLarge RejectReason = "too_large"
	// RejectBadRead rejects a read that is none of the three consistencies.
	RejectBadRead RejectReason = "bad_read"
	// RejectNoOp rejects a record without units whose op may read or write.
	RejectNoOp RejectReason = "no_op"
	// RejectBadUnits rejects an rcu or wcu that is negative, infinite, absurd or not a number.
	// It also rejects a load (n × units ÷ rate) beyond MaxLoad, and wcu for an operation that
	// only reads.
	RejectBadUnits RejectReason = "bad_units"
	// RejectBadRate rejects a rate outside (0,1], or under MinRate.
	RejectBadRate RejectReason = "bad_rate"
	// RejectBadN rejects an n that is not a whole number from 1 to MaxN.
	RejectBadN RejectReason = "bad_n"
	// RejectBadCalls rejects a number of calls that is not above 0 and at most n.
	RejectBadCalls RejectReason = "bad_calls"
	// RejectBadRetries rejects attempts that is not a whole number from 1 to MaxAttempts, and
	// waited_ms that is not a number from 0 to MaxWaited. It also rejects failed that is
	// neither true nor false, and waited_ms or failed without attempts.
	RejectBadRetries RejectReason = "bad_retries"
	// RejectBadLost rejects conflict and condition_failed that are not whole numbers from 0, or
	// more than all attempts. Only writes and transactions can have them.
	RejectBadLost RejectReason = "bad_lost"
	// RejectBadThrottle rejects a throttle that means "not throttled", such as "false", or is an
	// error of another kind, such as TransactionConflict. In foreign fields it rejects a throttle
	// that [ParseThrottle] does not know.
	RejectBadThrottle RejectReason = "bad_throttle"
	// RejectBadText rejects a throttle, caller, account, region or id that is not a string, and
	// an account or region that [IsPlace] rejects.
	RejectBadText RejectReason = "bad_text"
	// RejectBadAttrs rejects attrs that does not map text to text.
	RejectBadAttrs RejectReason = "bad_attrs"
)
