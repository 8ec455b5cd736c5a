package change

import "github.com/keyheat/keyheat/sample"

// The reasons beside those of sample. They too are a closed set.
const (
	// RejectNotChange is JSON that is no stream record.
	RejectNotChange sample.RejectReason = "not_stream_record"
	// RejectBadImage is an image that is not DynamoDB JSON.
	RejectBadImage sample.RejectReason = "bad_image"
	// RejectKeySchema is a record with two key attributes of a table whose
	// schema is not configured, or names other attributes.
	RejectKeySchema sample.RejectReason = "key_schema_not_configured"
	// RejectNoImages is a record of a table with indexes whose stream does not
	// show the images that their load is derived from. The table's own load
	// is counted.
	RejectNoImages sample.RejectReason = "no_images_for_indexes"
)

// hints say what to do about a reason.
var hints = map[sample.RejectReason]string{
	RejectKeySchema: "set tables.NAME.partition_key and tables.NAME.sort_key to the table's key attributes",
	RejectNoImages:  "choose the stream view NEW_AND_OLD_IMAGES, or take tables.NAME.indexes out",
}

// Hint returns what an operator can do about a reason, in words; empty where the
// sample itself is wrong.
func Hint(r sample.RejectReason) string { return hints[r] }
