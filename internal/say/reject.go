package say

import (
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/change"
	"github.com/keyheat/keyheat/sample/cloudtrail"
	"github.com/keyheat/keyheat/sample/mapped"
	"github.com/keyheat/keyheat/sample/otlp"
)

// RejectAdvice says what to do about samples with a reject reason.
func RejectAdvice(r sample.RejectReason) string {
	if text, known := rejectAdvice[r]; known {
		return text
	}
	return "Look at the excerpt, and at the producer that sent it."
}

const (
	dropBatch = "CloudTrail does not record these keys. Read the table's stream, or instrument the application."
	mendClock = "Correct the clock of the host that sends these samples."
)

var rejectAdvice = map[sample.RejectReason]string{
	sample.RejectEmpty:       "Ignore them if the topic holds tombstones. Otherwise look for empty messages.",
	sample.RejectSyntax:      "Have the producer send valid JSON. For Kafka, set kafka.format to the producer's format.",
	sample.RejectBadUTF8:     "Have the producer write UTF-8. Send binary keys as base64.",
	sample.RejectTooDeep:     "Send flat objects: only attributes may be nested.",
	sample.RejectNotObject:   "Send one JSON object for each request.",
	sample.RejectNoTime:      "Send ts with each sample, or let Kafka set the message's time.",
	sample.RejectBadTime:     "Send ts as Unix milliseconds or RFC 3339, not as seconds.",
	sample.RejectNoTable:     "Send the table's name with each sample.",
	sample.RejectBadTable:    "Send the table's name, not its ARN: DynamoDB's names have 3 to 255 characters.",
	sample.RejectBadOp:       "Send the name of a DynamoDB operation, such as PutItem.",
	sample.RejectNoKey:       "Send the partition key as pk. Only a Scan has none.",
	sample.RejectBadKey:      "Send pk and sk as DynamoDB stores them: text, a number, or base64.",
	sample.RejectKeyTooLong:  "Check which field is sent as a key: keys have at most 2,048 bytes.",
	sample.RejectBadBytes:    "Send bytes as a whole number.",
	sample.RejectTooLarge:    "Check the unit of bytes: an item has at most 400 KB.",
	sample.RejectBadRead:     "Send read as eventual, strong or transactional.",
	sample.RejectNoOp:        "Send op, or the units that the request consumed.",
	sample.RejectBadUnits:    "Send the units of one request, as numbers from 0.",
	sample.RejectBadRate:     "Send rate as a share above 0 and up to 1.",
	sample.RejectBadN:        "Send n as a whole number from 1.",
	sample.RejectBadCalls:    "Send no more calls than n.",
	sample.RejectBadRetries:  "Send attempts with waited_ms and failed.",
	sample.RejectBadLost:     "Send conflict and condition_failed of writes and transactions, as whole numbers of attempts.",
	sample.RejectBadThrottle: "Leave throttle out if the request was not throttled. Count a TransactionConflict in conflict, and a failed condition in condition_failed.",
	sample.RejectBadText:     "Send names and ids as text.",
	sample.RejectBadAttrs:    "Send attrs as an object of texts.",

	change.RejectNotChange: "Set kafka.format to the format of this topic.",
	change.RejectBadImage:  "Check which connector writes this topic: it changes the images.",
	change.RejectKeySchema: "Name the table's key attributes under tables in the settings.",
	change.RejectNoImages:  "Let the stream carry new and old images, or drop the table's indexes from the settings.",

	cloudtrail.RejectNotRequest:  "Choose DynamoDB's data events alone in the trail.",
	cloudtrail.RejectFailed:      "Nothing to do: these requests never reached the table.",
	cloudtrail.RejectQuery:       dropBatch,
	cloudtrail.RejectBatch:       dropBatch,
	cloudtrail.RejectTransaction: dropBatch,
	cloudtrail.RejectStatement:   dropBatch,

	otlp.RejectNotRequest: "Send only the spans of DynamoDB clients: filter them in the OpenTelemetry Collector.",
	otlp.RejectFailed:     "Nothing to do: these requests never reached the table.",

	mapped.RejectRow:   "Check the columns of this line, and where its quotes end.",
	mapped.RejectQuote: "Close the quote, or leave quotes out.",

	"too_old":         "Send samples within ten minutes of their request. " + mendClock,
	"too_far_ahead":   mendClock,
	"ahead_of_clock":  mendClock + " Or correct the database's.",
	"duplicate":       "Nothing to do if a log delivers twice. Otherwise check that id names one request.",
	"too_many_tables": "Raise collect.tables of the collectors, or look for a producer that makes up table names.",
	"too_scattered":   "Send samples in the order of their time.",
	"unreadable":      "Look at the collector's log: the source could not read this message whole.",
}
