package sample

// Handler takes what a decoder finds in a message.
type Handler interface {
	// Record takes one good sample. It must not be changed, and is valid until Record
	// returns.
	Record(r *Record)
	// Bad takes one bad sample: why, and a short raw prefix of it, which is
	// valid until Bad returns and may hold personal data.
	Bad(reason Reason, excerpt []byte)
}

// Reason says in one word why a sample could not be counted. The set is
// closed, so it may be a metric's label; Reasons lists it.
type Reason string

// The reasons. A bad sample has one, the first that is found: its JSON is
// checked before its fields, and every field's form before any field's
// limits.
const (
	// ReasonEmpty is a message without any value: a Kafka tombstone, or blanks.
	ReasonEmpty Reason = "empty"
	// ReasonSyntax is text that is not JSON, or bytes that are no batch of package
	// samplepb.
	ReasonSyntax Reason = "syntax"
	// ReasonBadUTF8 is a string that is no Unicode text: invalid UTF-8, or half
	// a surrogate pair.
	ReasonBadUTF8 Reason = "bad_utf8"
	// ReasonTooDeep is JSON that is nested too deep.
	ReasonTooDeep Reason = "too_deep"
	// ReasonNotObject is a JSON value that is no object.
	ReasonNotObject Reason = "not_object"
	// ReasonNoTime is a missing ts where the message has no time of its own.
	ReasonNoTime Reason = "no_time"
	// ReasonBadTime is a ts that is neither Unix milliseconds nor RFC 3339, or
	// lies before DynamoDB was (seconds mistaken for milliseconds) or after 9999.
	ReasonBadTime Reason = "bad_time"
	// ReasonNoTable is a missing or empty table.
	ReasonNoTable Reason = "no_table"
	// ReasonBadTable is a table or index that DynamoDB cannot have: its name is no text, longer
	// than 255 bytes, or holds more than letters, digits, "_", "-" and ".", as an ARN does.
	ReasonBadTable Reason = "bad_table"
	// ReasonBadOp is an op that is none of DynamoDB's data operations.
	ReasonBadOp Reason = "bad_op"
	// ReasonNoKey is a missing pk on anything but a Scan.
	ReasonNoKey Reason = "no_key"
	// ReasonBadKey is a pk or sk that DynamoDB could not hold: empty, of a type
	// that is no key's, an impossible number, broken base64, too many parts.
	ReasonBadKey Reason = "bad_key"
	// ReasonKeyTooLong is a pk over 2,048 bytes or an sk over 1,024.
	ReasonKeyTooLong Reason = "key_too_long"
	// ReasonBadBytes is bytes that is no whole number from 0.
	ReasonBadBytes Reason = "bad_bytes"
	// ReasonTooLarge is bytes over what DynamoDB allows: 400 KB an item, 1 MB a
	// page of a Query, a Scan or a statement.
	ReasonTooLarge Reason = "too_large"
	// ReasonBadRead is a read that is none of the three consistencies.
	ReasonBadRead Reason = "bad_read"
	// ReasonNoOp is a record without units whose op does not say whether it
	// read or wrote.
	ReasonNoOp Reason = "no_op"
	// ReasonBadUnits is rcu or wcu negative, infinite, no number or absurd, or
	// a load (n × units ÷ rate) beyond MaxLoad; or wcu of an operation that only reads.
	ReasonBadUnits Reason = "bad_units"
	// ReasonBadRate is a rate outside (0,1], or under MinRate.
	ReasonBadRate Reason = "bad_rate"
	// ReasonBadN is an n that is no whole number from 1 to MaxN.
	ReasonBadN Reason = "bad_n"
	// ReasonBadCalls is a number of calls that is not above 0 and at most n.
	ReasonBadCalls Reason = "bad_calls"
	// ReasonBadRetries is attempts that are no whole number from 1 to MaxAttempts,
	// waited_ms that is no number from 0 to MaxWaited, failed that is neither true nor
	// false, or one of these two without attempts.
	ReasonBadRetries Reason = "bad_retries"
	// ReasonBadThrottle is a throttle that says that nothing was throttled, such as "false",
	// or, of other people's fields, one that [ParseThrottle] does not know.
	ReasonBadThrottle Reason = "bad_throttle"
	// ReasonBadText is a throttle, caller, account, region or id that is no
	// string, or an account or region that is not made as the name of a table is.
	ReasonBadText Reason = "bad_text"
	// ReasonBadAttrs is attrs that are not text to text.
	ReasonBadAttrs Reason = "bad_attrs"
)
