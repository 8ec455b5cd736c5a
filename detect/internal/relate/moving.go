package relate

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/detect/internal/fixes"
	"github.com/keyheat/keyheat/sample"
)

// succession is keys of one target that were hot one after another.
type succession struct{ keys []*detect.Finding }

// Moving returns the findings about load that moves from key to key. Each key may be hot
// too briefly to fire.
func Moving(found []detect.Finding, policy func(detect.Target) detect.Policy) (all []detect.Finding) {
	for _, s := range successions(found) {
		if len(s.keys) >= detect.MovingKeys {
			f := s.finding()
			f.Severity = policy(f.Target).Cap(f.Severity)
			if f.Severity == detect.Info && f.State == detect.Firing {
				f.State = detect.Pending
			}
			all = append(all, f)
		}
	}
	return all
}

// movingKeys returns the keys of all successions. Two keys already form one, so that the
// second key does not alert again.
func movingKeys(found []detect.Finding) map[detect.KeyRef]bool {
	moving := map[detect.KeyRef]bool{}
	for _, s := range successions(found) {
		for _, f := range s.keys {
			moving[f.KeyRef] = true
		}
	}
	return moving
}

// successions returns the newest succession of each target's reads and writes, if it has
// two keys. A key that is named after a time, or is a key shard, has a cause of its own.
func successions(found []detect.Finding) (all []succession) {
	type targetSide struct {
		target detect.Target
		reads  bool
	}
	keysBySide := map[targetSide][]*detect.Finding{}
	for i := range found {
		f := &found[i]
		if !f.Subject.OfKey() || f.Rolling != nil || f.Sharding != nil || detect.Rank(f.Severity) < detect.Rank(detect.Warning) {
			continue
		}
		side := targetSide{f.Target, f.Subject == detect.KeyReads}
		keysBySide[side] = append(keysBySide[side], f)
	}
	for _, keys := range keysBySide {
		if s := newestSuccession(slices.Clone(keys)); len(s.keys) >= 2 && s.coversMost(keys) {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(x, y succession) int { return strings.Compare(x.keys[0].Fingerprint, y.keys[0].Fingerprint) })
	return all
}

// newestSuccession returns the longest succession that ends with the last of the keys.
func newestSuccession(keys []*detect.Finding) succession {
	keys = slices.DeleteFunc(keys, func(f *detect.Finding) bool { return hotSeconds(f) > detect.MovingLongest })
	slices.SortFunc(keys, func(x, y *detect.Finding) int {
		return cmp.Or(x.FirstSeen.Compare(y.FirstSeen), strings.Compare(x.Fingerprint, y.Fingerprint))
	})
	from := 0
	for i := 1; i < len(keys); i++ {
		pause := keys[i].FirstSeen.Sub(lastSeen(keys[from:i]))
		begins := keys[i].FirstSeen.After(keys[i-1].FirstSeen)
		ends := keys[i].LastSeen.Before(keys[i-1].LastSeen) // a load that moved on would not stay longer on the earlier key
		if pause > detect.MovingPause*time.Second || !begins || ends {
			from = i
		}
	}
	s := succession{keys[min(from, len(keys)):]}
	if !s.areInTurn() {
		return succession{}
	}
	return s
}

// hotSeconds returns the length of a key's episode in seconds.
func hotSeconds(f *detect.Finding) int { return int(f.LastSeen.Sub(f.FirstSeen)/time.Second) + 1 }

func lastSeen(keys []*detect.Finding) (last time.Time) {
	for _, f := range keys {
		if f.LastSeen.After(last) {
			last = f.LastSeen
		}
	}
	return last
}

// areInTurn reports whether the keys were hot one after another. Keys that are hot at the
// same time are that many hot keys.
func (s succession) areInTurn() bool {
	if len(s.keys) < 2 {
		return false
	}
	single := 0
	for i, f := range s.keys {
		single += hotSeconds(f)
		if i > 0 && s.keys[i-1].LastSeen.After(f.FirstSeen.Add(detect.FireOf*time.Second)) {
			return false
		}
	}
	all := int(lastSeen(s.keys).Sub(s.keys[0].FirstSeen)/time.Second) + 1
	return single <= detect.MovingOverlap*all
}

// coversMost reports whether the succession has most keys that were hot at its time. Of
// many keys that are hot for a while, some follow one another by chance.
func (s succession) coversMost(keys []*detect.Finding) bool {
	first, last := s.keys[0].FirstSeen, lastSeen(s.keys)
	overlapping := 0 // with its own keys
	for _, f := range keys {
		if !f.FirstSeen.After(last) && !f.LastSeen.Before(first) {
			overlapping++
		}
	}
	return overlapping-len(s.keys) <= max(1, len(s.keys)/detect.MovingBeside)
}

// finding returns the finding about the target as a whole.
func (s succession) finding() detect.Finding {
	worst, last := s.keys[0], s.keys[len(s.keys)-1]
	open, critical := false, false
	for _, f := range s.keys {
		if f.Utilization > worst.Utilization {
			worst = f
		}
		open = open || f.State != detect.Resolved
		critical = critical || f.Severity == detect.Critical
	}
	f := casebook.NewFinding(casebook.MovingSpot, worst.Target, sample.Key{})
	f.Severity, f.State = detect.Warning, detect.Resolved
	f.Throttling = detect.JoinThrottling(s.keys)
	if refusesForLong(f.Throttling) { // though few samples prove it of none of the keys
		f.Lasting, critical = detect.Critical, true
	}
	if critical {
		f.Severity = detect.Critical
	}
	if open {
		f.State = detect.Firing // the keys are hot in turn, each perhaps too briefly to fire
	}
	f.Peak, f.Consumed = worst.Peak, worst.Consumed
	f.Utilization, f.Combined, f.Share, f.Shards = worst.Utilization, worst.Combined, worst.Share, 1
	f.OverSeconds, f.OverIn = detect.AnyOver(s.keys)
	f.Evidence, f.Quality, f.Replication = worst.Evidence, worst.Quality, worst.Replication
	f.FirstSeen, f.LastSeen, f.Through = s.keys[0].FirstSeen, lastSeen(s.keys), last.Through
	f.Seconds = int64(f.LastSeen.Sub(f.FirstSeen)/time.Second) + 1
	f.Mean = s.mean(f.Seconds)
	f.Ground = detect.GroundMoving
	names := []sample.Text{}
	for _, key := range slices.Backward(s.keys) {
		names = append(names, key.Key)
	}
	f.Members = detect.NewMembers(int64(len(s.keys)), names)
	if f.Advice = s.ownShards(worst); len(f.Advice) > 0 {
		f.Shards = worst.Shards
		return f
	}
	spread, bounded := s.shuffledLoad(), f.RateTonight()
	shuffle, bound := detect.NewStep(detect.FixShuffleInput), detect.NewStep(detect.FixBoundedRate)
	shuffle.After, bound.After = detect.NewAfter(worst.Subject, spread, spread), detect.NewAfter(worst.Subject, bounded, bounded)
	bound.Arguments.Units = bounded
	f.Advice = []detect.Step{shuffle, bound}
	return f
}

// refusesForLong reports whether a share that is critical was refused for a minute or longer.
func refusesForLong(t *detect.Throttling) bool {
	return t != nil && t.ShareLow >= detect.RefusedShare && t.To.Sub(t.From) >= detect.OutageSeconds*time.Second
}

// ownShards returns the steps for keys that get hot in turn if many callers make each key hot,
// and no job does: the keys' own key shards.
func (s succession) ownShards(worst *detect.Finding) []detect.Step {
	e := worst.Evidence
	if e == nil || len(e.Callers) < 2 || e.Callers[0].High >= detect.CallerShare || fixes.IsJob(e) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(worst.Advice), func(step detect.Step) bool {
		return !slices.Contains([]string{detect.ActionShard, detect.ActionSplit, detect.ActionMigrate, detect.ActionCapacity}, step.Action)
	})
}

// mean returns the mean load of all keys together over the given seconds.
func (s succession) mean(seconds int64) (l detect.Loads) {
	add := func(to *detect.Figure, figure detect.Figure, part float64) {
		to.Value, to.Low, to.High = to.Value+part*figure.Value, to.Low+part*figure.Low, to.High+part*figure.High
	}
	for _, f := range s.keys {
		part := float64(f.Seconds) / float64(seconds)
		add(&l.WCU, f.Mean.WCU, part)
		add(&l.RCU, f.Mean.RCU, part)
	}
	return l
}

// shuffledLoad returns the load of the heaviest key if all requests of the succession
// came in random order in the same time.
func (s succession) shuffledLoad() (most float64) {
	for _, f := range s.keys {
		most = max(most, detect.SideOf(f, f.Mean.WCU, f.Mean.RCU).Value*float64(f.Seconds))
	}
	return most / (lastSeen(s.keys).Sub(s.keys[0].FirstSeen).Seconds() + 1)
}

// followMoving gives the keys of a moving hot spot its ground and its advice. A fix
// for one key would come when another one is hot.
func followMoving(found []detect.Finding) {
	spots := map[string]*detect.Finding{}
	for i := range found {
		if f := &found[i]; f.Case == casebook.MovingSpot {
			spots[f.Incident] = f
		}
	}
	for i := range found {
		f := &found[i]
		if spot := spots[f.Incident]; spot != nil && f.Subject.OfKey() {
			f.Ground = spot.Ground
			f.Advice, f.Shards = slices.Clone(spot.Advice), spot.Shards
		}
	}
}
