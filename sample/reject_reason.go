package sample

// Handler takes what a decoder finds in a message.
type Handler interface {
	// Record takes one good sample. It must not be changed, and is valid until Record
	// returns.
	Record(r *Record)
	// Bad takes one bad sample: why, and a short raw prefix of it, which is
	// valid until Bad returns and may hold personal data.
	Bad(reason RejectReason, excerpt []byte)
}

// RejectReason names in one word why a sample was not counted. The set is closed, so that
// it may be a metric label.
type RejectReason string

// The reasons. A bad sample has one, the first that is found: its JSON is
// checked before its fields, and every field's form before any field's
// limits.
const (
	// RejectEmpty is a message without any value: a Kafka tombstone, or blanks.
	RejectEmpty RejectReason = "empty"
	// RejectSyntax is text that is not JSON, or bytes that are no batch of package
	// samplepb.
	RejectSyntax RejectReason = "syntax"
	// RejectBadUTF8 is a string that is no Unicode text: invalid UTF-8, or half
	// a surrogate pair.
	RejectBadUTF8 RejectReason = "bad_utf8"
	// RejectTooDeep is JSON that is nested too deep.
	RejectTooDeep RejectReason = "too_deep"
	// RejectNotObject is a JSON value that is no object.
	RejectNotObject RejectReason = "not_object"
	// RejectNoTime is a missing ts where the message has no time of its own.
	RejectNoTime RejectReason = "no_time"
	// RejectBadTime is a ts that is neither Unix milliseconds nor RFC 3339, or
	// lies before DynamoDB was (seconds mistaken for milliseconds) or after 9999.
	RejectBadTime RejectReason = "bad_time"
	// RejectNoTable is a missing or empty table.
	RejectNoTable RejectReason = "no_table"
	// RejectBadTable is a table or index that DynamoDB cannot have: its name is no text, longer
	// than 255 bytes, or holds more than letters, digits, "_", "-" and ".", as an ARN does.
	RejectBadTable RejectReason = "bad_table"
	// RejectBadOp is an op that is none of DynamoDB's data operations.
	RejectBadOp RejectReason = "bad_op"
	// RejectNoKey is a missing pk on anything but a Scan.
	RejectNoKey RejectReason = "no_key"
	// RejectBadKey is a pk or sk that DynamoDB could not hold: empty, of a type
	// that is no key's, an impossible number, broken base64, too many parts.
	RejectBadKey RejectReason = "bad_key"
	// RejectKeyTooLong is a pk over 2,048 bytes or an sk over 1,024.
	RejectKeyTooLong RejectReason = "key_too_long"
	// RejectBadBytes is bytes that is no whole number from 0.
	RejectBadBytes RejectReason = "bad_bytes"
	// RejectTooLarge is bytes over what DynamoDB allows: 400 KB an item, 1 MB a
	// page of a Query, a Scan or a statement.
	RejectTooLarge RejectReason = "too_large"
	// RejectBadRead is a read that is none of the three consistencies.
	RejectBadRead RejectReason = "bad_read"
	// RejectNoOp is a record without units whose op does not say whether it
	// read or wrote.
	RejectNoOp RejectReason = "no_op"
	// RejectBadUnits is rcu or wcu negative, infinite, no number or absurd, or
	// a load (n × units ÷ rate) beyond MaxLoad; or wcu of an operation that only reads.
	RejectBadUnits RejectReason = "bad_units"
	// RejectBadRate is a rate outside (0,1], or under MinRate.
	RejectBadRate RejectReason = "bad_rate"
	// RejectBadN is an n that is no whole number from 1 to MaxN.
	RejectBadN RejectReason = "bad_n"
	// RejectBadCalls is a number of calls that is not above 0 and at most n.
	RejectBadCalls RejectReason = "bad_calls"
	// RejectBadRetries is attempts that are no whole number from 1 to MaxAttempts,
	// waited_ms that is no number from 0 to MaxWaited, failed that is neither true nor
	// false, or one of these two without attempts.
	RejectBadRetries RejectReason = "bad_retries"
	// RejectBadThrottle is a throttle that says that nothing was throttled, such as "false",
	// or, of other people's fields, one that [ParseThrottle] does not know.
	RejectBadThrottle RejectReason = "bad_throttle"
	// RejectBadText is a throttle, caller, account, region or id that is no
	// string, or an account or region that is not made as the name of a table is.
	RejectBadText RejectReason = "bad_text"
	// RejectBadAttrs is attrs that are not text to text.
	RejectBadAttrs RejectReason = "bad_attrs"
)
