package scenario

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// World is traffic as found in the field. Its fields are the fields of
// detect/board/testdata/worlds*.yaml.
type World struct {
	Seconds  int
	Start    time.Time
	Source   string
	Sampling struct {
		Rate float64
		How  string
	}
	Load []WorldLoad
}

// WorldLoad is the load of one key, or of several.
type WorldLoad struct {
	Table, Index, Region string
	Key                  string
	Keys                 int
	Number               bool
	Op                   string
	WCU, RCU             float64
	Size                 int64
	Strong               bool
	Sort                 string
	Caller               string
	Callers              int
	From, To, Step       int
	// The load comes in the first Lasting seconds of Every seconds; all the time without them.
	Every, Lasting   int
	Throttled        float64
	Reason, Resource string
	Retries, Batch   int
	Attempts, Wait   float64
	Zipf, Wave       float64
	// Conflict and Condition are the parts of attempts that end in a conflict of transactions, and
	// whose condition does not hold. Tries is how often a call is sent before it gives up; without
	// it each attempt is a call of its own, and nothing tells of the others.
	Conflict, Condition float64
	Tries               int
	// Flush is the number of seconds between two writes of gathered requests, all with
	// the time of the write. Whole cuts times to seconds.
	Flush int
	Whole bool
	// Resent is how often on average an item of a batch is refused in a second, each time under
	// its own sort key.
	Resent int
	// Unsized leaves sizes out.
	Unsized bool
	// Folded writes one record for a key's requests of a second, at any millisecond.
	Folded bool
}

// maxWorldRecords is the most records of one key's second. Beyond it each record stands
// for several requests.
const maxWorldRecords = 250

// A load of randomKeys keys or more draws the key of each request.
const randomKeys = 20_000

// Windows calls each with every second's windows, complete and in order. The same world
// and seed give the same windows.
func (w *World) Windows(seed uint64, each func(second int64, all []sketch.Window)) {
	config := sketch.Config{Seed: Seed}
	shard := sketch.NewShard(config)
	w.Records(seed, func(second int64, records []sample.Record) {
		for i := range records {
			if err := shard.Add(&records[i]); err != nil {
				panic(err)
			}
		}
		d := sketch.NewDelta(config)
		shard.Seal(d)
		each(second, d.Windows)
	})
}

// Records calls each with every second's samples, in order. Their memory is used again for the
// next second.
func (w *World) Records(seed uint64, each func(second int64, all []sample.Record)) {
	r := rand.New(rand.NewPCG(seed, 1))
	senders := make([]*sender, len(w.Load))
	for i := range w.Load {
		senders[i] = newSender(w, &w.Load[i], r)
	}
	var sent, sorted []sample.Record
	for s := range w.Seconds {
		sent = sent[:0]
		for _, sending := range senders {
			sent = sending.second(s, sent)
		}
		at := w.Start.Unix() + int64(s)
		sorted = sortMillis(sent, sorted[:0], 1000*at)
		each(at, sorted)
	}
}

// sortMillis appends the records of a second to another slice, sorted by time. Records are large,
// so that each is moved only once.
func sortMillis(records, to []sample.Record, begin int64) []sample.Record {
	var next [1001]int // where the next record of a millisecond goes
	for i := range records {
		next[records[i].Time-begin+1]++
	}
	for i := 1; i < len(next); i++ {
		next[i] += next[i-1]
	}
	to = slices.Grow(to, len(records))[:len(records)]
	for i := range records {
		place := &next[records[i].Time-begin]
		to[*place] = records[i]
		*place++
	}
	return to
}

// sender makes the requests of a load.
type sender struct {
	world  *World
	load   *WorldLoad
	random *rand.Rand
	// share is each key's part of the load, phase its progress to the next request.
	share, phase []float64
	unit         float64 // of one request
	edit         *sample.Edit
	sent         int64
}

func newSender(w *World, l *WorldLoad, r *rand.Rand) *sender {
	s := &sender{world: w, load: l, random: r, unit: l.unit(), edit: l.edit()}
	n := max(l.Keys, 1)
	if n >= randomKeys {
		n = 1
	}
	sum := 0.0
	for i := range n {
		s.share = append(s.share, math.Pow(float64(i+1), -l.Zipf))
		s.phase = append(s.phase, r.Float64())
		sum += s.share[i]
	}
	for i := range s.share {
		s.share[i] /= sum
	}
	return s
}

// unit returns the units of one request.
func (l *WorldLoad) unit() float64 {
	if l.RCU > 0 {
		blocks := math.Ceil(float64(l.Size) / 4096)
		if l.Strong {
			return blocks
		}
		return blocks / 2
	}
	units := math.Ceil(float64(l.Size) / 1024)
	if strings.HasPrefix(l.Op, "Transact") {
		units *= 2
	}
	return units
}

// second appends the records of one second.
func (s *sender) second(at int, all []sample.Record) []sample.Record {
	l := s.load
	if at < l.From || l.To > 0 && at >= l.To || l.Every > 0 && at%l.Every >= l.Lasting {
		return all
	}
	level := 1.0
	if l.Wave > 0 {
		level += l.Wave * (s.random.Float64() - 0.5)
	}
	perSecond := (max(l.WCU, l.RCU)*level + l.Throttled) / s.unit
	refused := l.Throttled / (max(l.WCU, l.RCU)*level + l.Throttled)
	for i, share := range s.share {
		if l.Step > 0 {
			if at/l.Step%len(s.share) != i {
				continue
			}
			share = 1
		}
		s.phase[i] += perSecond * share
		if l.Flush > 0 && at%l.Flush != l.Flush-1 {
			continue
		}
		n := int(s.phase[i])
		s.phase[i] -= float64(n)
		all = s.requests(at, i, n, refused, all)
	}
	return all
}

// requests appends the records of n requests for one key, or of the sampled ones among
// them.
func (s *sender) requests(at, key, n int, refused float64, all []sample.Record) []sample.Record {
	l, rate := s.load, s.world.Sampling.Rate
	together := 1
	if rate > 0 && s.world.Sampling.How == "request" {
		together = max(l.Batch, 1)
	}
	fold := 1
	if rate == 0 && l.Resent == 0 {
		fold = max(1, (n+maxWorldRecords-1)/maxWorldRecords)
	}
	if l.Folded {
		return s.folded(at, key, n, refused, all)
	}
	for i := 0; i < n; i += together * fold {
		if rate > 0 && s.random.Float64() >= rate {
			s.sent += int64(together)
			continue
		}
		for range together {
			r := s.record(at, key, s.millis(i, n), refused)
			r.N = int64(min(fold, n-i))
			if rate > 0 { // as the SDK's middleware writes it
				r.Calls = 1 / float64(together)
			}
			all = s.indexRecord(at, &r, s.retry(&r, append(all, r)))
			s.sent++
		}
	}
	return all
}

// folded appends one record for the sampled ones of n requests, as a producer writes that
// counts requests by second, and one for the refused ones among them.
func (s *sender) folded(at, key, n int, refused float64, all []sample.Record) []sample.Record {
	if rate := s.world.Sampling.Rate; rate > 0 {
		drawn := 0
		for range n {
			if s.random.Float64() < rate {
				drawn++
			}
		}
		n = drawn
	}
	throttled := int(refused * float64(n))
	for i, count := range []int{n - throttled, throttled} {
		if count == 0 {
			continue
		}
		r := s.record(at, key, s.millis(0, 1), float64(i))
		r.N = int64(count)
		all = append(all, r)
	}
	return all
}

// flushMillis is the time of a flush within its second.
const flushMillis = 417

// millis returns the time, within its second, that the i-th of n requests is recorded
// with.
func (s *sender) millis(i, n int) int64 {
	l := s.load
	switch {
	case l.Whole:
		return 0
	case l.Flush > 0:
		return flushMillis
	}
	return int64(1000 * (float64(i) + s.random.Float64()) / float64(n))
}

func (s *sender) record(at, key int, millis int64, refused float64) sample.Record {
	l := s.load
	r := sample.Record{
		Time: (s.world.Start.Unix()+int64(at))*1000 + millis, Table: l.Table, Index: l.Index, Region: l.Region,
		PK: s.partitionKey(at, key), SK: s.sortKey(at, millis), Bytes: l.Size, Rate: 1, N: 1,
		Change: s.world.Source == "stream",
	}
	if s.world.Sampling.Rate > 0 {
		r.Rate = s.world.Sampling.Rate
	}
	if l.Unsized {
		r.Bytes = 0
	}
	if op, known := sample.ParseOp(l.Op); known {
		r.Op = op
	}
	switch {
	case l.RCU > 0:
		r.RCU = Milli(s.unit)
	case l.Sort == "queue" && s.atTail():
		r.WCU, r.Op = Milli(s.unit), sample.DeleteItem
	default:
		r.WCU = Milli(s.unit)
		r.Edit = s.edit
	}
	if l.Strong {
		r.Read = sample.Strong
	}
	if !r.Change {
		r.Caller = l.Caller
		if l.Callers > 0 {
			r.Caller = strings.ReplaceAll(l.Caller, "{n}", strconv.Itoa(s.random.IntN(l.Callers)))
		}
	}
	if l.Throttled > 0 && s.random.Float64() < refused {
		r.Throttle = l.Reason
		if l.Resent > 0 {
			item := 1e6*at + s.random.IntN(int(l.Throttled/s.unit)/l.Resent)
			r.SK = sample.KeyString(fmt.Sprintf("%016x", uint64(item)*0x9e3779b97f4a7c15)) // all over the key
		}
	}
	s.send(&r)
	s.lose(&r)
	return r
}

// lose sets the attempts of a request that others took, if the load is contended. Where the last
// one was, the request has no effect.
func (s *sender) lose(r *sample.Record) {
	l := s.load
	if l.Conflict+l.Condition == 0 || r.Throttle != "" {
		return
	}
	tries := int64(max(l.Tries, 1))
	for r.Attempts = 1; ; r.Attempts++ {
		switch chance := s.random.Float64(); {
		case chance < l.Conflict:
			r.Conflicts++
		case chance < l.Conflict+l.Condition:
			r.ConditionsFailed++
		default:
			tries = 0 // it took effect
		}
		if r.Attempts >= tries {
			break
		}
	}
	if r.Lost() == r.Attempts {
		r.Edit, r.Failed = nil, tries > 1
		if r.RCU, r.WCU = 0, 0; r.ConditionsFailed > 0 {
			r.WCU = Milli(s.unit)
		}
	}
	if l.Tries == 0 {
		r.Attempts, r.Failed = 0, false
	}
}

// send sets the attempts of a request, if the load's producers report them.
func (s *sender) send(r *sample.Record) {
	l := s.load
	switch {
	case l.Attempts == 0 && l.Retries == 0:
		return
	case r.Throttle != "":
		r.Attempts, r.Failed = int64(l.Retries), true
	case l.Attempts > 1:
		r.Attempts = int64(l.Attempts + s.random.Float64()) // rounded up or down at random
	default:
		r.Attempts = 1
	}
	r.Waited = float64(r.Attempts-1) * l.Wait
}

// retry appends the record of a request's throttled attempts before its last. The SDK's
// middleware writes it beside the request.
func (s *sender) retry(r *sample.Record, all []sample.Record) []sample.Record {
	if r.Attempts < 2 || s.load.Tries > 0 { // those were not throttled
		return all
	}
	before := *r
	before.WCU, before.RCU, before.Edit, before.Bytes = 0, 0, nil, 0
	before.Throttle, before.Attempts, before.Waited, before.Failed = s.load.Reason, 0, 0, false
	before.N *= r.Attempts - 1
	if before.Calls > 0 {
		before.Calls = float64(before.N) * r.Calls
	}
	return append(all, before)
}

// indexRecord appends the record of a refused write under the key of the index that
// refused it. The SDK's middleware writes it beside the record of the table's key.
func (s *sender) indexRecord(at int, r *sample.Record, all []sample.Record) []sample.Record {
	if r.Throttle == "" || s.load.Resource == s.load.Index {
		return all
	}
	i := slices.IndexFunc(s.world.Load, func(l WorldLoad) bool { return l.Table == s.load.Table && l.Index == s.load.Resource })
	if i < 0 {
		return all
	}
	index := &sender{world: s.world, load: &s.world.Load[i], random: s.random}
	entry := *r
	entry.Index = index.load.Index
	entry.PK, entry.SK = index.partitionKey(at, s.random.IntN(max(1, index.load.Keys))), index.sortKey(at, 0)
	return append(all, entry)
}

// edit returns the change by each write of the load.
func (l *WorldLoad) edit() *sample.Edit {
	r := sample.Record{Bytes: l.Size}
	if l.Unsized {
		r.Bytes = 0
	}
	r.Op, _ = sample.ParseOp(l.Op)
	return EditOf(&r)
}

// EditOf returns the change by a write: the put of a new item, or an update of a known one. It is
// nil for other requests.
func EditOf(r *sample.Record) *sample.Edit {
	switch {
	case r.Bytes == 0 || r.Op.IsRead() || r.Op == sample.DeleteItem:
		return nil
	case r.Op == sample.UpdateItem:
		return &sample.Edit{Changed: min(r.Bytes, 40), Attributes: []string{"value"}}
	}
	return &sample.Edit{Changed: r.Bytes, Grown: r.Bytes}
}

// partitionKey returns the n-th key of the load in a second. A Scan has none.
func (s *sender) partitionKey(at, n int) sample.Key {
	l := s.load
	if l.Op == "Scan" {
		return sample.Key{}
	}
	if l.Keys >= randomKeys {
		n = s.random.IntN(l.Keys)
	}
	now := s.world.Start.Add(time.Duration(at) * time.Second).UTC()
	year, week := now.ISOWeek()
	day, hour, minute := "2006-01-02", "2006-01-02T15", "2006-01-02T15:04"
	if l.Number {
		day, hour, minute = "20060102", "2006010215", "200601021504"
		if l.Key == "{n}" && l.Keys > 100 {
			n += 100_001
		} else {
			n++
		}
	}
	text := strings.ReplaceAll(l.Key, "{n}", strconv.Itoa(n))
	if strings.Contains(text, "{") { // a time; few keys have one, and a replacer is slow
		text = strings.NewReplacer(
			"{day}", now.Format(day), "{hour}", now.Format(hour), "{minute}", now.Format(minute),
			"{epoch}", strconv.FormatInt(now.Unix(), 10), "{week}", fmt.Sprintf("%d-W%02d", year, week),
		).Replace(text)
	}
	if l.Number {
		return sample.Key{Type: "N", Text: text}
	}
	return sample.KeyString(text)
}

// atTail reports whether a queue's next request deletes its oldest item instead of adding
// one.
func (s *sender) atTail() bool { return s.sent%2 == 0 }

// jitterMillis is the most that timestamps as sort keys deviate from the order of
// arrival.
const jitterMillis = 300

// sortKey returns the sort key of a request.
func (s *sender) sortKey(at int, millis int64) sample.Key {
	now := (s.world.Start.Unix()+int64(at))*1000 + millis
	switch s.load.Sort {
	case "one":
		return sample.KeyString("profile")
	case "uuid", "spread":
		return sample.KeyString(fmt.Sprintf("%016x", s.random.Uint64()))
	case "rising":
		return sample.KeyString(fmt.Sprintf("%d-%09d", now, s.sent))
	case "jitter":
		return sample.KeyString(strconv.FormatInt(now-s.random.Int64N(jitterMillis), 10))
	case "queue":
		if s.atTail() {
			return sample.KeyString(fmt.Sprintf("%012d", s.sent))
		}
		return sample.KeyString(fmt.Sprintf("%012d", s.sent+100_000))
	}
	return sample.Key{}
}
