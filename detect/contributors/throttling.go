package contributors

import (
	"cmp"
	"maps"
	"slices"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/corroboration"
	"github.com/keyheat/keyheat/sample"
)

// throttling returns the findings about throttled requests that no key's load explains.
func (j *judge) throttling(keys []detect.Finding) (all []detect.Finding) {
	told := false
	for _, subject := range []detect.Subject{detect.SubjectPartition, detect.SubjectTable} {
		f, minutes := corroboration.Throttling(j.Target, j.CloudWatch, subject)
		told = told || len(minutes) > 0
		if len(minutes) > 0 && !slices.ContainsFunc(keys, func(k detect.Finding) bool { return explains(&k, &f) }) {
			f.RefusedKeys, f.Advice = j.refusedKeys(minutes), f.Advice[:1] // not to switch it on
			all = append(all, f)
		}
	}
	if told {
		return all
	}
	return append(all, j.withoutReason()...)
}

// explains reports whether a key's load fills a partition that refused requests meanwhile.
func explains(key, f *detect.Finding) bool {
	full := key.Severity == detect.Critical || key.Evidence.ThrottledRequests() > 0
	return full && f.Subject == detect.SubjectPartition && !key.FirstSeen.After(f.LastSeen) && !key.LastSeen.Before(f.FirstSeen)
}

// withoutReason returns the finding about throttled keys in minutes for which CloudWatch's
// reasons are not known; none without any.
func (j *judge) withoutReason() []detect.Finding {
	counts, requests := map[int64]float64{}, 0.0
	for _, s := range j.Throttled {
		for at, n := range s.Values {
			counts[at], requests = counts[at]+n, requests+n
		}
	}
	var minutes []corroboration.Minute
	for _, at := range slices.Sorted(maps.Keys(counts)) {
		minutes = append(minutes, corroboration.Minute{At: detect.TimeOf(at)})
	}
	if len(minutes) == 0 {
		return nil
	}
	f := corroboration.OverMinutes(detect.NewFinding(detect.SubjectTable, j.Target, sample.Key{}), minutes)
	f.Ground, f.Advice, f.RefusedKeys = detect.GroundNoReason, []detect.Step{detect.NewStep(detect.FixSendReason)}, j.refusedKeys(minutes)
	f.Evidence = detect.NewEvidence(map[string]int64{sample.ThrottleUnknown.String(): int64(requests)})
	return []detect.Finding{f}
}

// refusedKeys returns the keys with most throttled requests in the last of some minutes.
func (j *judge) refusedKeys(minutes []corroboration.Minute) []detect.RefusedKey {
	at, requests, all := minutes[len(minutes)-1].At.Unix(), 0.0, []detect.RefusedKey{}
	for _, s := range j.Throttled {
		requests += s.Values[at] / seconds
		if n := s.Values[at]; n > 0 && !j.Policy.Excludes(s.Keys[0]) {
			all = append(all, detect.RefusedKey{Key: sample.Text(s.Keys[0]), KeyType: sample.TypeString, Requests: n / seconds, Callers: []detect.Part{}})
		}
	}
	slices.SortFunc(all, func(x, y detect.RefusedKey) int {
		return cmp.Or(cmp.Compare(y.Requests, x.Requests), cmp.Compare(x.Key, y.Key))
	})
	all = all[:min(len(all), detect.RefusedKeys)]
	for i := range all {
		all[i].Share = all[i].Requests / requests
	}
	return all
}
