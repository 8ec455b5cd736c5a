package detect

// Cost is the request units that a step adds. All are lower bounds: a request may cost more
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
}
