package detect

import (
	"time"

	"github.com/keyheat/keyheat/sample/position"
)

// PartitionRange is one partition: the shard that it writes to, and its part of the key space.
type PartitionRange struct {
	Shard string `json:"shard"`
	// From and To are the outermost positions that other partitions leave to this one. Low
	// and High are its outermost keys. So its edges lie between From and Low, and between
	// High and To. All are zero without Keys.
	Keys bool              `json:"keys"`
	From position.Position `json:"from"`
	Low  position.Position `json:"low"`
	High position.Position `json:"high"`
	To   position.Position `json:"to"`
}

// PartitionLoad is what one partition carried in some seconds.
type PartitionLoad struct {
	PartitionRange
	// WCU and RCU are of the partition's highest second of each, at WritePeak and ReadPeak.
	// Low is the proven load of keys and cells that lie there for certain, Value their load.
	// High adds each key and cell that may lie there, and all load without a known position.
	WCU       Figure    `json:"wcu"`
	RCU       Figure    `json:"rcu"`
	WritePeak time.Time `json:"write_peak"`
	ReadPeak  time.Time `json:"read_peak"`
	// RefusedWCU and RefusedRCU are the most units of one second that DynamoDB refused, at
	// least: of keys that lie there for certain.
	RefusedWCU float64 `json:"refused_wcu"`
	RefusedRCU float64 `json:"refused_rcu"`
	// Busiest are the listed keys with the most load, the busiest first, with their shares of
	// the certain load. KeyCount counts all listed keys that lie there for certain.
	Busiest  []BusyKey `json:"busiest"`
	KeyCount int       `json:"key_count"`
	// Cuts are where DynamoDB may split the partition, by each of the two plausible rules;
	// empty if fewer than two keys lie there for certain.
	Cuts []PartitionCut `json:"cuts"`
	// Split is the split that came since; null for none.
	Split *PartitionSplit `json:"split"`
}

// The rules by which DynamoDB may choose the place of a split. AWS documents neither.
const (
	CutMedian = "median" // halves the load, between two keys
	CutMiddle = "middle" // halves the range
)

// PartitionCut is one possible split of a partition.
type PartitionCut struct {
	Rule string            `json:"rule"`
	At   position.Position `json:"at"`
	// Fuller is the fuller half's share of the load that lies there for certain.
	Fuller float64 `json:"fuller"`
}

// BusyKey is a key with its share of its partition's write units.
type BusyKey struct {
	KeyRef
	Share float64 `json:"share"`
}

// PartitionSplit is a partition that DynamoDB divided.
type PartitionSplit struct {
	// At is about when, Shard the divided partition's shard.
	At    time.Time `json:"at"`
	Shard string    `json:"shard"`
	// Left and Right are the shards of the halves, or of partitions that continue them.
	Left  string `json:"left"`
	Right string `json:"right"`
	// Low and High were the partition's outermost keys. The cut lies between CutLow and
	// CutHigh; both are equal if it divides one item collection.
	Low     position.Position `json:"low"`
	High    position.Position `json:"high"`
	CutLow  position.Position `json:"cut_low"`
	CutHigh position.Position `json:"cut_high"`
	// Forecast is the last forecast before the split; empty if none was made. Outcome
	// compares it with the cut, once that is known well enough; empty before.
	Forecast []PartitionCut  `json:"forecast"`
	Outcome  ForecastOutcome `json:"outcome"`
}

// ForecastOutcome is which rule's forecast of a split was right.
type ForecastOutcome string

// The outcomes.
const (
	ForecastBoth    ForecastOutcome = "both"
	ForecastMedian  ForecastOutcome = CutMedian
	ForecastMiddle  ForecastOutcome = CutMiddle
	ForecastNeither ForecastOutcome = "neither"
)

// rightWithin is the distance of a cut from its forecast, as a share of the partition's
// range, up to which the forecast was right.
const rightWithin = 0.05

// Score compares the forecast with the cut.
func (s *PartitionSplit) Score() {
	right := []ForecastOutcome{}
	for _, c := range s.Forecast {
		off := max(float64(s.CutLow)-float64(c.At), float64(c.At)-float64(s.CutHigh))
		if off <= rightWithin*float64(s.High-s.Low) {
			right = append(right, ForecastOutcome(c.Rule))
		}
	}
	switch len(right) {
	case 0:
		s.Outcome = ForecastNeither
	case 1:
		s.Outcome = right[0]
	default:
		s.Outcome = ForecastBoth
	}
}

// Utilization returns the certain part of the limit in the highest second, of writes or of
// reads.
func (l *PartitionLoad) Utilization() float64 {
	return max(l.WCU.Low/Units(PartitionWrite), l.RCU.Low/Units(PartitionRead))
}

// HottestShare returns about which share of a limit the busiest key has.
func (l *PartitionLoad) HottestShare() float64 {
	if len(l.Busiest) == 0 {
		return 0
	}
	return l.Busiest[0].Share * max(l.WCU.Value/Units(PartitionWrite), l.RCU.Value/Units(PartitionRead))
}
