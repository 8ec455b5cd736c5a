package partition

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample/position"
)

// stored is a map between two judges.
type stored struct {
	Stream string                  `json:"stream"`
	Shared bool                    `json:"shared"`
	Shards []*Shard                `json:"shards"` // parents first
	Gone   map[string]time.Time    `json:"gone"`
	Splits []detect.PartitionSplit `json:"splits"`

	Revision int64    `json:"revision"`
	Edges    []uint16 `json:"edges"`

	Seen          []byte              `json:"seen"`
	Evidence      float64             `json:"evidence"`
	Contradicting []position.Position `json:"contradicting"`
	Last          time.Time           `json:"last"`
	Records       int64               `json:"records"`
	RecentWrong   int                 `json:"recent_wrong"`
	Withdrawn     []time.Time         `json:"withdrawn"`
	Off           time.Time           `json:"off"`
}

// MarshalJSON returns the stored form. It has no position but the ends of ranges, and those
// that contradict them.
func (m *Map) MarshalJSON() ([]byte, error) {
	t := &m.trust
	s := stored{
		Stream: m.stream, Shared: m.shared, Gone: m.gone, Splits: m.splits, Revision: m.revision, Edges: m.edges,
		Evidence: t.evidence, Contradicting: t.contradicting, Last: t.last, Records: t.records, RecentWrong: t.recentWrong,
		Withdrawn: t.withdrawn, Off: t.off,
	}
	if t.evidence > 0 {
		for _, word := range t.seen {
			s.Seen = binary.BigEndian.AppendUint64(s.Seen, word)
		}
	}
	s.Shards = slices.Clone(m.top)
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
	m.stream, m.splits, m.revision, m.edges = s.Stream, s.Splits, s.Revision, s.Edges
	if s.Gone != nil {
		m.gone = s.Gone
	}
	for _, shard := range s.Shards {
		m.attach(shard)
	}
	t := &m.trust
	t.evidence, t.contradicting, t.last, t.records, t.recentWrong = s.Evidence, s.Contradicting, s.Last, max(0, s.Records), min(max(0, s.RecentWrong), recentRecords)
	t.withdrawn, t.off = s.Withdrawn, s.Off
	for i := range t.recentWrong {
		t.recent[(t.records+recentRecords-1-int64(i))%recentRecords] = true
	}
	if len(s.Seen) == len(t.seen)*8 {
		for word := range t.seen {
			t.seen[word] = binary.BigEndian.Uint64(s.Seen[8*word:])
		}
	}
	return nil
}
