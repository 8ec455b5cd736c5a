package demo

import (
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/shardkey"
)

// The keys of the story, and their tables.
const (
	ordersTable  = "orders"
	catalogTable = "catalog"
	cartsTable   = "carts"

	// merchantKey is the key of all orders of one merchant, productKey the key of one item, a
	// product's page, and feedKey the key of a bulk import.
	merchantKey = "merchant#4711"
	productKey  = "product#1138"
	feedKey     = "feed#12"
)

const importLasts = 45 * time.Second

// plan holds the decisions about the traffic so far. A zero time is an open decision. It
// counts by whole seconds.
type plan struct {
	// Import is when the bulk import began.
	Import time.Time `json:"import"`
	// Campaign is when the merchant's campaign begins; it never ends.
	Campaign time.Time `json:"campaign"`
	// Sharded is from when on the merchant's orders have the names of Shards.
	Sharded time.Time          `json:"sharded"`
	Shards  *detect.ShardNames `json:"shards"`
	// Views is when everybody begins to look at the product, ViewsEnd when that is over.
	Views    time.Time `json:"views"`
	ViewsEnd time.Time `json:"views_end"`
}

// isWithin reports whether a second is in a span; one that ends at the zero time does not
// end.
func isWithin(second int64, from, to time.Time) bool {
	return !from.IsZero() && second >= from.Unix() && (to.IsZero() || second < to.Unix())
}

// sharding returns how the merchant's orders are named in a second; false while they are
// all of one key.
func (p *plan) sharding(second int64) (shardkey.Sharding, bool) {
	if p.Shards == nil || !isWithin(second, p.Sharded, time.Time{}) {
		return shardkey.Sharding{}, false
	}
	s, err := p.Shards.Sharding()
	return s, err == nil
}
