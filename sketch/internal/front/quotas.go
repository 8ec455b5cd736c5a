package front

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/keyheat/keyheat/sample"
)

const (
	// quotaRounds is for how many rounds a sender's part of the room is kept for it.
	quotaRounds = 60
	// maxSenders bounds the senders with a part of their own.
	maxSenders = 256
)

// quotas share the room for tables. Known tables have a place of their own. New ones share the
// rest, at least a quarter, by sender. The room is shared anew in each round, because what is
// counted cannot be taken back within one.
type quotas struct {
	most    int
	known   map[sample.Target]bool
	sender  string
	senders map[string]*quota
	// taken is the number of new tables, part the most that one sender may have.
	taken, part int
}

// quota is a sender's use of the room.
type quota struct {
	taken int
	// asked is how many tables it needs, as far as is known: more than there is room for while
	// greedy, the rounds for which a refusal counts, is above 0. quiet is how many rounds ago it
	// had or asked for a new table.
	asked, greedy, quiet int
}

func newQuotas(most int) quotas {
	return quotas{most: most, part: most, senders: map[string]*quota{}}
}

// room is how many new tables there may be.
func (q *quotas) room() int { return q.most - min(len(q.known), q.most*3/4) }

func (q *quotas) setSender(sender string) {
	if sender != q.sender {
		q.sender = strings.Clone(sender)
	}
}

// find returns the quota of a sender.
func (q *quotas) find(sender string) *quota {
	s := q.senders[sender]
	if s == nil && len(q.senders) >= maxSenders {
		sender = "" // they share one
		s = q.senders[sender]
	}
	if s == nil {
		s = &quota{}
		q.senders[sender] = s
	}
	return s
}

// take reports whether a table that has no number may have one, beside so many others.
func (q *quotas) take(name sample.Target, others int) bool {
	if q.known[name] {
		return others < q.most
	}
	s := q.find(q.sender)
	if others >= q.most || q.taken >= q.room() || s.taken >= q.part {
		s.greedy = quotaRounds
		return false
	}
	q.taken++
	s.taken++
	return true
}

// share begins a round: it divides the room among the senders of new tables. A sender that asks
// for less than an equal part gets what it asks for, and the others share the rest. The tables
// that stay have to be kept.
func (q *quotas) share() {
	all := make([]int, 0, len(q.senders))
	for _, s := range q.senders {
		switch s.greedy--; {
		case s.greedy >= 0:
			s.asked, s.quiet = math.MaxInt, 0
		case s.taken > 0:
			s.asked, s.quiet = s.taken, 0
		default:
			s.quiet++
		}
		s.taken, s.greedy = 0, max(0, s.greedy)
	}
	maps.DeleteFunc(q.senders, func(_ string, s *quota) bool { return s.quiet > quotaRounds })
	for _, s := range q.senders {
		all = append(all, s.asked)
	}
	slices.SortFunc(all, cmp.Compare)
	q.taken, q.part = 0, q.room()
	left := q.room()
	for i, asked := range all {
		if q.part = max(1, left/(len(all)-i)); asked > q.part {
			return
		}
		left -= asked
	}
	q.part = q.room() // there is enough for all
}

// keep reports whether a table with a number keeps it in the next round.
func (q *quotas) keep(name sample.Target, sender string) bool {
	if q.known[name] {
		return true
	}
	s := q.find(sender)
	if q.taken >= q.room() || s.taken >= q.part {
		return false
	}
	q.taken++
	s.taken++
	return true
}
