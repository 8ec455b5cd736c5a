package casebook

import "github.com/keyheat/keyheat/detect"

// blindCases are the cases in which Keyheat itself cannot see, each with the code of its kind.
func blindCases() (all []*Case) {
	for _, kind := range append(detect.PipelineKinds(), detect.CoverageFell, detect.UnseenKeys, detect.TooManyHotKeys) {
		all = append(all, &Case{Code: Code(kind), Matches: ofKind(kind), Heals: healsByDesign, Blind: true})
	}
	return all
}
