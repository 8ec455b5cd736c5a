package casebook

import (
	"slices"

	"github.com/keyheat/keyheat/detect"
)

// Answer is a finding as on-call needs it.
type Answer struct {
	Harm Harm
	*Case
	// Callers are the busiest callers of the key, the busiest first, with their shares of
	// its load: at most three, and none below a tenth. Alike reports that none of them
	// stands out.
	Callers []detect.Part
	Alike   bool
	Move    Move
	Healing Healing
	// Then is the lasting fix. It is nil without one, for a healed key, and while the
	// verdict is open: no redesign is advised before the reason is known.
	Then *detect.Step
}

// Steps returns the steps that still help: once a finding is over, nobody waits for a split,
// and a key that a split has healed needs none while that holds.
func Steps(f *detect.Finding) []detect.Step {
	switch {
	case f.State != detect.Resolved:
		return f.Advice
	case f.Healed != nil:
		return nil
	}
	return slices.DeleteFunc(slices.Clone(f.Advice), func(s detect.Step) bool { return s.Action == detect.ActionWait })
}

const (
	// namedCallers is how many callers an answer names.
	namedCallers = 3
	// namedShare is the share of a load from which a caller is worth naming.
	namedShare = 0.1
)

// MainCallers returns the callers that are worth naming: at most three, and none below a tenth.
func MainCallers(callers []detect.Part) (all []detect.Part) {
	for _, c := range callers {
		if c.Text != "" && c.Low >= namedShare && len(all) < namedCallers {
			all = append(all, c)
		}
	}
	return all
}

// callersSeen returns the callers of a key or, for a partition that refuses one key most,
// of that key's refused requests. Their shares are of the whole load, also of writes that
// are replicated from other Regions. Of a contended item they are the callers on both sides.
func callersSeen(f *detect.Finding) (all []detect.Part) {
	switch {
	case f.Subject == detect.SubjectPartition && f.Ground == detect.GroundNotSeen && len(f.RefusedKeys) > 0:
		return f.RefusedKeys[0].Callers
	case f.Contention != nil:
		return f.Contention.Writers
	case f.Evidence == nil:
		return nil
	}
	own := f.OwnShare()
	for _, c := range f.Evidence.Callers {
		all = append(all, detect.Part{Text: c.Text, Low: own * c.Low, High: own * c.High})
	}
	return all
}

// standing is how many times the load of the next caller one has that stands out.
const standing = 1.5

func standsOut(all []detect.Part) bool {
	if len(all) < 2 {
		return true
	}
	first, next := &all[0], &all[1]
	return first.Text != "" && first.Low > next.High && first.Low+first.High >= standing*(next.Low+next.High)
}

// lastingFix returns the first step that mends a job, or that changes code, items or keys,
// or else the one that mends a caller; nil without one. A step that only waits, or changes
// another setting, is not lasting.
func lastingFix(f *detect.Finding) *detect.Step {
	for i := range f.Advice {
		s := &f.Advice[i]
		switch {
		case s.Action == detect.ActionPipeline || s.Action == detect.ActionMigrate:
		case s.Action == detect.ActionRetry && f.Subject.OfTable(): // callers do so tonight
		case s.Action == detect.ActionShuffle, s.Fix == detect.FixBoundedRate && !advises(f, detect.ActionShuffle):
			return s // a job needs no other keys
		case slices.Contains([]detect.Effort{detect.EffortCode, detect.EffortComponent, detect.EffortItems, detect.EffortKeys}, s.Effort):
			return s
		}
	}
	if i := slices.IndexFunc(f.Advice, func(s detect.Step) bool { return s.Fix == detect.FixMendCaller }); i >= 0 {
		return &f.Advice[i]
	}
	return nil
}

// numbered are the actions whose steps make as many shards, or parts, as Finding.Shards.
var numbered = []string{detect.ActionShard, detect.ActionSplit, detect.ActionRename, detect.ActionMigrate}

// AdvisesShards reports whether the advice makes, or keeps, Shards shards of the key.
// Otherwise the number means nothing: shards do not help, or less is enough.
func AdvisesShards(f *detect.Finding) bool {
	if f.Case == FewValues {
		return f.Index != "" // a table needs another key, not shards
	}
	if f.Case == UnevenShards || f.Contention != nil {
		return false // even shards would be enough, and Shards is of a load
	}
	return slices.ContainsFunc(f.Advice, func(s detect.Step) bool { return slices.Contains(numbered, s.Action) })
}
