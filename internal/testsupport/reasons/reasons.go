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
func OfSample() []sample.Reason {
	return []sample.Reason{
		sample.ReasonEmpty, sample.ReasonSyntax, sample.ReasonBadUTF8, sample.ReasonTooDeep, sample.ReasonNotObject,
		sample.ReasonNoTime, sample.ReasonBadTime, sample.ReasonNoTable, sample.ReasonBadTable, sample.ReasonBadOp,
		sample.ReasonNoKey, sample.ReasonBadKey, sample.ReasonKeyTooLong, sample.ReasonBadBytes, sample.ReasonTooLarge,
		sample.ReasonBadRead, sample.ReasonNoOp, sample.ReasonBadUnits, sample.ReasonBadRate, sample.ReasonBadN,
		sample.ReasonBadCalls, sample.ReasonBadRetries, sample.ReasonBadThrottle, sample.ReasonBadText, sample.ReasonBadAttrs,
	}
}

// OfChange are those of stream records beside these.
func OfChange() []sample.Reason {
	return []sample.Reason{change.ReasonNotChange, change.ReasonBadImage, change.ReasonKeySchema, change.ReasonNoImages}
}

// OfCloudTrail are those of CloudTrail's events beside these and change.ReasonKeySchema.
func OfCloudTrail() []sample.Reason {
	return []sample.Reason{
		cloudtrail.ReasonNotRequest, cloudtrail.ReasonFailed, cloudtrail.ReasonQuery, cloudtrail.ReasonBatch, cloudtrail.ReasonTransaction, cloudtrail.ReasonStatement,
	}
}

// OfMapped are those of other people's fields beside the first.
func OfMapped() []sample.Reason { return []sample.Reason{mapped.ReasonRow, mapped.ReasonQuote} }

// All are those of every form.
func All() []sample.Reason { return slices.Concat(OfSample(), OfChange(), OfCloudTrail(), OfMapped()) }
