package change

import "github.com/keyheat/keyheat/sample"

// The reject reasons beside the ones of package sample. They too are a closed set.
const (
	// RejectNotChange rejects JSON that is not a stream record.
	RejectNotChange sample.RejectReason = "not_stream_record"
	// RejectBadImage rejects an image that is not DynamoDB JSON.
	RejectBadImage sample.RejectReason = "bad_image"
	// RejectKeySchema rejects a record with two key attributes if the table's schema is not
	// configured or names other attributes.
	RejectKeySchema sample.RejectReason = "key_schema_not_configured"
	// RejectNoImages rejects the load on indexes if the stream does not show the images that
	// it is computed from. The load on the table is counted.
	RejectNoImages sample.RejectReason = "no_images_for_indexes"
)

// hints describe an operator's next step for a reject reason.
var hints = map[sample.RejectReason]string{
	RejectKeySchema: "set tables.NAME.partition_key and tables.NAME.sort_key to the table's key attributes",
	RejectNoImages:  "choose the stream view NEW_AND_OLD_IMAGES, or take tables.NAME.indexes out",
}

// Hint returns the operator's next step for a reject reason, or "" if the sample itself is
// wrong.
func Hint(r sample.RejectReason) string { return hints[r] }
