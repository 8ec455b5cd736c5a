package keydesign

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
)

// View returns the view of a table or index, judged by a policy. It is nil if nothing was
// counted.
func (c *Census) View(target detect.Target, p detect.Policy) *detect.View {
	t := c.tables[target]
	if t == nil || t.requests == 0 {
		return nil
	}
	v := &detect.View{
		From: detect.TimeOf(t.first), To: detect.TimeOf(t.last + 1),
		DistinctKeys: t.countKeys(), Top: t.top(), Template: t.commonTemplate(),
		Hottest: t.hottest.view(),
	}
	effective := t.effectiveKeys(v.DistinctKeys.Value)
	if t.isTimed() && t.whole < unknownShares {
		v.EffectiveKeys = effective
	}
	total := t.frequent.total
	if all := detect.Weight(total); all > 0 {
		v.WriteShare = float64(detect.WritesInReads*total.Write) / float64(all)
	}
	share := t.shares(isTime(string(v.Template.Pattern)) && float64(v.Template.Keys) >= oneForm*float64(v.Template.Of))
	bound, largest := share.writeThroughout, share.write
	if readMostly(v) {
		bound, largest = share.readThroughout, share.read
	}
	used := largest.seconds
	if float64(used) >= throughout*t.seconds() {
		used = 0
	}
	v.EffectivePartitions = inverse(1, bound.part)
	v.Ceiling = detect.Ceiling{
		WCU: inverse(detect.Units(detect.PartitionWrite), share.writeThroughout.part),
		RCU: inverse(detect.Units(detect.PartitionRead), share.readThroughout.part),
	}
	v.Design = judgeDesign(traits{
		peakWCU: detect.Units(t.highest.Write), peakRCU: detect.Units(t.highest.Read),
		distinct: v.DistinctKeys.Value, effective: cmp.Or(value(effective), v.DistinctKeys.Value),
		share: largest.part, used: used, whole: t.whole, burst: v.Hottest.Utilization, key: largest.key.Text, hottest: t.hottest.key.Text,
		template: string(v.Template.Pattern), fits: detect.Ratio(float64(v.Template.Keys), float64(v.Template.Of)),
		newest: t.isNewestUsed(), index: target.Index != "" || p.Suffix != nil && p.Suffix.Alone,
	})
	return v
}

// CompareViews orders views of the same traffic, the better key first: by verdict, by the
// hottest second, and by the effective number of keys. A nil view comes last.
func CompareViews(a, b *detect.View) int {
	if a == nil || b == nil {
		return cmp.Compare(detect.BoolToInt(a == nil), detect.BoolToInt(b == nil))
	}
	return cmp.Or(
		cmp.Compare(slices.Index(detect.DesignVerdicts(), a.Design.Verdict), slices.Index(detect.DesignVerdicts(), b.Design.Verdict)),
		cmp.Compare(a.Hottest.Utilization, b.Hottest.Utilization),
		cmp.Compare(effectiveKeysOf(b), effectiveKeysOf(a)),
	)
}

// effectiveKeysOf returns the effective number of keys. If it is unknown, it returns the
// number of distinct keys.
func effectiveKeysOf(v *detect.View) float64 {
	return cmp.Or(value(v.EffectiveKeys), v.DistinctKeys.Value)
}

func value(n *float64) float64 {
	if n == nil {
		return 0
	}
	return *n
}

func readMostly(v *detect.View) bool { return v.WriteShare < 0.5 }

func inverse(amount, share float64) *float64 {
	if share <= 0 {
		return nil
	}
	all := amount / share
	return &all
}

func (t *counters) top() []detect.TopKey {
	all := float64(detect.Weight(t.frequent.total))
	keys := []detect.TopKey{}
	for _, c := range t.frequent.top(detect.TopKeys) {
		if detect.Weight(c.low) == 0 {
			break
		}
		keys = append(keys, detect.TopKey{
			Key: sample.Text(c.text), KeyType: t.types[c.kind], WCU: detect.Units(c.low.Write), RCU: detect.Units(c.low.Read),
			Share: detect.Figure{
				Value: float64(detect.Weight(c.low)) / all, Low: float64(detect.Weight(c.low)) / all,
				High: min(1, float64(detect.Weight(t.frequent.high(c)))/all),
			},
		})
	}
	return keys
}

func (h hottestSecond) view() detect.HottestSecond {
	write, read := detect.Units(h.load.Write), detect.Units(h.load.Read)
	return detect.HottestSecond{
		Key: sample.Text(h.key.Text), KeyType: h.key.Type, At: detect.TimeOf(h.second), WCU: write, RCU: read,
		Utilization: max(write/detect.Units(detect.PartitionWrite), read/detect.Units(detect.PartitionRead)),
	}
}

// shares are the largest shares of any key in the load. write and read count the time in
// which the key was there. writeThroughout and readThroughout count all of the time and
// bound the table; a key named after a time counts its own time, since another one
// follows.
type shares struct{ write, read, writeThroughout, readThroughout share }

// share is a key's part of the load, and the seconds from its first to its last request.
type share struct {
	key     sample.Key
	part    float64
	seconds int64
}

func (s *share) raise(o share) {
	if o.part > s.part {
		*s = o
	}
}

// shares considers keys that were there for a minute, or for a quarter of a shorter time:
// a burst has all of its second, and bounds nothing. If the keys are times, every key
// counts, however short its time, since the next one follows.
func (t *counters) shares(times bool) (s shares) {
	alone := t.countKeys().High == 1
	least := min(detect.CeilingSeconds, (t.last-t.first)/4+1)
	for _, c := range t.frequent.sortedBy(func(c *keyCounters) sample.Milli { return detect.Weight(c.low) }) {
		seconds, key := int64(c.last)-int64(c.first)+1, t.types.key(&c.shortKey)
		if c.requests < shareRequests && !alone || seconds < least && !times {
			continue
		}
		all, throughout := detect.Sub(c.through, c.before), float64(seconds) >= throughout*t.seconds()
		if throughout {
			all = t.frequent.total // a flush may be cut off at either end
		}
		write, read := share{key, shareOf(c.low.Write, all.Write), seconds}, share{key, shareOf(c.low.Read, all.Read), seconds}
		s.write.raise(write)
		s.read.raise(read)
		if !throughout && !isTime(templateOf(key, c.cut)) {
			write.part, read.part = shareOf(c.low.Write, t.frequent.total.Write), shareOf(c.low.Read, t.frequent.total.Read)
		}
		s.writeThroughout.raise(write)
		s.readThroughout.raise(read)
	}
	s.writeThroughout.part = t.boundingShare(s.writeThroughout.part, t.majorities.Write, t.frequent.total.Write)
	s.readThroughout.part = t.boundingShare(s.readThroughout.part, t.majorities.Read, t.frequent.total.Read)
	return s
}

// boundingShare returns the share that bounds the table, given the largest key's share.
// The keys that had most of their seconds bound it together. If any key has a share, the
// largest of n keys has at least 1/n.
func (t *counters) boundingShare(share float64, majorities, all sample.Milli) float64 {
	share = max(share, shareOf(majorities, all))
	if share > 0 {
		share = max(share, 1/max(1, t.countKeys().High))
	}
	return share
}

func (t *counters) seconds() float64 { return float64(t.last - t.first + 1) }

func shareOf(part, all sample.Milli) float64 {
	if part < shareUnits || all <= 0 {
		return 0
	}
	return min(1, float64(part)/float64(all))
}

// isNewestUsed reports whether keys are numbered and were first used in the order of
// their numbers, so that requests are for the newest. It uses Kendall's rank correlation
// of a key's number and its first second.
func (t *counters) isNewestUsed() bool {
	type numbered struct {
		number int64
		first  uint32
	}
	var all []numbered
	for _, s := range t.sampled {
		if n, ok := trailingNumber(s.text); ok && !s.cut {
			all = append(all, numbered{n, s.first})
		}
	}
	agree, compared := 0, 0
	for i, a := range all {
		for _, b := range all[:i] {
			if a.first == b.first || a.number == b.number {
				continue
			}
			compared++
			if (a.first < b.first) == (a.number < b.number) {
				agree++
			} else {
				agree--
			}
		}
	}
	return len(all) >= orderedKeys && 2*len(all) > len(t.sampled) && compared > 0 &&
		float64(agree) >= orderedConcordance*float64(compared)
}

func trailingNumber(key string) (int64, bool) {
	text := strings.TrimRight(key, "0123456789")
	n, err := strconv.ParseInt(key[len(text):], 10, 64)
	return n, err == nil
}
