package gather

import (
	"cmp"
	"math"
	"slices"

	"github.com/keyheat/keyheat/sample"
)

// ContentionSums accumulates the contention of one key.
type ContentionSums struct {
	// Open is true from Resume on.
	Open   bool
	others int64
	items  HeavyTexts[contendedSums]
}

type contendedSums struct {
	Contended
	losers, writers Texts
}

// Emptying returns sums that are not open, and keeps the memory.
func (s *ContentionSums) Emptying() ContentionSums { return ContentionSums{items: s.items} }

// Resume starts the sums of a key that had some requests before, unless they are open: with a lost
// attempt, or with the first request if the key lost attempts of remembered items shortly before.
// All requests for those count.
func (s *ContentionSums) Resume(remembered []rememberedItem, before int64, lost bool) {
	if s.Open || !lost && remembered == nil {
		return
	}
	*s = ContentionSums{Open: true, others: before, items: s.items.Emptying(contendedKept)}
	for _, item := range remembered {
		s.items.Places = append(s.items.Places, HeavyText[contendedSums]{Hash: item.hash, Text: []byte(item.text)})
	}
}

// Add adds a record for the item with a sort key's hash, if its attempts can be lost and the item
// lost attempts.
func (s *ContentionSums) Add(r *sample.Record, item, caller uint64) {
	if !canLose(r) {
		return
	}
	lost := thousandths(r.Lost(), r.Rate)
	to := s.find(item)
	switch {
	case to == nil && lost > 0:
		if to = s.items.Add(item, r.SK.Text, uint64(lost)); to == nil {
			s.others += r.N
			return
		}
		to.Extra.Before = s.others
	case to == nil:
		s.others += r.N
		return
	default:
		to.Weight += uint64(lost)
	}
	to.Extra.add(r, lost, caller)
}

func (s *ContentionSums) find(item uint64) *HeavyText[contendedSums] {
	for i := range s.items.Places {
		if s.items.Places[i].Hash == item {
			return &s.items.Places[i]
		}
	}
	return nil
}

// thousandths returns what a number of sampled attempts stands for.
func thousandths(n int64, rate float64) int64 {
	return int64(math.Round(min(1000*float64(n)/rate, float64(sample.MaxLoad))))
}

func (c *contendedSums) add(r *sample.Record, lost int64, caller uint64) {
	tries := thousandths(r.Tries(), r.Rate)
	if r.Attempts == 0 && r.Throttle != "" && r.RCU|r.WCU == 0 { // an attempt of a call that counts it at its end
		return
	}
	c.Attempts += tries
	c.Calls += thousandths(r.N, r.Rate)
	c.Conflicts += thousandths(r.Conflicts, r.Rate)
	c.Conditions += thousandths(r.ConditionsFailed, r.Rate)
	switch r.Op {
	case sample.UpdateItem:
		c.Updates += tries
	case sample.TransactWriteItems, sample.TransactGetItems, sample.ExecuteTransaction:
		c.Transactions += tries
	}
	if lost > 0 {
		c.addLost(r)
	}
	if r.Rate < 1 {
		c.addSampled(r)
	}
	if r.Caller != "" {
		if c.losers.Most == 0 {
			c.losers.Most, c.writers.Most = contendedCallers, contendedCallers
		}
		c.losers.Add(caller, r.Caller, uint64(lost))
		c.writers.Add(caller, r.Caller, uint64(tries))
	}
}

// addLost adds what a record says about its lost attempts.
func (c *contendedSums) addLost(r *sample.Record) {
	wasted := r.ConditionsFailed // each costs as much as the write
	if r.Lost() == r.Tries() {
		wasted = r.N
	}
	c.Units += sample.Milli(math.Round(min(float64(wasted)*float64(r.WCU)/r.Rate, float64(sample.MaxLoad))))
	again := r.N * (r.Attempts - 1)
	switch {
	case r.Attempts == 0 || r.Throttle != "" && !r.Failed:
	case r.Failed:
		c.Failed += thousandths(r.N, r.Rate)
	case r.Attempts > 1:
		// A call that took effect lost at most all attempts but the last.
		effective := r.N - max(0, r.Lost()-again)
		c.Retried += thousandths(min(effective, (r.Lost()+r.Attempts-2)/(r.Attempts-1)), r.Rate)
	}
}

// addSampled adds the uncertainty of a sampled record.
func (c *contendedSums) addSampled(r *sample.Record) {
	together, each := CallSize(r), float64(max(r.Attempts, 1))
	c.TriedSpread.Note(float64(r.N), together, each, r.Rate)
	// A call lost at most all its attempts, so the squares add up to at most that many times the
	// lost ones.
	c.LostSpread.Variance += float64(r.Lost()) * together * each * (1 - r.Rate) / (r.Rate * r.Rate)
	c.LostSpread.Largest = max(c.LostSpread.Largest, together*each/r.Rate)
}

// Seal returns the contention in memory of its own, or nil if nothing was written.
func (s *ContentionSums) Seal() *Contention {
	sealed := &Contention{Missing: s.items.Missing, Others: s.others}
	for i := range s.items.Places {
		p := &s.items.Places[i]
		if p.Extra.Attempts == 0 { // remembered, and not written any more
			continue
		}
		item := p.Extra.Contended
		item.Hash, item.Text = p.Hash, string(p.Text)
		item.Losers, item.Writers = TopOf(&p.Extra.losers), TopOf(&p.Extra.writers)
		sealed.Items = append(sealed.Items, item)
	}
	if len(sealed.Items) == 0 && sealed.Missing == 0 {
		return nil
	}
	slices.SortFunc(sealed.Items, func(a, b Contended) int { return cmp.Compare(a.Hash, b.Hash) })
	return sealed
}

// canLose reports whether a record's attempts can be lost.
func canLose(r *sample.Record) bool {
	return !r.Op.IsRead() && (r.Op != sample.OpUnknown || r.WCU > 0) || r.Op == sample.TransactGetItems || r.Lost() > 0
}
