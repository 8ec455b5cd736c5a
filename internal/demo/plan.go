package demo

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/generate"
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
	Import time.Time
	// Campaign is when the merchant's campaign begins; it never ends.
	Campaign time.Time
	// Sharded is from when on the merchant's orders have the names of Shards.
	Sharded  time.Time
	Shards   *detect.ShardNames
	sharding shardkey.Sharding
	// Views is when everybody begins to look at the product, ViewsEnd when that is over.
	Views, ViewsEnd time.Time
}

// isWithin reports whether a second is in a span; one that ends at the zero time does not
// end.
func isWithin(second int64, from, to time.Time) bool {
	return !from.IsZero() && second >= from.Unix() && (to.IsZero() || second < to.Unix())
}

// shard writes the merchant's orders to key shards from a time on. Where that is done already,
// nothing changes.
func (p *plan) shard(at time.Time, names *detect.ShardNames) (err error) {
	if p.Sharded.IsZero() {
		p.sharding, err = names.Sharding()
		p.Sharded, p.Shards = at, names
	}
	return err
}

// storedKey returns the key under which the application stores an order of a second.
func (p *plan) storedKey(key, order string, second int64) string {
	if key == merchantKey && isWithin(second, p.Sharded, time.Time{}) {
		key, _ = p.sharding.Pick(key, order) // of a base that is a key, and so never too long
	}
	return key
}

// How much is requested in a second.
const (
	// calm is the number of requests to all tables without a hot key.
	calm = 860
	// imported is how many rows the bulk import writes, of a unit each.
	imported = 1450
	// usual is how many orders the merchant has before the campaign.
	usual = 40
	// campaign is the number of orders a second during the campaign, one unit each: 1.6
	// times a partition's limit.
	campaign = 1600
	// views are the read units of the product's page, an item of productBytes. A strongly
	// consistent read costs 5 units, so 600 of them fill a partition. Eventually consistent
	// reads leave the partition some room in its busiest second: that is the story's first
	// fix.
	views, productBytes = 4000, 20_000
)

// callers are the services that send the requests. None makes half of the retries: a retry
// storm would be another story.
var callers = []string{"web", "web", "web", "web", "app", "app", "app", "partners", "partners", "partners"}

// traffic returns the callers' requests of a second, which follow from the seed, the second and
// the plan.
func (p *plan) traffic(seed uint64, second int64) generate.Config {
	draw := rand.New(rand.NewPCG(seed, uint64(second)))
	// near returns a number of units near the expected one, which it takes some seconds to reach.
	near := func(expected float64, begins time.Time) int64 {
		begun := min(1, float64(second-begins.Unix()+1)/4)
		return int64(math.Round(expected * begun * max(0, 1+0.03*draw.NormFloat64())))
	}
	merchant := generate.HotKey{Table: ordersTable, PK: merchantKey, Rising: true, WCU: near(usual, time.Time{})}
	if isWithin(second, p.Campaign, time.Time{}) {
		merchant.WCU = near(campaign, p.Campaign)
	}
	c := generate.Config{
		Seed: seed + uint64(second), Start: time.Unix(second, 0), Duration: time.Second, Rate: 1, Callers: callers,
		Background: generate.Background{
			Tables: []string{ordersTable, catalogTable, cartsTable}, Names: []string{"merchant", "product", "cart"},
			Requests: near(calm, time.Time{}), Keys: 1000, Exponent: 1.01, Reads: 0.6,
		},
		Hot: []generate.HotKey{merchant},
	}
	if isWithin(second, p.Import, p.Import.Add(importLasts)) {
		c.Hot = append(c.Hot, generate.HotKey{Table: catalogTable, PK: feedKey, Rising: true, WCU: near(imported, time.Time{})})
	}
	if isWithin(second, p.Views, p.ViewsEnd) {
		c.Hot = append(c.Hot, generate.HotKey{Table: catalogTable, PK: productKey, Item: "page", Bytes: productBytes, RCU: near(views, p.Views)})
	}
	return c
}
