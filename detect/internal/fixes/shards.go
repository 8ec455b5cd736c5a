package fixes

import (
	"slices"
	"strconv"
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/keyhash"
	"github.com/keyheat/keyheat/shardkey"
)

// shardNames returns the names of key shards, in the key's present form or the policy's,
// and their base.
func (c *Case) shardNames(how detect.Suffix) *detect.ShardNames {
	base, form := c.Key, shardkey.HashShardUnderscore()
	if parsed, is := shardkey.Parse(string(c.Key)); is && len(parsed.Form.Before) > 1 && !parsed.Form.Prefix && parsed.Form.Digits == 0 && !parsed.Form.Hex && parsed.Tail == "" {
		base, form = sample.Text(parsed.Base), parsed.Form
	}
	if c.Policy.Suffix != nil {
		form = *c.Policy.Suffix
		if b, _, is := form.Parse(string(c.Key)); is && b != "" {
			base = sample.Text(b)
		}
	}
	names := &detect.ShardNames{Base: base, Shards: c.Shards, Before: sample.Text(form.Before), After: sample.Text(form.After), Prefix: form.Prefix, Alone: form.Alone, Suffix: how}
	if c.Index == "" && (c.KeyType == sample.TypeNumber || c.KeyType == sample.TypeBinary) {
		names.NewTable = true // the attribute takes no text
		if isInteger(string(base)) {
			names.Decimals = len(strconv.Itoa(c.Shards))
		}
	}
	// Hidden keys and keys of other times lie elsewhere, and a decimal is another name.
	if names.Decimals == 0 && c.Rolling == nil && base == c.Key && keyhash.Find(string(c.Key)) < 0 {
		names.PlaceApart(c.Cuts)
	}
	return names
}

// longestInteger leaves room for decimals: a number has at most 38 digits.
const longestInteger = 30

// isInteger reports whether a number key has no decimals or exponent.
func isInteger(key string) bool {
	digits := strings.TrimPrefix(key, "-")
	return digits != "" && len(digits) <= longestInteger && strings.Trim(digits, "0123456789") == ""
}

// takes returns the effort of new names in place of a key; less is the effort of the rest.
func (c *Case) takes(less detect.Effort) detect.Effort {
	if c.Index != "" || c.KeyType == sample.TypeNumber {
		return detect.EffortKeys
	}
	return less
}

// single are the operations that name single items.
var single = []sample.Op{sample.GetItem, sample.BatchGetItem, sample.TransactGetItems, sample.UpdateItem, sample.DeleteItem}

// readBack returns the share of the load that reads or changes single items. Their key
// shards must follow from the items' own attributes.
func (c *Case) readBack() (share float64) {
	for op, o := range c.operations() {
		if slices.Contains(single, op) {
			share += o.Share
		}
	}
	return share
}

// isQueue reports whether items are deleted while the load moves over the sort keys. Such a
// key drains soon once nothing new is written to it.
func (c *Case) isQueue() bool {
	return c.movesOn() && c.part(sample.DeleteItem) >= worthShare
}

// movesOn reports whether the load moves over the sort keys, or on to another key.
func (c *Case) movesOn() bool {
	switch c.Ground {
	case detect.GroundSortKey, detect.GroundMoving, detect.GroundPeriod:
		return true
	case detect.GroundItem, detect.GroundLocalIndex, detect.GroundSplit:
		return false
	}
	s := c.PredictedSplit()
	return s != nil && (s.Direction == detect.Rising || s.Direction == detect.Falling)
}

// migration returns the way to shards.
func (c *Case) migration(base sample.Text) detect.Fix {
	switch {
	case base != c.Key:
		return detect.FixMigrateShards
	case c.Index != "":
		return detect.FixMigrateIndex
	case c.Rolling != nil:
		return detect.FixMigrateTimeKey
	case c.reads():
		return detect.FixMigrateReads
	case c.isQueue():
		return detect.FixMigrateQueue
	}
	return detect.FixMigrateWrites
}
