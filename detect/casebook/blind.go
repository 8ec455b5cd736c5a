package casebook

import "github.com/keyheat/keyheat/detect"

// The cases of Keyheat's own health. Only SamplesStopped may be about a table.
const (
	// CollectionStopped means that no collector attends or can read its source, or that
	// event time stands still while records wait.
	CollectionStopped detect.Case = "collection_stopped"
	// CollectionLags means that the counted event time is far behind the clock.
	CollectionLags detect.Case = "collection_lags"
	// BadSamples means that a collector rejects a part of the samples.
	BadSamples detect.Case = "bad_samples"
	// TablesRefused means that a collector has no room for tables.
	TablesRefused detect.Case = "tables_refused"
	// SamplesLost means that there is a new gap: samples that are never counted.
	SamplesLost detect.Case = "samples_lost"
	// SamplesStopped means that a table, or all tables, had samples every minute and now has
	// none, though collectors can read.
	SamplesStopped detect.Case = "samples_stopped"
)

// The cases of a table or index of which samples leave open which keys are hot.
const (
	// CoverageFell is one whose samples cover less of its CloudWatch load than before.
	CoverageFell detect.Case = "coverage_fell"
	// UnseenKeys is one with a possible hot key that no finding covers.
	UnseenKeys detect.Case = "unseen_keys"
	// TooManyHotKeys is one with more hot keys than Keyheat follows.
	TooManyHotKeys detect.Case = "too_many_hot_keys"
)

var (
	collectionStopped = blind(CollectionStopped, detect.SubjectPipeline)
	collectionLags    = blind(CollectionLags, detect.SubjectPipeline)
	badSamples        = blind(BadSamples, detect.SubjectPipeline)
	tablesRefused     = blind(TablesRefused, detect.SubjectPipeline)
	samplesLost       = blind(SamplesLost, detect.SubjectPipeline)
	samplesStopped    = blind(SamplesStopped, detect.SubjectPipeline)
	coverageFell      = blind(CoverageFell, detect.SubjectSamples)
	unseenKeys        = blind(UnseenKeys, detect.SubjectSamples)
	tooManyHotKeys    = blind(TooManyHotKeys, detect.SubjectSamples)
)

func blind(code detect.Case, subject detect.Subject) Case {
	return Case{Code: code, Subject: subject, Heals: healsByDesign, Blind: true}
}
