package generate

import (
	"iter"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/keyheat/keyheat/sample"
)

// Records makes the traffic, lazily, in the order of event time. The iterator may run
// again and gives the same records. An invalid Config is an error with the correction.
func Records(c Config) (iter.Seq[sample.Record], error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	return func(yield func(sample.Record) bool) {
		streams := c.streams()
		for {
			s := earliest(streams)
			if s == nil {
				return
			}
			r, sampled := s.next(&c)
			if sampled && !yield(r) {
				return
			}
		}
	}, nil
}

// stream is requests of one kind, evenly spaced.
type stream struct {
	// from and to bound the event time, Unix nanoseconds, to exclusive.
	from, to int64
	// perSecond is how many requests a second has; made is how many there were.
	perSecond, made int64
	// draw belongs to this stream alone, so that no plant changes the draws of another.
	draw *rand.Rand
	fill func(draw *rand.Rand, r *sample.Record)
}

// nextMilli returns the event time of the stream's next request, Unix nanoseconds. Whole
// seconds are taken apart, so that it is exact however long the stream is.
func (s *stream) nextMilli() int64 {
	seconds, rest := s.made/s.perSecond, s.made%s.perSecond
	return s.from + seconds*int64(time.Second) + rest*int64(time.Second)/s.perSecond
}

func (s *stream) next(c *Config) (r sample.Record, sampled bool) {
	r = sample.Record{Time: s.nextMilli() / int64(time.Millisecond), Rate: c.Rate, N: 1}
	s.made++
	s.fill(s.draw, &r)
	if len(c.Callers) > 0 {
		r.Caller = c.Callers[s.draw.IntN(len(c.Callers))]
	}
	return r, c.Rate == 1 || s.draw.Float64() < c.Rate
}

// earliest returns the stream with the next request, the first of several at the same
// time, nil when all have ended.
func earliest(streams []*stream) (first *stream) {
	for _, s := range streams {
		if s.nextMilli() < s.to && (first == nil || s.nextMilli() < first.nextMilli()) {
			first = s
		}
	}
	return first
}

func (c *Config) streams() []*stream {
	var all []*stream
	add := func(perSecond int64, after, lasts time.Duration, fill func(*rand.Rand, *sample.Record)) {
		number := uint64(len(all))
		if lasts == 0 || after+lasts > c.Duration {
			lasts = c.Duration - after
		}
		from := c.Start.Add(after).Truncate(time.Millisecond).UnixNano()
		all = append(all, &stream{
			from: from, to: from + int64(lasts), perSecond: perSecond,
			draw: rand.New(rand.NewPCG(c.Seed, number)), fill: fill,
		})
	}
	add(c.Background.Requests, 0, 0, c.Background.fill())
	for _, h := range c.Hot {
		add(h.WCU, h.After, h.For, h.write)
		add(1000*h.RCU/int64(h.readCost()), h.After, h.For, h.read)
	}
	return slices.DeleteFunc(all, func(s *stream) bool { return s.perSecond == 0 })
}

// fill makes a background request: a random key of a random table, a fifth of
// it a Query where it reads, and items of up to some kilobytes.
func (b Background) fill() func(*rand.Rand, *sample.Record) {
	if b.Requests == 0 {
		return nil
	}
	law := newZipf(b.Keys, b.Exponent)
	return func(draw *rand.Rand, r *sample.Record) {
		table, name := draw.IntN(len(b.Tables)), "id"
		if table < len(b.Names) {
			name = b.Names[table]
		}
		r.Table = b.Tables[table]
		r.PK = sample.KeyString(name + "#" + strconv.Itoa(law.rank(draw)))
		r.SK = sample.KeyString("item#" + strconv.Itoa(draw.IntN(20)))
		switch reads := draw.Float64() < b.Reads; {
		case !reads:
			r.Op, r.Bytes = sample.UpdateItem, 100+draw.Int64N(3000)
		case draw.IntN(5) == 0:
			r.Op, r.Bytes, r.SK = sample.Query, 1000+draw.Int64N(40_000), sample.Key{}
		default:
			r.Op, r.Bytes = sample.GetItem, 100+draw.Int64N(6000)
		}
		r.RCU, r.WCU, _ = sample.EstimateUnits(r.Op, r.Bytes, r.Read)
	}
}

func (h HotKey) write(draw *rand.Rand, r *sample.Record) {
	h.name(r)
	r.Op, r.WCU = sample.UpdateItem, 1000
	r.SK = sample.KeyString("item#" + strconv.Itoa(draw.IntN(100)))
	if h.Rising || h.Layout != "" {
		r.SK = sample.KeyString(time.UnixMilli(r.Time).UTC().Format("2006-01-02T15:04:05.000Z#") + strconv.Itoa(draw.IntN(100)))
	}
}

// readCost returns the units of one read.
func (h HotKey) readCost() sample.Milli {
	if h.Item == "" {
		return 1000
	}
	return sample.ReadUnits(h.Bytes, sample.Strong)
}

func (h HotKey) read(_ *rand.Rand, r *sample.Record) {
	h.name(r)
	r.Op, r.RCU = sample.Query, h.readCost()
	if h.Index == "" { // an index of its own partitions reads eventually only
		r.Read = sample.Strong
	}
	if h.Item != "" {
		r.Op, r.SK, r.Bytes = sample.GetItem, sample.KeyString(h.Item), h.Bytes
	}
}

func (h HotKey) name(r *sample.Record) {
	r.Table, r.Index, r.PK = h.Table, h.Index, sample.KeyString(h.PK)
	if h.Layout != "" {
		r.PK = sample.KeyString(time.UnixMilli(r.Time).UTC().Format(h.Layout))
	}
}
