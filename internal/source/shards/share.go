package shards

import (
	"slices"

	"github.com/keyheat/keyheat/store/lineage"
)

// plan is which shards one collector reads until the next round.
type plan struct {
	// keep are the shards that it goes on reading, take those to request. It
	// releases what it reads beside keep.
	keep, take []string
}

// share divides the readable shards evenly among the members. It is a function of
// what all of them see, so that they converge: each has a quota, takes what is
// free up to it, and releases what is more than one shard, or a tenth, beyond it.
func share(readable []lineage.Shard, me string, members []string) plan {
	quota := quota(len(readable), me, members)
	var mine, free []string
	for _, h := range readable {
		switch h.Owner {
		case me:
			mine = append(mine, h.Name)
		case "":
			free = append(free, h.Name)
		}
	}
	var p plan
	if surplus := len(mine) - quota; surplus > max(1, quota/10) && len(members) > 1 {
		p.keep = mine[:quota]
		return p
	}
	p.keep = mine
	p.take = mine // ours, and perhaps not read yet
	if room := quota - len(mine); room > 0 {
		p.take = append(slices.Clip(mine), free[:min(room, len(free))]...)
	}
	return p
}

// quota returns how many of n shards are this member's: the first members have one
// more than the last.
func quota(n int, me string, members []string) int {
	rank := slices.Index(members, me)
	if rank < 0 { // not a member any more: it takes nothing
		return 0
	}
	q := n / len(members)
	if rank < n%len(members) {
		q++
	}
	return q
}

// readable returns the shards that may be read now: those whose predecessor has
// ended, of tables that are wanted and can be decoded, and of the oldest stream of
// their table that is not finished.
func readable(open []lineage.Shard, parts func(stream string) (table, label string), wanted func(table string) bool) []lineage.Shard {
	oldest := make(map[string]string)
	for _, h := range open {
		table, label := parts(h.Stream)
		if first, ok := oldest[table]; !ok || label < first {
			oldest[table] = label
		}
	}
	var all []lineage.Shard
	for _, h := range open {
		table, label := parts(h.Stream)
		if h.Ready && label == oldest[table] && wanted(table) {
			all = append(all, h)
		}
	}
	return all
}
