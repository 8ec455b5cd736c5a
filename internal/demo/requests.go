package demo

import (
	"math"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/keyheat/keyheat/sample"
)

// request is a caller's request, with its cost in units.
type request struct {
	// at is the time, in Unix milliseconds.
	at int64
	// key is the partition key that the application thinks of; a sharded one is stored
	// under other names.
	key string
	sample.Record
}

// asking makes the requests of one second.
type asking struct {
	draw *rand.Rand
	// popular draws one of 20,000 numbers, the most popular one once in 18 times.
	popular *rand.Zipf
	second  int64
	all     []request
}

func newAsking(seed uint64, second int64) *asking {
	draw := rand.New(rand.NewPCG(seed, uint64(second)))
	return &asking{draw: draw, popular: rand.NewZipf(draw, 1.1, 3, 20_000), second: second}
}

func (s *simulation) requests(second int64, p *plan) []request {
	a := newAsking(s.seed, second)
	a.calm()
	if isWithin(second, p.Import, p.Import.Add(importLasts)) {
		a.some(a.drawCount(imported), func(r *request) { a.write(r, catalogTable, feedKey, "row#"+a.id(), 600) })
	}
	if isWithin(second, p.Campaign, time.Time{}) {
		a.campaign(p)
	} else {
		a.some(a.drawCount(usual), func(r *request) { a.write(r, ordersTable, merchantKey, a.order(), 400+a.draw.Int64N(600)) })
	}
	if isWithin(second, p.Views, p.ViewsEnd) {
		a.some(a.drawCount(views*ramp(second-p.Views.Unix(), 4)), func(r *request) {
			a.read(r, catalogTable, productKey, page, productBytes, sample.Strong)
		})
	}
	return a.all
}

// How much is asked for in a second.
const (
	// The calm requests of each table.
	orders, catalog, carts = 260, 380, 220
	// imported is how many rows the bulk import writes, of a unit each.
	imported = 1450
	// usual is how many orders the merchant has before the campaign.
	usual = 40
	// campaign is the number of orders a second during the campaign, one unit each: 1.6
	// times a partition's limit.
	campaign = 1600
	// views is how often the product is read, and productBytes how large it is: a read
	// that is strongly consistent costs 5 units, so that 600 of them fill a partition. Read
	// eventually consistent they leave it some room in their busiest second too: that is
	// the first fix of the story.
	views, productBytes = 800, 20_000
	// page is the sort key of a product's item.
	page = "page"
)

// ramp goes from 0 to 1 in so many seconds.
func ramp(age, seconds int64) float64 { return min(1, float64(age+1)/float64(seconds)) }

// calm adds the ordinary traffic: some keys are asked for more than others.
func (a *asking) calm() {
	a.some(a.drawCount(orders), func(r *request) {
		merchant := "merchant#" + strconv.FormatUint(100+a.popular.Uint64(), 10)
		if a.draw.IntN(10) < 7 {
			a.write(r, ordersTable, merchant, a.order(), 300+a.draw.Int64N(2200))
			return
		}
		a.read(r, ordersTable, merchant, "", 2000+a.draw.Int64N(20_000), sample.Eventual)
	})
	a.some(a.drawCount(catalog), func(r *request) {
		product := "product#" + strconv.FormatUint(2000+a.popular.Uint64(), 10)
		if a.draw.IntN(50) == 0 {
			a.write(r, catalogTable, product, page, 1000+a.draw.Int64N(6000))
			return
		}
		a.read(r, catalogTable, product, page, 1000+a.draw.Int64N(9000), sample.Eventual)
	})
	a.some(a.drawCount(carts), func(r *request) {
		cart := "cart#" + strconv.FormatInt(a.draw.Int64N(50_000), 36)
		if a.draw.IntN(2) == 0 {
			a.write(r, cartsTable, cart, "line#"+strconv.Itoa(a.draw.IntN(9)), 200+a.draw.Int64N(900))
			return
		}
		a.read(r, cartsTable, cart, "", 500+a.draw.Int64N(5000), sample.Eventual)
	})
}

// campaign adds the orders of a merchant whom everybody buys from; some buyers look at
// their orders.
func (a *asking) campaign(p *plan) {
	shards, sharded := p.sharding(a.second)
	a.some(a.drawCount(campaign*ramp(a.second-p.Campaign.Unix(), 4)), func(r *request) {
		name, order := merchantKey, a.order()
		if sharded {
			name, _ = shards.Pick(string(p.Shards.Base), order) // of a base that is a key, and so never too long
		}
		a.write(r, ordersTable, name, order, 400+a.draw.Int64N(600))
		r.key = merchantKey
	})
}

// drawCount returns a number of requests near an expected one.
func (a *asking) drawCount(expected float64) int {
	return max(0, int(math.Round(expected*(1+0.03*a.draw.NormFloat64()))))
}

// some adds so many requests, at any time of the second.
func (a *asking) some(n int, fill func(*request)) {
	for range n {
		r := request{at: 1000*a.second + a.draw.Int64N(1000)}
		r.Rate, r.N, r.Caller = 1, 1, callers[a.draw.IntN(len(callers))]
		fill(&r)
		a.all = append(a.all, r)
	}
}

// callers are the services that ask, as often as they are listed. None makes half of the
// retries: a retry storm would be another story.
var callers = []string{"web", "web", "web", "web", "app", "app", "app", "partners", "partners", "partners"}

func (a *asking) id() string { return strconv.FormatUint(a.draw.Uint64()>>20, 36) }

// order returns the sort key of an order: orders are listed by time.
func (a *asking) order() string {
	return time.Unix(a.second, 0).UTC().Format(time.RFC3339) + "#" + a.id()
}

func (a *asking) write(r *request, table, pk, sk string, bytes int64) {
	r.Op = sample.PutItem
	a.name(r, table, pk, sk, bytes)
}

// read makes a request read an item, or, without a sort key, all items of a key.
func (a *asking) read(r *request, table, pk, sk string, bytes int64, c sample.Consistency) {
	if r.Op, r.Read = sample.GetItem, c; sk == "" {
		r.Op = sample.Query
	}
	a.name(r, table, pk, sk, bytes)
}

func (a *asking) name(r *request, table, pk, sk string, bytes int64) {
	r.key, r.Table, r.PK, r.Bytes = pk, table, sample.KeyString(pk), bytes
	if sk != "" {
		r.SK = sample.KeyString(sk)
	}
	r.RCU, r.WCU, _ = sample.EstimateUnits(r.Op, bytes, r.Read)
}
