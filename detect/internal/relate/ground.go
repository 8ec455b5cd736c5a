package relate

import "github.com/keyheat/keyheat/detect"

// Diagnose returns why the table will or will not heal a hot key itself.
// Loads that no split helps come before loads that one might help.
func Diagnose(f *detect.Finding, facts *detect.TableFacts) detect.Ground {
	s := splitOf(f)
	switch {
	case isHotItem(f, facts, s):
		return detect.GroundItem
	case f.Rolling != nil:
		return detect.GroundPeriod
	case f.Index == "" && facts != nil && len(facts.LSIs) > 0:
		return detect.GroundLocalIndex
	case s.Verdict == detect.SplitMoving && s.Direction == detect.Wandering:
		return detect.GroundMoving
	case s.Verdict == detect.SplitMoving:
		return detect.GroundSortKey
	case s.Verdict == detect.SplitHelps && sortKeysKnown(f):
		return detect.GroundSplit
	}
	if ground := blindness(f); ground != "" {
		return ground
	}
	return openGround(f.Evidence, s)
}

// MaySplit reports whether a split can have healed a key. If no split helps, refusals that
// stop show only that nobody marks them any more.
func MaySplit(g detect.Ground) bool {
	return g != detect.GroundItem && g != detect.GroundLocalIndex && g != detect.GroundSortKey
}

// splitOf returns the verdict on splits; unknown without observations.
func splitOf(f *detect.Finding) detect.Split {
	if s := f.PredictedSplit(); s != nil {
		return *s
	}
	return detect.Split{Verdict: detect.SplitUnknown}
}

// isHotItem reports whether a single item fills its partition: a partition's limits bind
// an item for ever. An index's sort key does not name an item.
func isHotItem(f *detect.Finding, facts *detect.TableFacts, s detect.Split) bool {
	limit := detect.Units(f.Limit())
	switch {
	case f.Index != "":
		return false
	case facts != nil && facts.SortKey != nil && len(facts.SortKey) == 0:
		return true // the key is one item
	case f.Evidence == nil || len(f.Evidence.Items) == 0:
		return false
	case s.Verdict == detect.SplitHotItem: // a batch's time may explain its seconds above the limit
		return s.Load > limit || !f.Quality.InBatches()
	}
	return isFull(f) && s.Item >= detect.SaturatedFrom*limit
}

// isFull reports whether the key's partition throttles requests that the samples do not
// show.
func isFull(f *detect.Finding) bool {
	return f.Severity == detect.Critical && f.SecondsOver() == 0 && f.SaturatedSeconds > 0
}

// sortKeysKnown reports whether nearly all requests have their sort keys.
func sortKeysKnown(f *detect.Finding) bool {
	return f.Evidence != nil && f.Evidence.SortKeys != nil && f.Evidence.SortKeys.Known >= 0.8
}

// blindness returns the fault of samples that show no cause; empty for good samples. Few
// records of all requests are many requests each, and more samples bring no sort keys.
func blindness(f *detect.Finding) detect.Ground {
	switch {
	case f.Quality.InBatches(), f.Quality.Source == detect.SourceMinutes:
		return detect.GroundBatchTimes
	case f.Evidence == nil || f.Evidence.Records < detect.MinRecords && f.Evidence.SortKeys != nil && f.Quality.IsSampled():
		return detect.GroundFewSamples
	}
	return ""
}

// openGround returns the ground that leaves open whether splits help.
func openGround(e *detect.Evidence, s detect.Split) detect.Ground {
	switch {
	case e.SortKeys == nil:
		return detect.GroundNoSortKeys
	case e.Split == nil: // as for an episode that another judge saw
		return detect.GroundYoung
	case s.Verdict == detect.SplitHidden:
		return detect.GroundHashedKeys
	case s.Verdict == detect.SplitBursts:
		return detect.GroundBursts
	case s.Seconds < detect.SplitSeconds:
		return detect.GroundYoung
	case s.Direction == detect.Rising || s.Direction == detect.Falling:
		return detect.GroundPlaces
	}
	return detect.GroundNotDecided
}
