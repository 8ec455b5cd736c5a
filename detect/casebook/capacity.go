package casebook

import (
	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
)

// The cases of a table or index that was given too little: provisioned capacity, its owner's
// maximum, the account's quota, or the write capacity of an index. NoReason is one that
// refuses requests for a reason that no sample states.
const (
	ShortOfCapacity detect.Case = "short_of_capacity"
	OwnMaximum      detect.Case = "own_maximum"
	AccountQuota    detect.Case = "account_quota"
	IndexCapacity   detect.Case = "index_capacity"
	NoReason        detect.Case = "no_reason"
)

var (
	ownMaximum    = lackCase(OwnMaximum, detect.GroundOwnMaximum)
	accountQuota  = lackCase(AccountQuota, detect.GroundAccountQuota)
	indexCapacity = lackCase(IndexCapacity, detect.GroundIndexCapacity)
	noReason      = Case{
		Code: NoReason, FormOf: ShortOfCapacity,
		Matches: func(f *detect.Finding) bool {
			return f.Subject == detect.SubjectTable && f.Ground == detect.GroundNoReason
		},
		Heals:   func(f *detect.Finding) Healing { return Healing{Outlook: Unknown, Ground: f.Ground} },
		Tonight: always(raises[detect.GroundNoReason]),
	}
	shortOfCapacity = Case{
		Code:    ShortOfCapacity,
		Matches: func(f *detect.Finding) bool { return f.Subject == detect.SubjectTable },
		Heals:   healsByCapacity,
		Tonight: always(raises[detect.GroundProvisioned]),
	}
)

func lackCase(code detect.Case, lack detect.Ground) Case {
	return Case{
		Code: code, FormOf: ShortOfCapacity,
		Matches: func(f *detect.Finding) bool { return f.Subject == detect.SubjectTable && f.Ground == lack },
		Heals:   healsByCapacity,
		Tonight: always(raises[lack]),
	}
}

// raises are the acts that give a table what it lacks.
var raises = map[detect.Ground]Act{
	detect.GroundProvisioned: RaiseCapacity, detect.GroundOwnMaximum: RaiseMaximum, detect.GroundAccountQuota: RaiseQuota, detect.GroundIndexCapacity: RaiseIndexCapacity,
	detect.GroundNoReason: CheckReason,
}

// Lack returns the capacity that most requests were refused for. If none was, it is the
// provisioned one, unless requests were refused without a reason and the demand does not
// exceed it.
func Lack(f *detect.Finding) detect.Ground {
	most, lack := int64(0), detect.GroundProvisioned
	for _, c := range []struct {
		reason sample.ThrottleReason
		lack   detect.Ground
	}{
		{sample.Provisioned, detect.GroundProvisioned}, {sample.OfIndexCapacity, detect.GroundIndexCapacity},
		{sample.MaxOnDemand, detect.GroundOwnMaximum}, {sample.AccountLimit, detect.GroundAccountQuota},
	} {
		if n := refusedFor(f, c.reason); n > most {
			most, lack = n, c.lack
		}
	}
	if most == 0 && refusedFor(f, sample.ThrottleUnknown) > 0 && f.Utilization <= 1 {
		return detect.GroundNoReason
	}
	return lack
}
