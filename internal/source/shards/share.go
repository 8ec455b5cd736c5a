package shards

import (
	"slices"

	"github.com/keyheat/keyheat/store"
)

// plan has the shards that one collector reads until the next round.
type plan struct {
	// keep are the shards to continue, take the shards to request. The collector releases
	// all other shards.
	keep, take []string
}

// share divides the readable shards evenly among the members. All members compute it from
// the same data, so that they converge. A member takes free shards up to its quota. It
// releases its surplus if that exceeds one shard and a tenth of the quota.
func share(readable []store.Shard, me string, members []string) plan {
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
	p.take = mine // including owned shards that have no reader yet
	if room := quota - len(mine); room > 0 {
		p.take = append(slices.Clip(mine), free[:min(room, len(free))]...)
	}
	return p
}

// quota returns this member's number of n shards: the first members have one more than the
// last.
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

// readable returns the shards that may be read now. Their predecessor has ended, their
// table is wanted and can be decoded, and their stream is the table's oldest unfinished
// one.
func readable(open []store.Shard, parts func(stream string) (table, label string), wanted func(table string) bool) []store.Shard {
	oldest := make(map[string]string)
	for _, h := range open {
		table, label := parts(h.Stream)
		if first, ok := oldest[table]; !ok || label < first {
			oldest[table] = label
		}
	}
	var all []store.Shard
	for _, h := range open {
		table, label := parts(h.Stream)
		if h.Ready && label == oldest[table] && wanted(table) {
			all = append(all, h)
		}
	}
	return all
}
