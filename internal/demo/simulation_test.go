package demo

import (
	"fmt"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
)

var start = time.Date(2026, 11, 22, 15, 0, 0, 0, time.UTC)

// after returns a time so many seconds after start.
func after(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }

func advance(t *testing.T, s *simulation, at time.Time, p *plan) []sample.Record {
	t.Helper()
	records, err := s.Advance(at, p)
	if err != nil {
		t.Fatal(err)
	}
	return records
}

// run returns the records of so many seconds, and checks what holds of any.
func run(t *testing.T, s *simulation, seconds int, p *plan) (all []sample.Record) {
	t.Helper()
	for i := range seconds {
		records := advance(t, s, after(i+1), p)
		for _, r := range records {
			if reason := r.Check(); reason != "" || r.Time < after(i).UnixMilli() || r.Time >= after(i+1).UnixMilli() {
				t.Fatalf("%+v in second %d is %q", r, i, reason)
			}
		}
		all = append(all, records...)
	}
	return all
}

// TestEachCallIsDemandOnce: attempts that are followed by others cost nothing, and say
// that they were refused; the last one has the units, and how the call was sent.
func TestEachCallIsDemandOnce(t *testing.T) {
	t.Parallel()
	s := newSimulation(1, start, merchantKey)
	p := &plan{Campaign: start}
	var demand, served sample.Milli
	bySecond := make(map[int64]sample.Milli)
	attempts, sent, failed, waited := int64(0), int64(0), 0, 0.0
	for _, r := range run(t, s, 15, p) {
		if r.PK.Text != merchantKey {
			continue
		}
		attempts++
		demand += r.WCU
		bySecond[r.Time/1000] += r.WCU
		if r.Throttle == "" {
			served += r.WCU
		}
		if r.Throttle != "" && sample.ParseThrottleReason(r.Throttle, "") != sample.KeyRange {
			t.Fatalf("%q is not of a hot partition", r.Throttle)
		}
		if r.Attempts == 0 && (r.WCU != 0 || r.Throttle == "") {
			t.Fatalf("an attempt that is not the last one is %+v", r)
		}
		sent += r.Attempts
		waited = max(waited, r.Waited)
		if r.Failed {
			failed++
		}
	}
	var asked sample.Milli
	refused, lost := 0, 0
	for _, second := range s.Seconds(merchantKey) {
		if of := bySecond[second.At.Unix()]; of != second.Asked {
			t.Errorf("%s: %d are asked for, the records have %d", second.At, second.Asked, of)
		}
		asked, refused, lost = asked+second.Asked, refused+second.Refused, lost+second.Failed
		if second.Served > detect.ShareOf(detect.PartitionWrite, detect.SaturatedTo)+unit {
			t.Errorf("%s: %d are served", second.At, second.Served)
		}
	}
	if asked != demand || sent != attempts {
		t.Errorf("%d units were asked for, the records have %d; %d attempts, of which calls tell %d", asked, demand, attempts, sent)
	}
	if served >= demand || lost > failed || failed == 0 || refused < failed {
		t.Errorf("%d of %d units are served, %d attempts refused, %d calls lost, %d by their records", served, demand, refused, lost, failed)
	}
	if longest := float64((firstPause + 2*firstPause + 4*firstPause).Milliseconds()); waited <= float64(firstPause.Milliseconds()) || waited > longest {
		t.Errorf("the longest wait is %v ms, of at most %v", waited, longest)
	}
	if at := s.watched[merchantKey].refused; at.Before(start) || at.After(after(5)) {
		t.Errorf("the first is refused at %s", at)
	}
}

// TestCalmIsCalm: nothing is refused, and no key has more than a third of the load that a
// partition serves.
func TestCalmIsCalm(t *testing.T) {
	t.Parallel()
	busiest := 0.0
	type at struct {
		key    string
		second int64
	}
	loads := make(map[at]float64)
	for _, r := range advance(t, newSimulation(1, start), after(45), &plan{}) {
		if r.Throttle != "" {
			t.Fatalf("%+v is refused", r)
		}
		k := at{r.Table + r.PK.Text, r.Time / 1000}
		loads[k] += float64(r.WCU)/float64(detect.PartitionWrite) + float64(r.RCU)/float64(detect.PartitionRead)
		busiest = max(busiest, loads[k])
	}
	if busiest < 0.02 || busiest > 0.34 {
		t.Errorf("the busiest second of a key is %.2f of the limit", busiest)
	}
}

// TestShardsServeTheCampaign: with two to four shards nothing is refused, and none of them
// shares a partition.
func TestShardsServeTheCampaign(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("minutes of traffic are too much for the race detector")
	}
	for shards := 2; shards <= 4; shards++ {
		s := newSimulation(1, start, merchantKey)
		p := &plan{Campaign: start}
		if err := p.shard(after(10), &detect.ShardNames{Base: merchantKey, Shards: shards, Before: "#SHARD_"}); err != nil {
			t.Fatal(err)
		}
		run(t, s, 20, p)
		for _, second := range s.Seconds(merchantKey) {
			even := second.Served / sample.Milli(shards)
			switch over := second.At.After(after(11)); {
			case over && (second.Refused > 0 || second.Fullest > even*13/10):
				t.Errorf("%d shards: %+v", shards, second)
			case second.At.After(after(5)) && second.At.Before(after(10)) && second.Refused == 0:
				t.Errorf("nothing is refused without shards: %+v", second)
			}
		}
	}
}

// TestOneItemIsRefused: the product's reads, and nothing else.
func TestOneItemIsRefused(t *testing.T) {
	t.Parallel()
	s := newSimulation(1, start, productKey)
	for _, r := range run(t, s, 30, &plan{Views: after(5), ViewsEnd: after(20)}) {
		if r.Throttle != "" && r.PK.Text == productKey && (r.Op != sample.GetItem || r.Read != sample.Strong) {
			t.Fatalf("%+v is refused", r)
		}
	}
	for _, second := range s.Seconds(productKey) {
		age := int(second.At.Sub(start).Seconds())
		if full := age >= 10 && age < 20; full && (second.Refused == 0 || math.Abs(float64(second.Served-3000*unit)) > 160*float64(unit)) {
			t.Errorf("second %d: %+v", age, second)
		}
		if (age < 5 || age > 21) && second.Asked+second.Served > 0 {
			t.Errorf("second %d: %+v", age, second)
		}
	}
}

// TestHalfOfTheReadsIsWithinTheLimit in the busiest second of a rush, at any hour: reading
// eventually consistent is what the story has on-call do first.
func TestHalfOfTheReadsIsWithinTheLimit(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("minutes of traffic are too much for the race detector")
	}
	for hour := range 24 {
		from := start.Add(time.Duration(hour) * time.Hour)
		s := newSimulation(uint64(hour), from, productKey)
		advance(t, s, from.Add(secondsKept*time.Second), &plan{Views: from})
		for _, second := range s.Seconds(productKey) {
			if room := detect.ShareOf(detect.PartitionRead, detect.DefaultWarning); second.Asked/2 > room {
				t.Errorf("%s: half of %d is above %d", second.At, second.Asked, room)
			}
		}
	}
}

// TestTheSameSeedIsTheSameTraffic, also of an application that was made anew on the way.
func TestTheSameSeedIsTheSameTraffic(t *testing.T) {
	t.Parallel()
	p := &plan{Import: after(2), Campaign: after(4)}
	if one, two := run(t, newSimulation(1, start), 10, p), run(t, newSimulation(1, start), 10, p); !reflect.DeepEqual(one, two) {
		t.Error("the same seed gives other records")
	}
	if one, two := run(t, newSimulation(1, start), 3, p), run(t, newSimulation(2, start), 3, p); reflect.DeepEqual(one, two) {
		t.Error("another seed gives the same records")
	}
	asked := func(s *simulation) string {
		advance(t, s, after(10), p)
		return fmt.Sprint(s.Seconds(merchantKey)[secondsKept-3].Asked)
	}
	if one, two := asked(newSimulation(1, start, merchantKey)), asked(newSimulation(1, after(6), merchantKey)); one != two {
		t.Errorf("%s is asked for, and %s of an application made anew", one, two)
	}
}

// TestAPlanChangesWhatIsMadeNext: the traffic of a busy machine is behind the clock. A
// change begins with its next second, and not when it has caught up.
func TestAPlanChangesWhatIsMadeNext(t *testing.T) {
	t.Parallel()
	told := time.Now().Add(-time.Hour).Truncate(time.Second)
	traffic, inspected := &traffic{sim: newSimulation(1, told)}, false
	traffic.inspect(func(_ *simulation, _ *plan, next time.Time) {
		if inspected = true; !next.Equal(told) {
			t.Errorf("it begins at %s, want %s", next, told)
		}
	})
	if !inspected {
		t.Error("the plan cannot be changed")
	}
}
