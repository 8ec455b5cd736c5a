package detect

import "fmt"

// Policy is what an operator decides for a table.
type Policy struct {
	// Warning is the share of a limit from which a key is worth a warning, in
	// (0,1].
	Warning float64
	// Headroom is by how much a shard count exceeds the peak's bare need, at
	// least 1.
	Headroom float64
}

// DefaultPolicy is what holds for a table that nobody decided anything for.
func DefaultPolicy() Policy {
	return Policy{Warning: DefaultWarning, Headroom: DefaultHeadroom}
}

// Validate says what is wrong with a policy.
func (p Policy) Validate() error {
	switch {
	case !(p.Warning > 0 && p.Warning <= 1):
		return fmt.Errorf("warning is %v: give the share of the limit to warn at, over 0 and up to 1", p.Warning)
	case !(p.Headroom >= 1 && p.Headroom <= 100):
		return fmt.Errorf("headroom is %v: give a factor from 1 to 100, 1.5 is usual", p.Headroom)
	}
	return nil
}
