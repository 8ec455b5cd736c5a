package verdict

import (
	"maps"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/corroboration"
	"github.com/keyheat/keyheat/sample"
)

// holdAtMost is how long a finding waits for CloudWatch's verdict: longer than
// CloudWatch's delay, and than the pause between two readings of a table with an open
// incident. Then it pages, because silence is not health.
const holdAtMost = corroboration.Delay + 2*time.Minute

// cloudWatch holds CloudWatch's view of tables. A nil one has none.
type cloudWatch struct {
	readings map[detect.Target]*corroboration.Reading
	// alone are the findings that CloudWatch alone makes, by fingerprint.
	alone map[string]detect.Finding
}

// SetCloudWatch replaces CloudWatch's readings of tables and indexes. Findings of
// CloudWatch alone that it no longer makes are resolved.
func (s *State) SetCloudWatch(readings map[detect.Target]*corroboration.Reading) {
	next := &cloudWatch{readings: readings, alone: map[string]detect.Finding{}}
	for target, r := range readings {
		for _, f := range corroboration.Findings(target, r) {
			f.Severity = s.policy(target).Cap(f.Severity)
			next.alone[f.Fingerprint] = f
		}
	}
	if s.cloudWatch != nil {
		for fingerprint, f := range s.cloudWatch.alone {
			if _, still := next.alone[fingerprint]; !still && f.State != detect.Resolved {
				f.State = detect.Resolved
				next.alone[fingerprint] = f
			}
		}
	}
	s.cloudWatch = next
}

// add adds CloudWatch's own findings to the board's. It leaves out findings that the
// board has too, and a full partition whose hot key the board knows.
func (c *cloudWatch) add(found []detect.Finding) []detect.Finding {
	if c == nil || len(c.alone) == 0 {
		return found
	}
	more := maps.Clone(c.alone)
	for i := range found {
		f := &found[i]
		delete(more, f.Fingerprint)
		if !f.Subject.OfKey() {
			continue
		}
		partition := detect.NewFinding(detect.SubjectPartition, f.Target, sample.Key{})
		if p, has := more[partition.Fingerprint]; has && explains(f, &p) {
			delete(more, partition.Fingerprint)
		}
	}
	for _, fingerprint := range slices.Sorted(maps.Keys(more)) {
		found = append(found, more[fingerprint])
	}
	return found
}

// explains reports whether a key was hot in the time in which a partition throttled.
func explains(key, partition *detect.Finding) bool {
	return !key.FirstSeen.After(partition.LastSeen) && !key.LastSeen.Before(partition.FirstSeen)
}

// assess adds CloudWatch's verdict to a finding of the samples.
func (c *cloudWatch) assess(f *detect.Finding) {
	if c == nil || f.Quality.Source == detect.SourceMinutes {
		return
	}
	r := c.readings[f.Target]
	if r == nil {
		return
	}
	said := corroboration.Assess(f, r)
	f.CloudWatch = &said
	if said.Coverage != nil {
		f.Quality.Coverage = new(min(1, said.Coverage.Value))
	}
}

// holds reports whether a finding that would begin to fire waits: CloudWatch counts
// nothing that was throttled, or has not said anything yet.
func (c *cloudWatch) holds(f *detect.Finding, before detect.State, now time.Time) bool {
	if c == nil || f.CloudWatch == nil || f.State != detect.Firing || before == detect.Firing || !f.Subject.OfKey() {
		return false
	}
	switch f.CloudWatch.Verdict {
	case detect.CloudWatchQuiet, detect.CloudWatchContradicts:
		return true
	case detect.CloudWatchNotAssessed:
		return now.Sub(f.FirstSeen) < holdAtMost
	}
	return false
}

// table returns CloudWatch's verdict on a table or index; nil if it is not read.
func (c *cloudWatch) table(target detect.Target) *detect.TableCloudWatch {
	if c == nil || c.readings[target] == nil {
		return nil
	}
	return new(corroboration.Judge(c.readings[target]))
}
