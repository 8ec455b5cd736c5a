package awssdk

import (
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/awssdk/internal/access"
)

// lostAttempt is how an attempt ended that other requests of its items took: the ending of each
// item of a cancelled transaction, or one ending for all items of another request.
type lostAttempt []sample.Ending

// lostBy reads the error of a lost attempt, or returns nil for another error.
func lostBy(err error) (lost lostAttempt) {
	var cancelled *types.TransactionCanceledException
	var api smithy.APIError
	switch {
	case errors.As(err, &cancelled):
		for _, reason := range cancelled.CancellationReasons {
			lost = append(lost, sample.ParseEnding(aws.ToString(reason.Code)))
		}
	case errors.As(err, &api):
		switch ending := sample.ParseEnding(api.ErrorCode()); ending {
		case sample.EndedInConflict, sample.EndedByCondition:
			return lostAttempt{ending}
		}
	}
	return lost
}

// countLost adds the lost attempts to the accesses that lost them. The other items of a cancelled
// transaction were not contended.
func (r *request) countLost(accesses []access.Access) {
	for _, lost := range r.lostAttempts {
		for i := range accesses {
			t, ending := &accesses[i], lost[0]
			if r.isTransaction() {
				if i >= len(lost) {
					break
				}
				ending = lost[i]
			}
			switch ending {
			case sample.EndedInConflict:
				t.Conflicts++
			case sample.EndedByCondition:
				t.ConditionsFailed++
			}
		}
	}
}
