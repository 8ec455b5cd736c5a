package detect

import (
	"time"

	"github.com/keyheat/keyheat/sample"
)

// Contention describes an item whose requests take attempts from each other, in its newest minute
// of contention. DynamoDB ends a lost attempt with a conflict of transactions, or because its
// condition does not hold. No limit refuses it.
type Contention struct {
	// Item is the beginning of the item's sort key; empty if the key has none, or if the samples
	// do not have it. Items is the number of contended items of the key.
	Item  sample.Text `json:"item"`
	Items int         `json:"items"`
	// Shape is what the item seems to be, or is by its owner's word, where ShapeTold.
	Shape     Shape `json:"shape"`
	ShapeTold bool  `json:"shape_told,omitempty"`
	// From and To are the first and the last second of the minute.
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
	// Attempts and Lost are all attempts that can be lost, and the lost ones, a second. The
	// bounds hold with 95% confidence if requests were sampled.
	Attempts Figure `json:"attempts"`
	Lost     Figure `json:"lost"`
	// Conflicts and ConditionsFailed are the two parts of Lost.
	Conflicts        float64 `json:"conflicts"`
	ConditionsFailed float64 `json:"conditions_failed"`
	// Share is the part of the attempts that is lost, with its bounds.
	Share     float64 `json:"share"`
	ShareLow  float64 `json:"share_low"`
	ShareHigh float64 `json:"share_high"`
	// WastedWCU are the write units a second of lost attempts: a lower bound, because the cost of
	// a conflict is unknown.
	WastedWCU float64 `json:"wasted_wcu"`
	// Retried are the calls a second that took effect only after lost attempts, and Failed the
	// ones that gave up. FailedShare is their part of all calls. All are lower bounds: a producer
	// that sends each attempt as a call of its own shows neither.
	Retried     float64 `json:"retried"`
	Failed      float64 `json:"failed"`
	FailedShare float64 `json:"failed_share"`
	// Transactions and Updates are the parts of the attempts that are transactions, and single
	// updates.
	Transactions float64 `json:"transactions"`
	Updates      float64 `json:"updates"`
	// Losers are the callers of the lost attempts, and Writers the callers of all attempts, the
	// busiest first.
	Losers  []Part `json:"losers"`
	Writers []Part `json:"writers"`
}

// standing is how many times the lost attempts of the next caller one has that stands out.
const standing = 1.5

// MainLoser returns the caller that loses most attempts; empty if none stands out.
func (c *Contention) MainLoser() sample.Text {
	if len(c.Losers) == 0 || len(c.Losers) > 1 && c.Losers[0].Low < standing*c.Losers[1].High {
		return ""
	}
	return c.Losers[0].Text
}
