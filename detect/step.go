package detect

import (
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/shardkey"
)

// Step is one piece of advice: a fix, with the figures of the case at hand.
type Step struct {
	Fix Fix `json:"fix"`
	// Action is the group of the fix, one word for programs: see ActionCaller and the
	// others.
	Action string `json:"action"`
	Effort Effort `json:"effort"`
	// After is the load that remains after the step. It is null if the evidence does not
	// decide it.
	After *After `json:"after"`
	// Need is the capacity that the table or index needs after the step. It is null if
	// the need does not change or is unknown.
	Need *Need `json:"need"`
	// Cost is null if the step adds no requests, or they are unknown.
	Cost      *Cost     `json:"cost"`
	Arguments Arguments `json:"arguments"`
	// Guide is the section of docs/KEY_DESIGN.md with more about it; empty without one.
	Guide string `json:"guide"`
	// Names are the names of the shards that the step makes; null if it makes none.
	Names *ShardNames `json:"names"`
}

// NewStep returns the step of a fix, with its usual effort.
func NewStep(f Fix) Step { return fixes[f] }

// Arguments are the figures and names of a step. Each fix has its own few.
type Arguments struct {
	// Count is a number of key shards, items or partitions, and of a wait the splits.
	Count int `json:"count,omitempty"`
	// Share is a part of the load, or of an item's bytes: 0 to 1.
	Share float64 `json:"share,omitempty"`
	// Units are capacity units a second: a rate to keep, capacity to set, or units that
	// the step spares. Of a query they are its own.
	Units float64 `json:"units,omitempty"`
	// From is the present rate of the caller, in units a second.
	From float64 `json:"from,omitempty"`
	// AtLeast reports that Count is a lower bound: the load was cut off where it was seen, or
	// earlier bursts are forgotten.
	AtLeast bool `json:"at_least,omitempty"`
	// Region is where old items of a global table move: the same in the findings of all
	// Regions. Strong reports that the table's Regions are strongly consistent, so that it
	// takes no transactions.
	Region sample.Text `json:"region,omitempty"`
	Strong bool        `json:"strong,omitempty"`
	// Bytes is the mean size of an item, or the growth of a collection in a second.
	Bytes float64 `json:"bytes,omitempty"`
	// Attempts is a number of refused attempts, Sent how often a caller sends each
	// request.
	Attempts int64   `json:"attempts,omitempty"`
	Sent     float64 `json:"sent,omitempty"`
	Seconds  int     `json:"seconds,omitempty"`
	// Every is the interval of bursts that come at fixed times, in seconds. Count is then how
	// many of them were seen, of the newest eight.
	Every int `json:"every,omitempty"`
	// Shape is what the owner says the item is.
	Shape Shape `json:"shape,omitempty"`
	// Caller and Attribute are text of the monitored system.
	Caller    sample.Text `json:"caller,omitempty"`
	Attribute sample.Text `json:"attribute,omitempty"`
}

// Need is the capacity of a table or index as a whole at such a peak, in units a second.
type Need struct {
	// Unit is wcu or rcu.
	Unit string `json:"unit"`
	// Now is the need before the step. After it the need is between Low and High.
	Now  float64 `json:"now"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// Provisioned is the present capacity; 0 if it is unknown, and on demand.
	Provisioned float64 `json:"provisioned"`
	// NewIndex reports that a new index needs this beside the old one.
	NewIndex bool `json:"new_index"`
}

// ShardNames are the partition keys of shards. Each is the base with a number, one of Numbers
// or else 0 to Shards-1, between Before and After. The number stands behind the base or, with Prefix,
// before it. With Alone the number is the whole key, and the base is in the sort key.
type ShardNames struct {
	Base   sample.Text `json:"base"`
	Shards int         `json:"shards"`
	Before sample.Text `json:"before"`
	After  sample.Text `json:"after"`
	Prefix bool        `json:"prefix"`
	Alone  bool        `json:"alone"`
	// NewTable reports that such names need a new table: the key is no text. Decimals is
	// the number of decimals that name key shards of a number key in its own table, 1 to
	// Shards: 4711.01. Fewer digits would make one number of two shards.
	NewTable bool `json:"new_table,omitempty"`
	Decimals int  `json:"decimals,omitempty"`
	// Numbers place the shards apart in the key space, by shardkey's Sharding.PlaceApart with
	// Cuts, the edges of the table's partitions. Without a map of the partitions there are
	// no cuts, and each shard has an equal part.
	Numbers []int    `json:"numbers,omitempty"`
	Cuts    []uint16 `json:"cuts,omitempty"`
	// Suffix is the way to choose an item's number.
	Suffix Suffix `json:"suffix"`
}

// Sharding returns the shards as an application names them.
func (n *ShardNames) Sharding() (shardkey.Sharding, error) {
	s, err := shardkey.New(n.Shards, shardkey.Form{Before: string(n.Before), After: string(n.After), Prefix: n.Prefix, Alone: n.Alone})
	if err != nil || len(n.Numbers) == 0 {
		return s, err
	}
	return s.PlaceApart(n.Cuts...)
}

// PlaceApart chooses numbers for the key shards that lie apart: one in each of the table's
// partitions between cuts, or one in each equal part of the key space.
func (n *ShardNames) PlaceApart(cuts []uint16) {
	s, err := n.Sharding()
	if err != nil {
		return
	}
	if s, err = s.PlaceApart(cuts...); err == nil {
		n.Numbers, n.Cuts = s.Numbers(string(n.Base)), cuts
	}
}

// Suffix is the way to choose an item's shard.
type Suffix string

const (
	// SuffixRandom is for items that are read all together.
	SuffixRandom Suffix = "random"
	// SuffixCalculated is for items that are read back or changed one by one.
	SuffixCalculated Suffix = "calculated"
	// SuffixCounter is random, for counters that are summed when read.
	SuffixCounter Suffix = "counter"
)

// After is the load after a step in the peak's second, on the key or on the fullest of
// its new shards or parts. It is between Low and High, as far as the evidence shows. For
// a step that waits for splits it is a mean, since DynamoDB splits by the load of
// minutes.
type After struct {
	// Unit is wcu or rcu.
	Unit string  `json:"unit"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// LowUtilization and HighUtilization are the same as shares of the limit.
	LowUtilization  float64 `json:"low_utilization"`
	HighUtilization float64 `json:"high_utilization"`
}

// NewAfter returns a load between two amounts, in units a second of the subject's side.
func NewAfter(s Subject, low, high float64) *After {
	limit := Units(Limit(s))
	return &After{Unit: Side(s, "wcu", "rcu"), Low: low, High: high, LowUtilization: low / limit, HighUtilization: high / limit}
}

// Cost is the request units that a step adds. Requests are lower bounds: one may cost more
// than its minimum, and a global table pays for its writes in each Region.
type Cost struct {
	// RCU and WCU are units a second at the load of the evidence.
	RCU float64 `json:"rcu"`
	WCU float64 `json:"wcu"`
	// ItemWCU are the write units that each stored item costs once, when it moves.
	ItemWCU float64 `json:"item_wcu"`
	// DayUSD is the price of RCU and WCU for a day, ItemsUSD the price of a million items
	// that move, in US dollars. Each is null if the policy lacks a price that it needs.
	DayUSD   *float64 `json:"day_usd"`
	ItemsUSD *float64 `json:"million_items_usd"`
	// WarmWCU and WarmRCU are the units a second of warm throughput that are bought once, in
	// each Region: upper bounds, since the table may have more than is known. WarmUSD is
	// their price in one Region.
	WarmWCU float64  `json:"warm_wcu,omitempty"`
	WarmRCU float64  `json:"warm_rcu,omitempty"`
	WarmUSD *float64 `json:"warm_usd,omitempty"`
}

// million is the number of request units that a price is for.
const million = 1e6

// Price fills in what the units cost by the policy's prices.
func (c *Cost) Price(p Policy) {
	const day = 24 * 60 * 60
	if c.RCU+c.WCU > 0 && (c.RCU == 0 || p.ReadPrice > 0) && (c.WCU == 0 || p.WritePrice > 0) {
		c.DayUSD = new(day * (c.RCU*p.ReadPrice + c.WCU*p.WritePrice) / million)
	}
	if c.ItemWCU > 0 && p.WritePrice > 0 {
		c.ItemsUSD = new(c.ItemWCU * p.WritePrice)
	}
	if c.WarmRCU+c.WarmWCU > 0 && (c.WarmRCU == 0 || p.WarmReadPrice > 0) && (c.WarmWCU == 0 || p.WarmWritePrice > 0) {
		c.WarmUSD = new(c.WarmRCU*p.WarmReadPrice + c.WarmWCU*p.WarmWritePrice)
	}
}

// FanOut returns the cost of queries, in requests a second, of more key shards than now; nil
// if there are none.
func FanOut(queries float64, more int, p Policy) *Cost {
	if queries <= 0 || more <= 0 {
		return nil
	}
	c := &Cost{RCU: queries * float64(more) * QueryMinimum}
	c.Price(p)
	return c
}

// Prewarm returns the cost of a table's or index's warm throughput, in units a second of the
// subject's side; nil if the table has it. DynamoDB charges once for what is above the present
// warm throughput (aws.amazon.com/dynamodb/pricing).
func Prewarm(s Subject, units float64, index string, facts *TableFacts, p Policy) *Cost {
	wcu, rcu := facts.WarmThroughput(index)
	provisionedWCU, provisionedRCU := facts.Capacity(index)
	has := Side(s, max(wcu, provisionedWCU), max(rcu, provisionedRCU))
	if facts != nil && facts.Billing == BillingOnDemand {
		has = max(has, Side[float64](s, OnDemandWrite, OnDemandRead))
	}
	if units <= has {
		return nil
	}
	c := &Cost{WarmWCU: Side(s, units-has, 0), WarmRCU: Side(s, 0, units-has)}
	c.Price(p)
	return c
}
