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
		n.typed = " The key is a number and these names are text: shards need a new attribute of type S as partition key, and so a new table or index."
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
	if share := ReadBack(c.Finding); share >= worthShare {
		return fmt.Sprintf("Calculate the suffix from an attribute that is known when an item is read or changed (%.0f%% of the load names single items), such as a hash of the sort key; a random suffix could not be found again.", 100*share)
	}
	return "A random suffix does where only the whole key is read; where single items are read back, calculate it from an attribute that is known then."
}

// oneItem says what else holds if the key is one item, where nothing tells.
func oneItem(c *Case) string {
	if c.Evidence == nil || c.Evidence.SortKeys != nil || c.Index != "" {
		return ""
	}
	if c.reads() {
		return fmt.Sprintf(" If the key is one item, which the samples do not tell, shards do not divide it: keep %d copies of it instead, and read one at random.", c.Shards)
	}
	return fmt.Sprintf(" If the key is one item, which the samples do not tell, shards do not divide it by themselves: its value must be divided, as a counter's, that adds to one of %d items and sums them on reading.", c.Shards)
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

// fanOut returns what reading all shards costs.
func fanOut(c *Case) string {
	text := fmt.Sprintf("Reading the whole key then takes %d queries of at least %g RCU each", c.Shards, detect.QueryMinimum)
	if q := c.requests(sample.Query); q > 0 {
		text += fmt.Sprintf(": at the %s queries a second seen, up to %s × %d × %g = %s RCU a second more",
			wording.About(q), wording.About(q), c.Shards-1, detect.QueryMinimum, wording.About(q*float64(c.Shards-1)*detect.QueryMinimum))
	}
	if c.queriesOfAll() > 0 {
		text += ". Shards divide what a query reads, and not how many there are: they help as far as a query knows its shard, or reads the whole key"
	}
	return text + "."
}

// sharedPartition returns how likely several shards are to share a partition, so many
// that it is full.
func (a *Adviser) sharedPartition(shards int, load sample.Milli, k detect.Kind) string {
	few := int(detect.Limit(k)/max(load, 1)) + 1
	if few > shards || shards > whatif.MaxPlaced {
		return ""
	}
	id := placed{shards, few}
	chance, known := a.placements[id]
	if !known {
		if len(a.placements) > maxPlacements {
			clear(a.placements)
		}
		p := whatif.Place(shards, 2*shards, detect.Units(load)*float64(shards), whatif.PlacementSeed)
		chance = p.Chance(few)
		a.placements[id] = chance
	}
	return fmt.Sprintf("%d names are not %d partitions: over %d equal ones the chance is %.0f%% that %d or more share one, which is then full until DynamoDB splits it (simulated).",
		shards, shards, 2*shards, 100*chance, few)
}

// meanwhile says what the migration of an index adds to the key that is full already.
func (c *Case) meanwhile() string {
	text := " Until (d) a write goes to both indexes, and the old key has all of its load still."
	if c.Kind != detect.HotGSIKey {
		return text
	}
	blocks := 1.0
	if c.Evidence != nil && c.Evidence.ItemBytes > 0 {
		blocks = c.blocks(c.Evidence.ItemBytes)
	}
	more := blocks * detect.Units(detect.ShareOf(detect.PartitionWrite, copyShare))
	return text + fmt.Sprintf(" Where the old index projects all attributes, (b) writes its entries, too: at that rate up to %s write units a second on top of the %s of the full key. Do (b) when the key is cool, or more slowly.",
		wording.About(more), wording.About(c.peak()))
}

// migration returns the steps for the key at hand.
func migration(c *Case, base string) string {
	rate := wording.Amount(detect.ShareOf(detect.PartitionWrite, copyShare))
	switch {
	case base != c.Key:
		return fmt.Sprintf("The key is a shard of %s already: write to the new number of shards, read the old ones and the new ones together (N queries in parallel), and move old items only where single ones are looked up by a calculated suffix.", wording.Quote(base))
	case c.Index != "":
		return fmt.Sprintf("To get there: (a) write an attribute with the shard's name beside the present one (%s and its shard); (b) make an index on it, and add it to old items, at %s a second or fewer; (c) compare counts, and read its %d shards in parallel instead of the old index; (d) delete the old index.", wording.Quote(base), rate, c.Shards) + c.meanwhile()
	case c.Rolling != nil:
		return fmt.Sprintf("To get there: (a) choose the next %s from which keys have shards; (b) let readers ask for the shards of that %s and later, and for the old key before it; (c) let writers write to shards from then on. Nothing is copied: old keys age out.", c.Rolling.Period, c.Rolling.Period)
	}
	steps := []string{
		fmt.Sprintf("(a) write new items of %s to its shards and, for now, to the old key, too", wording.Quote(base)),
		fmt.Sprintf("(b) copy the old key's items to their shards with a condition that keeps newer ones, at %s a second or fewer", rate),
		"(c) compare counts and samples of both",
		fmt.Sprintf("(d) read the %d shards in parallel instead of the old key", c.Shards),
		"(e) stop writing the old key, and delete its items when nothing reads them",
	}
	text := "To get there: " + strings.Join(steps, "; ") + ". Until (e) the old key has all of its writes still"
	if c.throttled() > 0 {
		text += ", and throttles as it does now"
	}
	return text + "."
}
