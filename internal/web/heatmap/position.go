package heatmap

import (
	"cmp"
	"slices"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/partition"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/sample/position"
)

// Band is neighbouring rows whose keys lie in one partition.
type Band struct {
	// Name is the partition's range, or says that the partition is uncertain.
	Name string `json:"name"`
	Rows int    `json:"rows"`

	shard string // empty where uncertain
}

type placedRow struct {
	Row
	at    position.Position
	known bool
}

// orderByPosition puts the rows in the order of the key space, and joins them to bands by a
// map's partitions. Keys without a position come last. The map may be nil.
func (m *Map) orderByPosition(partitions *partition.Map) {
	rows := make([]placedRow, len(m.Rows))
	for i, r := range m.Rows {
		rows[i].Row = r
		if !r.Cut {
			rows[i].at, rows[i].known = position.Find((&detect.KeyRef{Key: r.Key, KeyType: r.KeyType}).PartitionKey())
		}
	}
	slices.SortStableFunc(rows, func(a, b placedRow) int {
		switch {
		case a.known == b.known:
			return cmp.Compare(a.at, b.at)
		case a.known:
			return -1
		}
		return 1
	})
	for i := range rows {
		m.Rows[i] = rows[i].Row
	}
	if partitions == nil {
		return
	}
	names := make(map[string]string)
	for _, r := range partitions.Ranges() {
		names[r.Shard] = say.PartitionRange(&r)
	}
	for i := range rows {
		m.addToBand(rows[i].shardIn(partitions), names)
	}
}

// shardIn returns the shard of the partition that certainly holds the row's key; empty for
// none.
func (r placedRow) shardIn(partitions *partition.Map) string {
	if !r.known {
		return ""
	}
	candidates := partitions.Locate(r.at)
	if len(candidates) != 1 {
		return ""
	}
	return candidates[0].ID
}

func (m *Map) addToBand(shard string, names map[string]string) {
	if n := len(m.Partitions); n > 0 && m.Partitions[n-1].shard == shard {
		m.Partitions[n-1].Rows++
		return
	}
	m.Partitions = append(m.Partitions, Band{Name: cmp.Or(names[shard], say.UncertainPartition), Rows: 1, shard: shard})
}

// Band returns the name of the band that begins with a row; empty for none.
func (m *Map) Band(row int) string {
	for _, b := range m.Partitions {
		if row == 0 {
			return b.Name
		}
		row -= b.Rows
	}
	return ""
}
