package fixes

import (
	"fmt"
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/whatif"
	"github.com/keyheat/keyheat/detect/wording"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/shardkey"
)

// Adviser orders what to do about hot keys. It keeps the placements that it simulated.
type Adviser struct{ placements map[placed]float64 }

// maxPlacements is how many placements an adviser keeps.
const maxPlacements = 1000

// New returns an adviser.
func New() *Adviser { return &Adviser{map[placed]float64{}} }

// placed is a simulated placement.
type placed struct{ shards, share int }

// names are those of a key's shards.
type names struct {
	base        string
	form        shardkey.Form
	first, last string // empty where there are none in this form
	period      string // of a key that is named after a time
	// typed says what the key's type means for them; empty of text.
	typed string
}

// namesOf returns the names of shards in the form that the key has already, or the
// policy's, and the base that they share.
func namesOf(c *Case) names {
	n := names{base: c.Key, form: shardkey.HashShardUnderscore()}
	if c.Rolling != nil {
		n.period = c.Rolling.Period
	}
	if parsed, is := shardkey.Parse(c.Key); is && len(parsed.Form.Before) > 1 && parsed.Tail == "" {
		n.form, n.base = parsed.Form, parsed.Base
	}
	if c.Policy.Suffix != nil {
		n.form = *c.Policy.Suffix
		if b, _, is := n.form.Parse(c.Key); is && b != "" {
			n.base = b
		}
	}
	switch c.KeyType {
	case "S", "":
	case "N":
		n.typed = ofNumber(c, n.base)
	case "B":
		n.typed = " The key is binary: put a shard's number as one or two bytes before it."
		return n
	default:
		n.typed = " The key is made of several attributes: add one with a shard's number to them, up to the four that a key may have."
		return n
	}
	s, err := shardkey.New(c.Shards, n.form)
	if err != nil {
		return n
	}
	if n.first, err = s.Name(n.base, 0); err == nil {
		n.last, _ = s.Name(n.base, c.Shards-1)
	}
	return n
}

// ofNumber returns what names mean for a key that is a number: they are text, while the key
// with decimals stays a number. A key that has decimals already, or is hidden, takes no more.
func ofNumber(c *Case, base string) string {
	made := "table"
	if c.Index != "" {
		made = "index"
	}
	text := fmt.Sprintf(" The key is a number and these names are text: they need a new attribute of type S as partition key, and so a new %s.", made)
	if strings.ContainsAny(base, ".~") {
		return text
	}
	return text + fmt.Sprintf(" A shard's number as decimals of the key, such as %s.1, needs neither.", wording.Printable(base))
}

// takes returns what names in the place of a key take, where the rest takes less.
func (c *Case) takes(less detect.Effort) detect.Effort {
	if c.Index != "" || c.KeyType == sample.TypeNumber {
		return detect.EffortKeys
	}
	return less
}

// named returns the first and last name, as a part of a sentence. Of a key that is named
// after a time they are those of one time.
func (n names) named() string {
	if n.first == "" {
		return ""
	}
	if n.period != "" {
		return fmt.Sprintf(", named for this %s %s to %s, and so for each", n.period, wording.Quote(n.first), wording.Quote(n.last))
	}
	return fmt.Sprintf(", named %s to %s", wording.Quote(n.first), wording.Quote(n.last))
}

// of returns the names as a step has them.
func (n names) of(c *Case, how detect.Suffix) *detect.ShardNames {
	return &detect.ShardNames{
		Base: n.base, Shards: c.Shards, Before: n.form.Before, After: n.form.After, Prefix: n.form.Prefix, Alone: n.form.Alone, Suffix: how,
	}
}

// single are the operations that name single items.
var single = []sample.Op{sample.GetItem, sample.BatchGetItem, sample.TransactGetItems, sample.UpdateItem, sample.DeleteItem}

// ReadBack reports whether single items are read back or changed, so that their shards
// must be known from what names them: what share of the load does.
func ReadBack(f *detect.Finding) (share float64) {
	if f.Evidence == nil {
		return 0
	}
	for _, o := range f.Evidence.Operations {
		op, _ := sample.ParseOp(o.Op)
		for _, s := range single {
			if op == s {
				share += o.Share
			}
		}
	}
	return share
}

// suffixKind returns how an item finds its shard: by what reads it.
func suffixKind(c *Case) string {
	if c.isQueue() {
		return "A random suffix does: a job is changed and deleted by who has read it, and so knows its shard. The queue's one order is given up: jobs are in order within a shard only. SQS is the queue that needs no shards."
	}
	if share := ReadBack(c.Finding); share >= worthShare {
		such := ", such as a hash of the sort key"
		if c.Evidence.SortKeys == nil {
			such = ""
		}
		calculate := "Calculate"
		if oneItem(c) != "" {
			calculate = "If it has several items, calculate"
		}
		return fmt.Sprintf("%s the suffix from an attribute that is known when an item is read or changed (%.0f%% of the load names single items)%s; a random suffix could not be found again.", calculate, 100*share, such)
	}
	return "A random suffix does where only the whole key is read; where single items are read back, calculate it from an attribute that is known then."
}

// instead is oneItem as a part of a step's first sentence, which is all that a list shows.
func instead(c *Case) string {
	switch {
	case oneItem(c) == "":
		return ""
	case c.reads():
		return " or, if it is one item, keep copies of it"
	}
	return " or, if it is one item, divide its value"
}

// oneItem says what else holds if the key is one item, where nothing tells.
func oneItem(c *Case) string {
	if c.Evidence == nil || c.Evidence.SortKeys != nil || c.Index != "" {
		return ""
	}
	if c.reads() {
		return fmt.Sprintf(" If the key is one item, which the samples do not tell, shards do not divide it: keep %d copies of it instead, and read one at random.", c.Shards)
	}
	return fmt.Sprintf(" If the key is one item, which the samples do not tell, shards do not divide it by themselves: divide its value, as with a counter: add to one of %d items and sum them on reading.", c.Shards)
}

// queriesOfAll returns the share of a read load that is of queries: one that asks all
// shards is as many queries, one of each, so that the load of a shard is what each of them
// reads, however many shards there are.
func (c *Case) queriesOfAll() float64 {
	if share := c.part(sample.Query); c.reads() && share >= worthShare {
		return share
	}
	return 0
}

// cheapestQueries reports whether queries cost hardly more than a query can, so that parts of
// one would cost as much each.
func (c *Case) cheapestQueries() bool {
	least := detect.QueryMinimum * (1 + c.Evidence.StrongReads) // a strongly consistent one costs twice
	return c.unitsOf(sample.Query) <= cheapest*least
}

// fanOut returns what reading all shards costs.
func fanOut(c *Case) string {
	text := wording.ReadingAll(c.Shards)
	if q := c.requests(sample.Query); q > 0 {
		text += fmt.Sprintf(": at the %s queries a second seen, up to %s × %d × %g = %s RCU a second more",
			wording.About(q), wording.About(q), c.Shards-1, detect.QueryMinimum, wording.About(q*float64(c.Shards-1)*detect.QueryMinimum))
	}
	if c.queriesOfAll() == 0 {
		return text + "."
	}
	text += fmt.Sprintf(". Shards for reads help as far as a query knows its shard: one that asks all of them is %d queries", c.Shards)
	if c.cheapestQueries() {
		return text + ", and these cost the least that there is already, so that each shard has as many of them as the key has now."
	}
	return text + ", which divide what it reads beyond that least if it reads the whole key, and nothing if it asks each for as much as it asks the key now."
}

// sharedPartition returns how likely so many shards of a load are to share a partition that
// it is full; empty where they cannot fill one. A sentence more begins with a space.
func (a *Adviser) sharedPartition(shards int, load sample.Milli, k detect.Kind) string {
	few := whatif.Filling(k, load, shards)
	if few < 2 || shards > whatif.MaxPlaced {
		return ""
	}
	id := placed{shards, few}
	chance, known := a.placements[id]
	if !known {
		if len(a.placements) > maxPlacements {
			clear(a.placements)
		}
		p := whatif.Place(shards, 2*shards, detect.Units(load), whatif.PlacementSeed)
		chance = p.Chance(few)
		a.placements[id] = chance
	}
	return fmt.Sprintf(" %s: over %d equal ones the chance is %.0f%% that %d or more share one, which is then full until DynamoDB splits it (simulated).",
		wording.NotPartitions(shards), 2*shards, 100*chance, few)
}

// meanwhile says what the migration of an index adds to the key that is full already. An
// index's entry costs at most what its item does.
func (c *Case) meanwhile(rate string) string {
	if c.Kind != detect.HotGSIKey {
		return " Until (c) the old key has all of its reads still, and until (d) a write goes to both indexes."
	}
	text := " Until (d) a write goes to both indexes, and the old key has all of its load still."
	return text + fmt.Sprintf(" Where the old index projects all attributes, (b) writes its entries, too: up to %s write units a second on top of the %s of the full key. Do (b) when the key is cool, or more slowly.",
		rate, wording.About(c.peak()))
}

// isQueue reports whether items are deleted while the load moves over the sort keys: such
// a key is empty soon once nothing new is written to it.
func (c *Case) isQueue() bool {
	return c.movesOn() && c.part(sample.DeleteItem) >= worthShare
}

// movesOn reports whether the load moves over the sort keys, or on to another key.
func (c *Case) movesOn() bool {
	switch c.Reason {
	case detect.MonotonicSortKey, detect.MovingLoad, detect.RollingKey:
		return true
	}
	s := splitOf(c)
	return c.Reason == detect.Undetermined && s != nil && (s.Direction == detect.Rising || s.Direction == detect.Falling)
}

// migration returns the steps for the key at hand.
func migration(c *Case, base string) string {
	rate := wording.Amount(detect.ShareOf(detect.PartitionWrite, copyShare))
	switch {
	case base != c.Key:
		return fmt.Sprintf("The key is a shard of %s already: write to the new number of shards, read the old ones and the new ones together (N queries in parallel), and move old items only where single ones are looked up by a calculated suffix.", wording.Quote(base))
	case c.Index != "":
		return fmt.Sprintf("To get there: (a) write an attribute with the shard's name beside the present one (%s and its shard); (b) make an index on that attribute, and add the attribute to old items, at %s write units a second or fewer; (c) compare counts, and read its %d shards in parallel instead of the old index; (d) delete the old index.", wording.Quote(base), rate, c.Shards) + c.meanwhile(rate)
	case c.Rolling != nil:
		return fmt.Sprintf("To get there: (a) choose the next %s from which keys have shards; (b) let readers ask for the shards of that %s and later, and for the old key before it; (c) let writers write to shards from then on. Nothing is copied: old keys age out.", c.Rolling.Period, c.Rolling.Period)
	case c.reads():
		return fmt.Sprintf("To get there: (a) make every write, change and delete of an item of %s in its shard, too; (b) copy the old items to their shards at %s write units a second or fewer, each in a transaction that writes only if the old item has not changed since it was read and its shard has none; (c) compare counts and samples of both; (d) read the %d shards in parallel instead of the old key; (e) stop writing the old key, and delete its items when nothing reads them. Until (d) the old key has all of its reads still, and until (e) the table takes the key's writes twice.",
			wording.Quote(base), rate, c.Shards) + c.throttlesMeanwhile()
	}
	old := fmt.Sprintf("leave the old items where they expire soon. Else move them at %s write units a second or fewer, each before it is updated: a transaction deletes it from %s, only if it has not changed since it was read, and puts it in its shard, only if that has none. Read and move again what has changed. Where the shard has an item, that is the newer: delete the old one alone", rate, wording.Quote(base))
	deletes, then := "delete an item from both, the old key first", "updates of old items and deletes, which until (d) are those of new items, too"
	if c.isQueue() {
		old = "let the old key drain: nothing is copied, so that no job is there twice"
		deletes, then = "delete an item where it was read: from both where both have it", "updates and deletes of old items"
	}
	text := fmt.Sprintf("To get there: (a) let readers read %s and its %d shards together, and take the shard's item where both have one; (b) then put items in their shards only, and %s; (c) %s; (d) read the shards alone when the old key is empty. From (b) on the old key has only %s.",
		wording.Quote(base), c.Shards, deletes, old, then)
	if oneItem(c) != "" {
		text += " If it is one item, of which the value is divided, nothing is moved: let readers put the old item and its parts together, and then let writers change the parts alone."
	}
	return text
}

// throttlesMeanwhile returns that a key throttles until its readers have moved; empty where
// it was not seen to.
func (c *Case) throttlesMeanwhile() string {
	if c.throttled() == 0 {
		return ""
	}
	return " Until (d) it throttles as it does now."
}
