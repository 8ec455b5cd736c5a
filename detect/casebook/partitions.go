package casebook

import (
	"github.com/keyheat/keyheat/detect"
)

// Scan is a Scan that reads one partition after another.
const Scan detect.Case = "scan"

var scan = Case{
	Code: Scan, FormOf: SharedPartition,
	Matches: func(f *detect.Finding) bool { return f.Subject.OfTable() && f.Ground == detect.GroundScan },
	Heals:   healsWithLoad,
	Tonight: always(SlowScan),
	Futile:  true,
}

// Walk is a load that goes through the key space, from partition to partition.
const Walk detect.Case = "walk"

var walk = Case{
	Code: Walk, FormOf: SharedPartition,
	Matches: func(f *detect.Finding) bool {
		return f.Subject == detect.SubjectPartition && f.Ground == detect.GroundPositions
	},
	Tonight: always(SlowImport),
}

// Ramp is a table that grows faster than its partitions.
const Ramp detect.Case = "ramp"

var ramp = Case{
	Code: Ramp, FormOf: SharedPartition,
	Matches: func(f *detect.Finding) bool { return f.Subject == detect.SubjectPartition && f.Ground.IsRamp() },
	Heals:   func(f *detect.Finding) Healing { return Healing{Outlook: Likely, Ground: f.Ground} },
	Tonight: always(Prewarm),
}

// BackPressure is a full partition of an index that holds the table's writes back.
const BackPressure detect.Case = "back_pressure"

var backPressure = Case{
	Code: BackPressure, FormOf: SharedPartition,
	Matches: func(f *detect.Finding) bool {
		return f.Subject == detect.SubjectPartition && f.Ground == detect.GroundIndex
	},
}

// SharedPartition is a full partition without a hot key.
const SharedPartition detect.Case = "shared_partition"

var sharedPartition = Case{
	Code:    SharedPartition,
	Matches: func(f *detect.Finding) bool { return f.Subject == detect.SubjectPartition },
	Tonight: func(f *detect.Finding, a *Answer) Act {
		few := 0 < a.Harm.Refused && a.Harm.Refused < worthSlowing
		soon := a.Healing.Outlook == Likely
		switch {
		case advises(f, detect.ActionPrewarm) && !(soon && few):
			return Prewarm
		case soon:
			return Wait
		case few && f.Ground == detect.GroundNotSeen && len(f.RefusedKeys) > 0:
			return BackOff // the key does not fill the partition
		}
		return a.slow(f)
	},
}
