package casebook

import "github.com/keyheat/keyheat/detect"

// ReplicatedKey is a key of a global table whose writes mostly come from other Regions. Who
// writes it here cannot bring it below the limit.
const ReplicatedKey detect.Case = "replicated_key"

var replicatedKey = Case{
	Code: ReplicatedKey, FormOf: HotKey,
	Matches: func(f *detect.Finding) bool { return f.Subject == detect.KeyWrites && f.WrittenElsewhere() },
	Futile:  true,
}
