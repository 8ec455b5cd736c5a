package partition

import (
	"math"
	"slices"
	"time"

	"github.com/keyheat/keyheat/sample/position"
)

// The rules of trust. They are of simulations of 5,224 days with 31,344 splits: the right hash
// made no contradiction, and each of five wrong ones made one within 21 keys.
const (
	// MinEvidence is the evidence from which a map claims its ranges: an unrelated hash
	// would agree once in 10⁹ tables.
	MinEvidence = 9
	// cellBits is how many bits of a position name its cell.
	cellBits = 16
	// withdrawKeys and withdrawShare are the contradicting keys, and their share of the last
	// recentRecords records, from which a map withdraws itself. Fewer are a reader's error.
	withdrawKeys  = 3
	withdrawShare = 0.01
	recentRecords = 1000
	// doubtTime is how long a contradiction makes a map doubtful, and how long a map that
	// withdrew twice claims nothing.
	doubtTime = 24 * time.Hour
	// maxExamples is how many contradicting positions are kept.
	maxExamples = 16
)

// State is how far a map can be trusted.
type State string

const (
	// Learning means that the keys seen are too few for a claim.
	Learning State = "learning"
	// One means that the table has one partition, for which no hash is needed.
	One State = "one_partition"
	// Inferred means that the ranges are claimed: the evidence is enough, and nothing
	// contradicts it.
	Inferred State = "inferred"
	// Doubtful means that some keys of the last day contradict the ranges. Claims are then
	// possible ones only.
	Doubtful State = "doubtful"
	// Withdrawn means that so many keys contradict the hash that nothing is claimed.
	Withdrawn State = "withdrawn"
)

// Claims reports whether ranges, and what each carries, are claimed.
func (s State) Claims() bool { return s == Inferred || s == Doubtful }

// IsKnown reports whether it is known where keys lie, perhaps with a doubt.
func (s State) IsKnown() bool { return s == One || s.Claims() }

// IsCertain reports whether it is known where keys lie, without a doubt.
func (s State) IsCertain() bool { return s == One || s == Inferred }

// trust is the evidence for a map, and what contradicts it.
type trust struct {
	seen cells
	// Evidence is the logarithm, to base 10, of how many unrelated hashes one would have
	// agreed with all keys so far.
	Evidence float64 `json:"evidence"`
	// Contradicting are the distinct positions that contradicted the present ranges, and
	// Last is the time of the last one.
	Contradicting []position.Position `json:"contradicting"`
	Last          time.Time           `json:"last"`
	// Refuted are the positions that contradicted ranges that were given up.
	Refuted []position.Position `json:"refuted,omitempty"`
	// recent has a bit for each of the last records: whether it contradicted.
	recent      [recentRecords]bool
	Records     int64       `json:"records"`
	RecentWrong int         `json:"recent_wrong"`
	Withdrawn   []time.Time `json:"withdrawn"`
	Off         time.Time   `json:"off"`
}

// restart forgets the evidence, and what contradicts it.
func (t *trust) restart() {
	t.seen, t.Evidence = cells{}, 0
	t.Contradicting = nil
	t.recent, t.Records, t.RecentWrong = [recentRecords]bool{}, 0, 0
}

// fresh reports whether a cell has no key yet, and marks it.
func (t *trust) fresh(cell int) bool {
	was := t.seen.has(cell)
	t.seen.set(cell)
	return !was
}

// weigh raises the evidence to that of the present numbers of cells: the logarithm of the
// orders in which an unrelated hash could have filled them, over those that are contiguous.
func (t *trust) weigh(cells []int) {
	if len(t.Contradicting) > 0 {
		return
	}
	n := 0
	logarithm := -logFactorial(len(cells))
	for _, c := range cells {
		n += c
		logarithm -= logFactorial(c)
	}
	t.Evidence = max(t.Evidence, (logarithm+logFactorial(n))/math.Ln10)
}

func logFactorial(n int) float64 {
	v, _ := math.Lgamma(float64(n) + 1)
	return v
}

// count keeps whether each of the last records contradicted.
func (t *trust) count(wrong bool) {
	at := &t.recent[t.Records%recentRecords]
	if *at {
		t.RecentWrong--
	}
	if *at = wrong; wrong {
		t.RecentWrong++
	}
	t.Records++
}

func (t *trust) contradict(p position.Position, now time.Time) {
	t.count(true)
	if slices.Contains(t.Contradicting, p) {
		return
	}
	if t.Last = now; len(t.Contradicting) < maxExamples {
		t.Contradicting = append(t.Contradicting, p)
	}
}

// isRefuted reports whether so many keys contradict the ranges that they are given up.
func (t *trust) isRefuted() bool {
	return len(t.Contradicting) >= withdrawKeys && float64(t.RecentWrong) >= withdrawShare*float64(min(t.Records, recentRecords))
}

// Contradictions returns positions of keys that contradict the ranges, at most 16. While nothing
// is claimed again, they are those that refuted the ranges of before.
func (m *Map) Contradictions(now time.Time) []position.Position {
	claims := m.State(now).Claims()
	if t := &m.trust; claims || len(t.Contradicting) > 0 || now.Sub(t.Last) >= doubtTime {
		return t.Contradicting
	}
	return m.trust.Refuted
}

// State returns how far the map can be trusted. A map that is refuted begins anew once; the
// second time within a day it claims nothing for a day.
func (m *Map) State(now time.Time) State {
	t := &m.trust
	if t.isRefuted() {
		t.Withdrawn = slices.DeleteFunc(t.Withdrawn, func(at time.Time) bool { return now.Sub(at) >= doubtTime })
		if t.Withdrawn = append(t.Withdrawn, now); len(t.Withdrawn) > 1 {
			t.Off = now.Add(doubtTime)
		}
		t.Refuted = t.Contradicting
		m.forget(now)
	}
	switch {
	case now.Before(t.Off):
		return Withdrawn
	case t.Evidence < MinEvidence && m.openShards() == 1:
		return One
	case t.Evidence < MinEvidence:
		return Learning
	case len(t.Contradicting) > 0 && now.Sub(t.Last) < doubtTime:
		return Doubtful
	}
	return Inferred
}

func (m *Map) openShards() (n int) {
	for _, s := range m.shards {
		if s.Ended.IsZero() {
			n++
		}
	}
	return n
}
