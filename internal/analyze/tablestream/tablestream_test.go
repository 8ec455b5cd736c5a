package tablestream_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/analyze"
	"github.com/keyheat/keyheat/internal/analyze/tablestream"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/streamstest"
	"github.com/keyheat/keyheat/internal/testsupport/streamstest/model"
)

// shop is a table with a sort key and two global indexes.
var shop = model.Schema{
	Name: "orders", Key: model.Key{Partition: []string{"customer"}, Sort: []string{"id"}},
	Types: map[string]string{"id": "N"},
	Indexes: []model.Index{
		{Name: "by-status", Key: model.Key{Partition: []string{"status"}}},
		{Name: "by-day", Key: model.Key{Partition: []string{"day", "shop"}, Sort: []string{"id"}}, Projection: "KEYS_ONLY"},
	},
}

// openShop makes the table and its stream, on a day of this decade.
func openShop(o streamstest.Options) (*streamstest.Fake, *streamstest.Table) {
	time.Sleep(time.Until(time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)))
	fake := streamstest.New(o)
	table := fake.CreateTable(shop)
	table.EnableStream(streamstest.NewAndOldImages)
	return fake, table
}

// trade lets the shop do business for so many hours. It writes a little all the time. In
// some seconds of each hour large orders make a customer hot, and the status in which
// orders begin.
func trade(t *testing.T, table *streamstest.Table, hours int) {
	t.Helper()
	tradeEvery(t, table, hours, 15*time.Second)
}

// tradeEvery is trade in hours of 200 small orders, with so much time between two of them.
func tradeEvery(t *testing.T, table *streamstest.Table, hours int, pause time.Duration) {
	t.Helper()
	random, id := rand.New(rand.NewPCG(7, 7)), 0
	put := func(customer, status string, size int) {
		id++
		item := model.Item{
			"customer": model.S(customer), "id": model.N(fmt.Sprint(id % 5000)), "status": model.S(status),
			"day": model.S("monday"), "shop": model.S(fmt.Sprint("s", id%7)), "note": model.S(strings.Repeat("n", size)),
		}
		must.Succeed(t, table.Put(item))
	}
	for hour := range hours {
		for range 200 {
			time.Sleep(pause)
			put(fmt.Sprint("c", random.IntN(3000)), "paid", random.IntN(2000))
		}
		for range 4 {
			for range 70 {
				put(fmt.Sprint("big", hour%3), "open", 18_000+random.IntN(4000))
				time.Sleep(10 * time.Millisecond)
			}
			time.Sleep(time.Second)
		}
	}
	time.Sleep(2 * time.Second)
}

// load returns the written load by index, key and second, from the fake's own prices.
func load(table *streamstest.Table, since, until time.Time) (perSecond map[string]map[int64]float64, total map[string]float64) {
	perSecond, total = map[string]map[int64]float64{}, map[string]float64{}
	for _, w := range table.Written() {
		if w.Time.Before(since) || !w.Time.Before(until) {
			continue
		}
		for _, c := range shop.Charges(w) {
			names := shop.Key.Partition
			for _, x := range shop.Indexes {
				if x.Name == c.Index {
					names = x.Key.Partition
				}
			}
			var parts []string
			for _, name := range names {
				parts = append(parts, *c.Key[name].S)
			}
			id := c.Index + "/" + strings.Join(parts, "|")
			if perSecond[id] == nil {
				perSecond[id] = map[int64]float64{}
			}
			perSecond[id][w.Time.Unix()] += c.Units
			total[c.Index] += c.Units
		}
	}
	return perSecond, total
}

// analyzed runs analyze over the shop's stream, in a bubble, and returns its JSON.
func analyzed(ctx context.Context, t *testing.T, fake *streamstest.Fake, last time.Duration, follow bool, errs io.Writer) *analyze.Result {
	t.Helper()
	var out bytes.Buffer
	o := analyze.Options{Out: &out, Err: errs, Format: analyze.FormatJSON, Facts: func(detect.Target) *detect.TableFacts { return nil }}
	read := tablestream.Options{Table: "orders", Last: last, Follow: follow, Rate: 1, Out: errs}
	must.Succeed(t, tablestream.Open(ctx, fake.Config("analyze"), read, &o))
	must.Succeed(t, analyze.Run(ctx, o))
	var r analyze.Result
	must.Succeed(t, json.Unmarshal(out.Bytes(), &r))
	return &r
}

// compare compares a verdict with the written load: the totals, and every hot key with the
// highest second and the number of seconds over the limit of its last hot hour. A key that cools
// has a finding for each time, and the newest is told.
func compare(t *testing.T, r *analyze.Result, table *streamstest.Table, since, until time.Time) {
	t.Helper()
	perSecond, total := load(table, since, until)
	for _, of := range r.Tables {
		if of.WCU != total[of.Index] || of.RCU != 0 {
			t.Errorf("%s: %g write units, want %g", of.Name(), of.WCU, total[of.Index])
		}
		delete(total, of.Index)
	}
	if len(total) > 0 {
		t.Errorf("not seen: %v", total)
	}
	hot := map[string][2]float64{} // the highest second, and how many are over the limit
	for id, seconds := range perSecond {
		var most, over float64
		last := int64(0)
		for _, second := range slices.Sorted(maps.Keys(seconds)) {
			if seconds[second] <= 1000 {
				continue
			}
			if second-last > detect.Horizon {
				most, over = 0, 0
			}
			most, over, last = max(most, seconds[second]), over+1, second
		}
		if over > 0 {
			hot[id] = [2]float64{most, over}
		}
	}
	if len(hot) < 2 {
		t.Fatalf("nothing was hot: %v", hot)
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		id := f.Index + "/" + string(f.Key)
		if f.Subject != detect.KeyWrites {
			continue // about several keys
		}
		if hot[id] == [2]float64{} {
			t.Errorf("%s is not hot: %+v", id, f.Peak)
			continue
		}
		if got := [2]float64{f.Peak.WCU.Value, float64(f.SecondsOver())}; got != hot[id] || f.Peak.WCU.Low != got[0] || f.Peak.WCU.High != got[0] {
			t.Errorf("%s: %v, %+v, want %v", id, got, f.Peak.WCU, hot[id])
		}
		delete(hot, id)
	}
	if len(hot) > 0 {
		t.Errorf("not found: %v", hot)
	}
}

// TestAStreamOfFiveHundredShards reads a day of a DynamoDB that throttles, with a fifth of the
// shards in short. The verdict equals the written load, on the table and its indexes.
func TestAStreamOfFiveHundredShards(t *testing.T) {
	t.Parallel()
	open, hours := 100, 5
	if testing.Short() {
		open, hours = 20, 3
	}
	synctest.Test(t, func(t *testing.T) {
		fake, table := openShop(streamstest.Options{Shards: open, Rollover: time.Hour, Seed: 1, Throttles: 0.1, EmptyPages: 0.1, Delay: time.Second, Lag: 2 * time.Second})
		trade(t, table, hours)
		begin := time.Now()
		var errs bytes.Buffer
		r := analyzed(t.Context(), t, fake, 24*time.Hour, false, &errs)
		compare(t, r, table, time.Time{}, begin)
		if len(r.Gaps) > 0 || len(r.Samples.Bad) > 0 || !r.Samples.Judged {
			t.Errorf("gaps %+v, samples %+v", r.Gaps, r.Samples)
		}
		notes := strings.Join(r.Notes, "\n")
		if !strings.Contains(notes, fmt.Sprintf("in %d of %[1]d shards", hours*open)) || !strings.Contains(notes, "were throttled, and repeated") {
			t.Errorf("notes %q", notes)
		}
		if !strings.HasPrefix(errs.String(), "Reading the stream of orders, the last 24h, with one request a second and\nshard. ") {
			t.Errorf("it says %q", errs.String())
		}
		if called := operations(fake); called != "DescribeStream DescribeTable GetRecords GetShardIterator ListStreams" {
			t.Errorf("it calls %s", called)
		}
	})
}

// operations are the names of the requests made.
func operations(fake *streamstest.Fake) string {
	all := map[string]bool{}
	for _, c := range fake.Calls("") {
		all[c.Operation] = true
	}
	return strings.Join(slices.Sorted(maps.Keys(all)), " ")
}

// TestTheLastHoursOfAStream: changes from before the last hours do not count, also of a
// server that does not find a place by time.
func TestTheLastHoursOfAStream(t *testing.T) {
	t.Parallel()
	for _, old := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			fake, table := openShop(streamstest.Options{Shards: 20, Rollover: time.Hour, NoTimestamps: old})
			trade(t, table, 3)
			begin := time.Now()
			r := analyzed(t.Context(), t, fake, 2*time.Hour, false, io.Discard)
			compare(t, r, table, begin.Add(-2*time.Hour), begin)
		})
	}
}

// TestAnInterruptedStream: the verdict covers the read part and admits it. A repeated
// reading is whole.
func TestAnInterruptedStream(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fake, table := openShop(streamstest.Options{Shards: 20, Rollover: time.Hour, PageRecords: 10})
		trade(t, table, 2)
		begin := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 6*time.Second)
		defer cancel()
		r := analyzed(ctx, t, fake, 24*time.Hour, false, io.Discard)
		_, total := load(table, time.Time{}, begin)
		if len(r.Tables) == 0 || r.Tables[0].WCU == 0 || r.Tables[0].WCU >= total[r.Tables[0].Index] {
			t.Errorf("%+v of %v", r.Tables, total)
		}
		notes := strings.Join(r.Notes, "\n")
		if len(r.Gaps) != 1 || !strings.HasPrefix(r.Gaps[0].Reason, "interrupted: ") || !strings.Contains(notes, "reads from the beginning again") {
			t.Errorf("gaps %+v, notes %q", r.Gaps, notes)
		}
		begin = time.Now().Truncate(time.Second)
		compare(t, analyzed(t.Context(), t, fake, 24*time.Hour, false, io.Discard), table, time.Time{}, begin)
	})
}

// TestAFollowedStream: hot keys are announced as they begin, and the final verdict covers
// everything.
func TestAFollowedStream(t *testing.T) {
	t.Parallel()
	pause := 15 * time.Second
	if testing.Short() {
		pause /= 5
	}
	synctest.Test(t, func(t *testing.T) {
		fake, table := openShop(streamstest.Options{Shards: 4})
		tradeEvery(t, table, 2, pause)
		ctx, cancel := context.WithCancel(t.Context())
		var errs bytes.Buffer
		done := make(chan *analyze.Result)
		go func() { done <- analyzed(ctx, t, fake, 24*time.Hour, true, &errs) }()
		tradeEvery(t, table, 3, pause)
		time.Sleep(2 * time.Minute)
		cancel()
		r := <-done
		compare(t, r, table, time.Time{}, time.Now())
		said := strings.Join(strings.Fields(errs.String()), " ")
		for _, cost := range []string{ // 4 shards, one request a second: 4 × 3,600 × $0.0000002
			"It goes on, at 3,600 requests an hour for each open shard, until Ctrl-C",
			"4 shards are open: to follow them takes 14,400 requests for records an hour, $0.003 in US East, or $2.07 in 30 days.",
		} {
			if strings.Count(said, cost) != 1 {
				t.Errorf("it does not say once %q: %s", cost, said)
			}
		}
		if told := strings.Index(said, "4 shards are open"); told > strings.Index(said, "critical") {
			t.Errorf("what it costs is told after the first incident: %s", said)
		}
		for _, told := range []string{"(“big0”)", "(“big2”)", "(“open”)"} {
			if n := strings.Count(strings.Join(strings.Fields(errs.String()), " "), strings.Join(strings.Fields(told), " ")); n != 1 {
				t.Errorf("%q is told %d times in\n%s", told, n, errs.String())
			}
		}
		if len(r.Gaps) > 0 {
			t.Errorf("gaps %+v", r.Gaps)
		}
	})
}
