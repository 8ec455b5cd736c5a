// Package reasons lists why samples can be bad, for tests that hold what decoders report
// against it.
package reasons

import (
	"slices"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/change"
	"github.com/keyheat/keyheat/sample/cloudtrail"
	"github.com/keyheat/keyheat/sample/mapped"
)

// OfSample are those of Keyheat's own form, and of every other.
func OfSample() []sample.RejectReason {
	return []sample.RejectReason{
		sample.RejectEmpty, sample.RejectSyntax, sample.RejectBadUTF8, sample.RejectTooDeep, sample.RejectNotObject,
		sample.RejectNoTime, sample.RejectBadTime, sample.RejectNoTable, sample.RejectBadTable, sample.RejectBadOp,
		sample.RejectNoKey, sample.RejectBadKey, sample.RejectKeyTooLong, sample.RejectBadBytes, sample.RejectTooLarge,
		sample.RejectBadRead, sample.RejectNoOp, sample.RejectBadUnits, sample.RejectBadRate, sample.RejectBadN,
		sample.RejectBadCalls, sample.RejectBadRetries, sample.RejectBadLost, sample.RejectBadThrottle, sample.RejectBadText, sample.RejectBadAttrs,
	}
}

// OfChange are those of stream records beside these.
func OfChange() []sample.RejectReason {
	return []sample.RejectReason{change.RejectNotChange, change.RejectBadImage, change.RejectKeySchema, change.RejectNoImages}
}

// OfCloudTrail are those of CloudTrail's events beside these.
func OfCloudTrail() []sample.RejectReason {
	return []sample.RejectReason{
		cloudtrail.RejectNotRequest, cloudtrail.RejectFailed, cloudtrail.RejectQuery, cloudtrail.RejectBatch, cloudtrail.RejectTransaction, cloudtrail.RejectStatement,
	}
}

// OfMapped are those of other people's fields beside the first.
func OfMapped() []sample.RejectReason {
	return []sample.RejectReason{mapped.RejectRow, mapped.RejectQuote}
}

// All are those of every form.
func All() []sample.RejectReason {
	return slices.Concat(OfSample(), OfChange(), OfCloudTrail(), OfMapped())
}
