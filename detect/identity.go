package detect

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"

	"github.com/keyheat/keyheat/sample"
)

// NewFinding returns a pending finding, without figures, about a watched subject: a target or a
// key of it.
func NewFinding(s Subject, t Target, key sample.Key) Finding {
	f := Finding{
		Subject: s, KeyRef: KeyRef{Target: t, Key: sample.Text(key.Text), KeyType: key.Type},
		State: Pending, Quality: NewQuality(SourceRequests),
	}
	f.Identify()
	switch {
	case s.OfKey():
		f.BelongTo("hot_key", f.KeyType+":"+string(f.Key))
	case s == SubjectPartition:
		f.BelongTo("shared_partition", "")
	case s == SubjectTable:
		f.BelongTo("short_of_capacity", "")
	}
	return f
}

// findingNames and incidentNames are the names of subjects and cases in what identifies
// findings and incidents, where these differ. Identifiers never change, so that links, silences
// and stored findings stay good.
var (
	findingNames = map[string]string{
		string(KeyWrites): "hot_key_write", string(KeyReads): "hot_key_read", string(SubjectPartition): "hot_partition", string(SubjectTable): "table_starvation",
		"time_key": "rolling_hot_key", "moving_spot": "moving_hot_spot", "few_values": "low_cardinality_key", "one_caller": "single_caller",
	}
	incidentNames = map[Case]string{
		"time_key": "rolling_key", "too_few_shards": "sharded_key", "moving_spot": "moving_hot_spot", "one_caller": "single_caller",
		"back_pressure": "index_back_pressure", "shared_partition": "hot_partition", "short_of_capacity": "starvation",
	}
)

// About names what a finding is about, for as long as it goes on: its subject or, where that is
// not watched, its case.
func (f *Finding) About() string {
	if f.Subject.IsWatched() {
		return string(f.Subject)
	}
	return string(f.Case)
}

// Identify gives a finding its fingerprint: of its key or target, and of its subject or, where
// that is not watched, its case. It uses the key itself and not its hash, so it is the same on
// every machine. An unknown account and Region are left out.
func (f *Finding) Identify() {
	name := cmp.Or(findingNames[f.About()], f.About())
	if f.Subject == KeyWrites && f.Index != "" {
		name = "hot_gsi_key"
	}
	parts := []string{name, f.Table, f.Index, f.KeyType, string(f.Key)}
	if f.Account != "" || f.Region != "" {
		parts = append(parts, f.Account, f.Region)
	}
	f.Fingerprint = digest(parts...)
}

// BelongTo assigns the finding to the incident that a case makes for a key of its target.
// Writes to a global table have one incident for all Regions. The key is the case's: a hot key
// itself, the pattern of a rolling key, or a caller. It is empty if the target as a whole has
// the case.
func (f *Finding) BelongTo(c Case, key string) { f.Incident = IncidentID(c, f.IncidentTarget(), key) }

// IncidentTarget is the target of the finding's incident. Writes load all Regions of a global
// table alike: the first Region stands for all.
func (f *Finding) IncidentTarget() Target {
	t := f.Target
	if f.Replication != nil && len(f.Replication.Regions) > 0 {
		t.Region = f.Replication.Regions[0]
	}
	return t
}

// IncidentID returns the ID of the incident that a case makes for a key of a target. It is the
// same on every machine.
func IncidentID(c Case, t Target, key string) string {
	return digest(cmp.Or(incidentNames[c], string(c)), t.Account, t.Region, t.Table, t.Index, key)
}

// digest returns half of the SHA-256 of texts, each ended by a zero byte.
func digest(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		h.Write([]byte(part))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
