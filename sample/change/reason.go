package change

import "github.com/keyheat/keyheat/sample"

// The reasons beside those of sample. They too are a closed set.
const (
	// ReasonNotChange is JSON that is no stream record.
	ReasonNotChange sample.Reason = "not_stream_record"
	// ReasonBadImage is an image that is not DynamoDB JSON.
	ReasonBadImage sample.Reason = "bad_image"
	// ReasonKeySchema is a record with two key attributes of a table whose
	// schema is not configured, or names other attributes.
	ReasonKeySchema sample.Reason = "key_schema_not_configured"
	// ReasonNoImages is a record of a table with indexes whose stream does not
	// show the images that their load is derived from. The table's own load
	// is counted.
	ReasonNoImages sample.Reason = "no_images_for_indexes"
)

// hints say what to do about a reason.
var hints = map[sample.Reason]string{
	ReasonKeySchema: "set tables.NAME.partition_key and tables.NAME.sort_key to the table's key attributes",
	ReasonNoImages:  "choose the stream view NEW_AND_OLD_IMAGES, or take tables.NAME.indexes out",
}

// Hint returns what an operator can do about a reason, in words; empty where the
// sample itself is wrong.
func Hint(r sample.Reason) string { return hints[r] }
