package sample

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestWhatIsUsualHasNoFault holds the short ways of Check and CheckAmounts to the long one, on
// records whose fields are at their bounds and beyond.
func TestWhatIsUsualHasNoFault(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 5))
	seldom := func() bool { return random.IntN(10) == 0 }
	text := func(lengths ...int) string {
		return strings.Repeat([]string{"a", "a", "\x00"}[random.IntN(3)], lengths[random.IntN(len(lengths))])
	}
	whole := func(into *int64, of ...int64) {
		if seldom() {
			*into = of[random.IntN(len(of))]
		}
	}
	float := func(into *float64, of ...float64) {
		if seldom() {
			*into = of[random.IntN(len(of))]
		}
	}
	usual, amounts := 0, 0
	for range 300_000 {
		r := Record{Time: maxTime / 2, Table: "orders", PK: KeyString("a"), Op: UpdateItem, Rate: 1, N: 1}
		whole(&r.Time, minTime, maxTime, minTime-1, maxTime+1, math.MinInt64, math.MaxInt64)
		whole((*int64)(&r.RCU), 500, int64(MaxUnits), int64(MaxUnits)+1, -1, math.MinInt64)
		whole((*int64)(&r.WCU), 1000, int64(MaxUnits), int64(MaxUnits)+1, -1, math.MaxInt64)
		whole(&r.Bytes, 900, MaxItemBytes, MaxItemBytes+1, maxPageBytes, maxPageBytes+1, -1, math.MinInt64)
		whole(&r.N, 7, MaxN, MaxN+1, 0, math.MinInt64)
		whole(&r.Attempts, 1, MaxAttempts, MaxAttempts+1, -1)
		float(&r.Rate, 0.5, MinRate, MinRate/2, 0, -1, 2, math.NaN(), math.Inf(1))
		float(&r.Calls, 1, 0.5, MinCalls, MinCalls/2, 7, -1, math.NaN())
		float(&r.Waited, 5, MaxWaited, MaxWaited+1, -1, math.NaN())
		if seldom() {
			r.Table, r.Index = text(0, minNameBytes-1, minNameBytes, maxNameBytes, maxNameBytes+1), text(0, minNameBytes-1, minNameBytes, maxNameBytes, maxNameBytes+1)
		}
		if seldom() {
			r.Account, r.Region = text(0, 1, maxNameBytes, maxNameBytes+1), text(0, 1, maxNameBytes, maxNameBytes+1)
		}
		if seldom() {
			r.PK = Key{Type: text(0, 1, 2), Text: text(0, 1, 9, MaxKeyBytes, MaxKeyBytes+1)}
		}
		if seldom() {
			r.SK = Key{Type: text(0, 1, 2), Text: text(0, 1, 9, maxSKBytes, maxSKBytes+1)}
		}
		if seldom() {
			r.Op, r.Read, r.Failed = Op(random.IntN(20)), Consistency(random.IntN(5)), random.IntN(2) == 0
		}
		if seldom() {
			r.Throttle = [...]string{"ThrottlingException", "false"}[random.IntN(2)]
		}
		if got, want := r.Check(), r.fault(); got != want {
			t.Fatalf("%+v is %q, and in the short way %q", r, want, got)
		}
		named := IsName(r.Table) && IsName(r.Index) && IsPlace(r.Account) && IsPlace(r.Region)
		if got, want := r.CheckExceptNames(), r.fault(); named && got != want {
			t.Fatalf("%+v is %q, and without a look at its names %q", r, want, got)
		}
		if r.isUsual() {
			usual++
		}
		// Who calls CheckAmounts has checked the rest.
		passed := r
		passed.Time, passed.RCU, passed.WCU, passed.Bytes, passed.N = maxTime/2, 0, 0, 0, 1
		passed.Calls, passed.Attempts, passed.Waited, passed.Failed = 0, 0, 0, false
		if passed.fault() == "" {
			amounts++
			if got, want := r.CheckAmounts(), r.fault(); got != want {
				t.Fatalf("the amounts of %+v are %q, and it is %q", r, got, want)
			}
		}
	}
	if usual < 10_000 || amounts < 10_000 {
		t.Errorf("%d records were usual, and of %d the amounts were checked", usual, amounts)
	}
}
