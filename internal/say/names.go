package say

import (
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/store"
)

// kindNames name the kinds of findings.
var kindNames = map[detect.Kind]string{
	detect.HotKeyWrite: "hot key (writes)", detect.HotKeyRead: "hot key (reads)", detect.HotGSIKey: "hot key of an index (writes)",
	detect.HotPartition: "hot partition without a hot key", detect.TableStarvation: "table throttled as a whole",
	detect.RollingHotKey: "rolling hot key", detect.LowCardinalityKey: "low-cardinality key",
	detect.TooFewShards: "too few shards", detect.TooManyShards: "too many shards", detect.UnevenShards: "uneven shards",
	detect.LargeItem: "large items, small updates", detect.SingleCaller: "single caller", detect.TestKey: "test key",
	detect.RetryStorm:      "retry storm",
	detect.LargeCollection: "item collection near 10 GB",
	detect.MovingHotSpot:   "load that moves from key to key", detect.CoverageFell: "samples show less than before",
	detect.TooManyHotKeys:    "more hot keys than are followed",
	detect.UnseenKeys:        "keys that cannot be told apart",
	detect.CollectionStopped: "collection has stopped", detect.CollectionLags: "collection lags", detect.BadSamples: "rejected samples",
	detect.TablesRefused: "tables without room", detect.SamplesLost: "lost samples", detect.SamplesStopped: "no samples",
}

// KindName names a kind of finding in a few words.
func KindName(k detect.Kind) string {
	if words, known := kindNames[k]; known {
		return words
	}
	return wording.Printable(string(k))
}

// causeNames name the causes of incidents.
var causeNames = map[detect.Cause]string{
	detect.CauseHotKey: "hot key", detect.CauseShardedKey: "sharded key", detect.CauseRollingKey: "rolling key",
	detect.CauseMovingHotSpot: "moving hot spot", detect.CauseIndexBackPressure: "index that holds writes back",
	detect.CauseSingleCaller: "single caller", detect.CauseFewValues: "few key values", detect.CauseHotPartition: "hot partition",
	detect.CauseStarvation: "table throttled as a whole", detect.CauseRetryStorm: "retries", detect.CausePipeline: "not fully seen",
}

// CauseName names the cause of an incident in a few words.
func CauseName(c detect.Cause) string {
	if words, known := causeNames[c]; known {
		return words
	}
	return wording.Printable(string(c))
}

// Note writes why a history has an entry; empty where the states say it.
func Note(t *store.Transition) string {
	about := wording.Printable(t.About)
	switch code := detect.NoteCode(t.Note); code {
	case detect.NoteSilenced:
		return "silenced until " + t.Until.UTC().Format(time.RFC3339) + " by silence " + about
	case detect.NoteContinues:
		return "continues incident " + about
	case detect.NoteContinuedBy:
		return "continued by incident " + about
	case detect.NoteWorse:
		return "severity rose from " + about
	case detect.NoteCause:
		return "cause changed from " + CauseName(detect.Cause(t.About))
	default:
		return notes[code]
	}
}

// notes are the notes without figures.
var notes = map[detect.NoteCode]string{
	detect.NoteTooOld:       "judged too late to notify",
	detect.NoteCaughtUp:     "still going on once the judge had caught up",
	detect.NoteSilenceEnded: "no longer silenced",
	detect.NoteHealingKnown: "whether it heals by itself is known",
	detect.NoteRepeated:     "sent again",
}
