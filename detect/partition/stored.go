package partition

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
)

// stored is a map between two judges.
type stored struct {
	kept
	trust
	Shards []*Shard `json:"shards"` // parents first
	Seen   []byte   `json:"seen"`
}

// MarshalJSON returns the stored form. It has no position but the ends of ranges, and those
// that contradict them.
func (m *Map) MarshalJSON() ([]byte, error) {
	s := stored{kept: m.kept, trust: m.trust, Shards: slices.Clone(m.top)}
	if s.Evidence > 0 {
		for _, word := range s.seen {
			s.Seen = binary.BigEndian.AppendUint64(s.Seen, word)
		}
	}
	for i := 0; i < len(s.Shards); i++ {
		s.Shards = append(s.Shards, s.Shards[i].children...)
	}
	return json.Marshal(s)
}

// UnmarshalJSON reads the form of MarshalJSON.
func (m *Map) UnmarshalJSON(b []byte) error {
	var s stored
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("partition: read a map: %w", err)
	}
	*m = *New(s.Shared)
	if s.Gone == nil {
		s.Gone = m.Gone
	}
	m.kept, m.trust = s.kept, s.trust
	for _, shard := range s.Shards {
		m.attach(shard)
	}
	t := &m.trust
	t.Records, t.RecentWrong = max(0, t.Records), min(max(0, t.RecentWrong), recentRecords)
	for i := range t.RecentWrong {
		t.recent[(t.Records+recentRecords-1-int64(i))%recentRecords] = true
	}
	if len(s.Seen) == len(t.seen)*8 {
		for word := range t.seen {
			t.seen[word] = binary.BigEndian.Uint64(s.Seen[8*word:])
		}
	}
	return nil
}
