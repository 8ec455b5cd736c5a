package say

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/answer"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/sample"
)

// longestTitle is how many characters a title has at most: a phone shows so many.
const longestTitle = 80

// Title names an incident in one line by its root finding: the place, the symptom and the
// key.
func Title(f *detect.Finding) string {
	where := place(f.Target)
	if f.Kind == detect.SamplesStopped && f.Table == "" {
		where = "All tables"
	}
	title := where + ": " + symptom(f)
	key := titleKey(f)
	room := longestTitle - len([]rune(title)) - len([]rune(" (“”)"))
	if key == "" || room < len("key…") {
		return wording.Shorten(title, longestTitle)
	}
	return title + " (“" + wording.Shorten(wording.Printable(key), room) + "”)"
}

// place names a table or index without its account and Region, or Keyheat itself.
func place(t detect.Target) string {
	t.Account, t.Region = "", ""
	return wording.Shorten(wording.Place(t), shownPlace)
}

// Incident is an incident as JSON shows it, with the words of its root finding.
type Incident struct {
	detect.Incident
	// Title names the incident in one line, Summary is its cause, and FirstFix is what to
	// do now. They are empty if the root finding is unknown.
	Title    string `json:"title"`
	Summary  string `json:"summary"`
	FirstFix string `json:"first_fix"`
}

// Incidents gives incidents the words of their root findings, as far as these are among
// found.
func Incidents(incidents []detect.Incident, found []detect.Finding) []Incident {
	roots := make(map[string]*detect.Finding, len(found))
	for i := range found {
		roots[found[i].Fingerprint] = &found[i]
	}
	all := make([]Incident, len(incidents))
	for i := range incidents {
		all[i].Incident = incidents[i]
		if root := roots[incidents[i].Root]; root != nil {
			b := New(root)
			all[i].Title, all[i].Summary, all[i].FirstFix = b.Title, b.Why, b.Now
		}
	}
	return all
}

// titleKey is the key that a title shows in brackets; empty for none.
func titleKey(f *detect.Finding) sample.Text {
	switch {
	case f.Kind == detect.RollingHotKey && f.Rolling != nil && len(f.Rolling.Keys) > 0:
		return f.Rolling.Keys[len(f.Rolling.Keys)-1]
	case f.Sharding != nil && !f.Kind.OfKey():
		return f.Sharding.Base
	case f.Kind == detect.LowCardinalityKey, f.Kind == detect.MovingHotSpot:
		return ""
	}
	if k := soleRefused(f); k != nil {
		return k.Key
	}
	return f.Key
}

// symptom is the visible effect of a finding, in a few words.
func symptom(f *detect.Finding) string {
	a := answer.New(f)
	switch f.Kind {
	case detect.HotKeyWrite, detect.HotKeyRead, detect.HotGSIKey:
		return keySymptom(f, &a)
	case detect.HotPartition:
		switch a.Cause {
		case answer.Scan:
			return "a Scan fills one partition after another"
		case answer.Walk:
			return "a job fills one partition after another"
		case answer.Ramp:
			return "load grew faster than the " + targetWord(f) + " can"
		case answer.BackPressure:
			return "a full index partition holds back table writes"
		}
		name, does := "a partition", "refuses requests"
		if f.Partition != nil {
			name = fullPartition(f)
		}
		if soleRefused(f) != nil {
			return name + " refuses requests to one key"
		}
		if a.Harm.None() {
			does = "is full"
		}
		return fmt.Sprintf("%s %s, no single key is hot", name, does)
	case detect.TableStarvation:
		return starved[a.Cause]
	case detect.RollingHotKey:
		if f.Rolling != nil {
			return "a new hot key each " + f.Rolling.Period
		}
	case detect.MovingHotSpot:
		return "keys get hot one after another"
	case detect.LowCardinalityKey:
		return "too few key values for the load"
	case detect.TooFewShards:
		if f.Sharding != nil {
			return fmt.Sprintf("%d key shards are too few", f.Sharding.Shards)
		}
	case detect.TooManyShards:
		if f.Sharding != nil {
			return fmt.Sprintf("%d key shards, the load needs %d", f.Sharding.Shards, f.Sharding.Needed)
		}
	case detect.UnevenShards:
		return "key shards carry uneven load"
	case detect.SingleCaller:
		return "one caller makes a key hot"
	case detect.RetryStorm:
		return stormSymptom(f)
	case detect.TestKey:
		return "a key named like a test is hot"
	case detect.LargeItem:
		return "small changes rewrite large items"
	case detect.LargeCollection:
		return "an item collection grows towards 10 GB"
	case detect.SamplesStopped:
		if f.State == detect.Resolved {
			return "no samples from " + minute(f.FirstSeen) + " to " + minute(f.LastSeen) + " UTC"
		}
		return "no samples since " + minute(f.FirstSeen) + " UTC"
	}
	if text := ownSymptoms[f.Kind]; text != "" {
		return text
	}
	return string(f.Kind)
}

func minute(t time.Time) string { return t.UTC().Format("15:04") }

// stormSymptom is a storm's symptom. A caller that reports no wait may well pause.
func stormSymptom(f *detect.Finding) string {
	if e := f.Evidence; e != nil && e.Retries != nil && len(e.Retries.Callers) > 0 && e.Retries.Callers[0].Waited > 0 {
		return "one caller retries without pause"
	}
	return "one caller sends most retries"
}

func keySymptom(f *detect.Finding, a *answer.Answer) string {
	key := "one key"
	if f.Kind == detect.HotGSIKey {
		key = "one index key"
	}
	load := requestsTo(f) + " " + key
	switch {
	case a.Move.Act == answer.Nothing && f.State == detect.Firing && a.Harm.Refused > 0:
		return fmt.Sprintf("%s throttled on %s, now served", requests(f), key)
	case !a.Harm.None() && f.Severity != detect.Info:
		return fmt.Sprintf("%s throttled on %s", requests(f), key)
	case a.Cause == answer.EventualReads:
		return load + " may be refused"
	case a.Cause == answer.AtLimit:
		return load + " flat at the partition limit"
	case f.SecondsOver() > 0 || f.Severity == detect.Critical:
		return load + " above the partition limit"
	case isLikely(f):
		return load + " probably above the partition limit"
	case f.PossibleSeconds > 0:
		return load + " may be above the partition limit"
	}
	return load + " near the partition limit"
}

// starved names the lack of a starved table.
var starved = map[answer.Cause]string{
	answer.Scan:          "throttled, a Scan takes the read capacity",
	answer.Provisioned:   "throttled, too little provisioned capacity",
	answer.OwnMaximum:    "throttled by its own maximum throughput",
	answer.AccountQuota:  "throttled by a quota of the account",
	answer.IndexCapacity: "writes throttled, an index has too little capacity",
	answer.NoReason:      "throttled, the samples do not say why",
}

// ownSymptoms are the symptoms when Keyheat cannot see.
var ownSymptoms = map[detect.Kind]string{
	detect.CollectionStopped: "no new samples are counted",
	detect.CollectionLags:    "samples are counted late",
	detect.BadSamples:        "collectors reject samples",
	detect.TablesRefused:     "a collector has no room for more tables",
	detect.SamplesLost:       "samples were lost",
	detect.CoverageFell:      "samples show less of the load than before",
	detect.UnseenKeys:        "too many keys to tell a hot one apart",
	detect.TooManyHotKeys:    "more keys are hot than are followed",
}

// maxNamed is how many tables the title of a summary names.
const maxNamed = 5

// LimitedTitle is the title of the message in place of the incidents beyond a notification
// limit a minute. It counts them by table, and ends with the title of the worst.
func LimitedTitle(tables map[string]int, limit int, worst string) string {
	names := slices.SortedFunc(maps.Keys(tables), func(a, b string) int {
		return cmp.Or(tables[b]-tables[a], strings.Compare(a, b))
	})
	all, on := 0, []string{}
	for i, name := range names {
		all += tables[name]
		if i < maxNamed {
			on = append(on, fmt.Sprintf("%d on %s", tables[name], name))
		}
	}
	if more := len(names) - len(on); more > 0 {
		on = append(on, fmt.Sprintf("others on %d more tables", more))
	}
	return fmt.Sprintf("%s more incidents than %d a minute: %s. The worst: %s", wording.Count(int64(all)), limit, strings.Join(on, ", "), worst)
}
