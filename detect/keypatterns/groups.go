package keypatterns

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/sampling"
	"github.com/keyheat/keyheat/shardkey"
	"github.com/keyheat/keyheat/sketch"
)

const (
	// maxMembers is the most numbers of a sharded key: user#42 is one of a million, and
	// no shard.
	maxMembers = 1024
	// maxGroups bounds the groups of one table or index, maxAllGroups all groups.
	maxGroups    = 2000
	maxAllGroups = 20_000
	// openSeconds is the age in seconds up to which a second takes late data.
	openSeconds = 30
)

type groupID struct {
	target     detect.Target
	base, tail string
	form       shardkey.Form
}

func (id groupID) pattern() string {
	switch {
	case id.form.Alone:
		return "*"
	case id.form.Prefix:
		return id.form.Before + "*" + id.form.After + id.base
	}
	return id.base + id.form.Before + "*" + id.tail
}

// namesShards reports whether the form names a shard by a word, so that no key has it by
// chance.
func namesShards(f shardkey.Form) bool { return len(f.Before) > 1 }

var shardWords = func() (all []string) {
	for _, f := range shardkey.Forms() {
		if namesShards(f) {
			all = append(all, f.Before)
		}
	}
	return all
}()

func hasShardWord(key string) bool {
	return slices.ContainsFunc(shardWords, func(mark string) bool { return strings.Contains(key, mark) })
}

// memberLoad is a key of a window that may be a shard.
type memberLoad struct {
	// shard is the number as its digits are read in the hexadecimal system, because BASE#10 alone
	// does not show in which system it is. hex reports a digit above 9.
	shard, digits int
	hex           bool
	key           *sketch.KeyLoad
}

// readAsHex reads a decimal number's digits in the hexadecimal system.
func readAsHex(decimal int) int {
	n, _ := strconv.ParseInt(strconv.Itoa(decimal), 16, 64) // decimal digits are hexadecimal ones
	return int(n)
}

// Groups keeps the keys that are sharded, or may be.
type Groups struct {
	known     map[groupID]*group
	perTarget map[detect.Target]int // number of groups, by table or index
}

// NewGroups returns empty groups.
func NewGroups() *Groups {
	return &Groups{map[groupID]*group{}, map[detect.Target]int{}}
}

// Observe adds a window's keys to the sharded keys that they may be shards of, in the
// window's order, because there may be room for only some. newest is the newest second of
// all windows, clocks are the table's.
func (gs *Groups) Observe(w *sketch.Window, newest int64, policy detect.Policy, clocks *sampling.Clocks) {
	if w.Second < newest-openSeconds {
		return
	}
	seen := map[groupID][]memberLoad{}
	var order []groupID
	for i := range w.Keys {
		k := &w.Keys[i]
		id, m, may := mayBeShard(w, k, policy)
		if !may {
			continue
		}
		if seen[id] == nil {
			order = append(order, id)
		}
		seen[id] = append(seen[id], m)
	}
	for _, id := range order {
		if g := gs.group(id); g != nil {
			g.put(w, seen[id], periodOf(w.Second), clocks)
		}
	}
}

func periodOf(second int64) int64 { return second / detect.Horizon }

// mayBeShard parses a key as a shard's name, and reports whether it may be one.
func mayBeShard(w *sketch.Window, k *sketch.KeyLoad, policy detect.Policy) (id groupID, m memberLoad, may bool) {
	if k.Cut || policy.Excludes(k.Key.Text) {
		return id, m, false
	}
	id.target, m.key = w.Target, k
	if policy.Suffix != nil {
		if base, n, ok := policy.Suffix.Parse(k.Key.Text); ok {
			id.base, id.form, m.shard = base, *policy.Suffix, readAsHex(n)
			return id, m, true
		}
	}
	light := detect.Weight(k.Low) < detect.ShareOf(detect.WritesInReads*detect.PartitionWrite, detect.GuessedShare)
	if light && !hasShardWord(k.Key.Text) { // true for nearly every key, which saves parsing it
		return id, m, false
	}
	p, ok := shardkey.Parse(k.Key.Text)
	if !ok || light && !namesShards(p.Form) || p.Form.Alone && w.Index == "" {
		return id, m, false
	}
	id.base, id.tail, id.form = p.Base, p.Tail, p.Form
	id.form.Digits, id.form.Hex = 0, false // 007 and 100 are shards of one key, and so are 07 and 0f
	if m.shard, m.digits, m.hex = p.Shard, p.Form.Digits, p.Form.Hex; !m.hex {
		m.shard = readAsHex(p.Shard)
	}
	return id, m, true
}

// group returns the group of a sharded key, or nil if there are too many groups.
func (gs *Groups) group(id groupID) *group {
	g := gs.known[id]
	if g == nil {
		if gs.perTarget[id.target] >= maxGroups || len(gs.known) >= maxAllGroups {
			return nil
		}
		gs.perTarget[id.target]++
		g = &group{periods: map[int64]*period{}, seconds: map[int64]groupSecond{}}
		gs.known[id] = g
	}
	return g
}

// Known are groups of one table or index, to be kept.
type Known map[groupID]*group

// Known returns the groups of a table or index.
func (gs *Groups) Known(target detect.Target) Known {
	own := Known{}
	if gs.perTarget[target] == 0 {
		return own
	}
	for id, g := range gs.known {
		if id.target == target {
			own[id] = g
		}
	}
	return own
}

// Restore continues the groups of a table or index.
func (gs *Groups) Restore(own Known) {
	for id, g := range own {
		gs.known[id] = g
		gs.perTarget[id.target]++
	}
}

// Evict drops past periods, and keys without load for a horizon.
func (gs *Groups) Evict(newest int64) {
	now := periodOf(newest)
	for id, g := range gs.known {
		if len(g.periods) > 1 {
			maps.DeleteFunc(g.periods, func(at int64, _ *period) bool { return at < now-1 })
		}
		if g.last < newest-detect.Horizon {
			delete(gs.known, id)
			gs.perTarget[id.target]--
		}
	}
}
