package keytrace_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/keyheat/keyheat/internal/testsupport/keytrace"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/sample"
)

var traceStart = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)

func packed(t *testing.T) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/orm-busy.trace.zst")
	must.Succeed(t, err)
	return b
}

// read is all that the source yields, and the error at its end.
func read(t *testing.T, src []byte, c keytrace.Config) ([]sample.Record, error) {
	t.Helper()
	records, err := keytrace.Read(bytes.NewReader(src), c)
	must.Succeed(t, err)
	var all []sample.Record
	for r, err := range records {
		if err != nil {
			return all, err
		}
		all = append(all, r)
	}
	return all, nil
}

// TestTraceIsTheRealOne reads all of it once.
func TestTraceIsTheRealOne(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("make test-full reads all five million accesses")
	}
	records, err := keytrace.Read(bytes.NewReader(packed(t)), keytrace.Config{Start: traceStart, PerSecond: 200_000, Seed: 1})
	must.Succeed(t, err)
	raw := sha256.New()
	keys := map[string]bool{}
	costs := map[sample.Milli]int{}
	count, last := 0, int64(0)
	for r, err := range records {
		must.Succeed(t, err)
		if reason := r.Check(); reason != "" || r.Time < last || r.Op != sample.UpdateItem || r.Table != "orm" {
			t.Fatalf("access %d, %s: %+v", count, reason, r)
		}
		_, _ = raw.Write(access(t, r.PK.Text)) // a hash never fails
		keys[r.PK.Text] = true
		costs[r.WCU]++
		count++
		last = r.Time
	}
	if sum := hex.EncodeToString(raw.Sum(nil)); !strings.HasPrefix(sum, "016768842d9d") {
		t.Errorf("the keys written back are of sha256 %s", sum)
	}
	if count != 5_000_000 || len(keys) != 76_349 {
		t.Errorf("%d accesses of %d keys", count, len(keys))
	}
	if want := traceStart.UnixMilli() + 24_999; last != want {
		t.Errorf("the last access is at %d, want %d", last, want)
	}
	checkCosts(t, costs, count)
}

// access is a key's four bytes in the trace.
func access(t *testing.T, key string) []byte {
	t.Helper()
	var parts [3]uint32
	for i, s := range strings.Split(key, "#") {
		for _, c := range s {
			parts[i] = parts[i]*10 + uint32(c-'0')
		}
	}
	return binary.BigEndian.AppendUint32(nil, parts[0]<<27|parts[1]<<9|parts[2])
}

// checkCosts holds the mix of units to what the package says, each within
// five standard deviations.
func checkCosts(t *testing.T, costs map[sample.Milli]int, count int) {
	t.Helper()
	want := map[sample.Milli]float64{1: 0.25, 2: 0.50}
	for u := sample.Milli(4); u <= 10; u++ {
		want[u] += 0.19 / 7
	}
	for u := sample.Milli(10); u <= 24; u++ {
		want[u] += 0.06 / 15
	}
	for u, share := range want {
		expected := share * float64(count)
		if off := math.Abs(float64(costs[u*1000]) - expected); off > 5*math.Sqrt(expected*(1-share)) {
			t.Errorf("%d accesses cost %d, expected %.0f", costs[u*1000], u, expected)
		}
		delete(costs, u*1000)
	}
	if len(costs) != 0 {
		t.Errorf("costs out of the stated range: %v", costs)
	}
}

func TestTraceIsRepeatable(t *testing.T) {
	t.Parallel()
	src := packed(t)
	c := keytrace.Config{Start: traceStart, PerSecond: 20_000, Seed: 7, Limit: 50_000}
	lines := func(c keytrace.Config) (b []byte) {
		records, err := read(t, src, c)
		if err != nil || len(records) != c.Limit {
			t.Fatalf("%d records, %v", len(records), err)
		}
		for i := range records {
			b = append(records[i].AppendJSON(b), '\n')
		}
		return b
	}
	first := lines(c)
	if !bytes.Equal(first, lines(c)) {
		t.Error("the same seed gave other bytes")
	}
	c.Seed++
	if bytes.Equal(first, lines(c)) {
		t.Error("another seed gave the same bytes")
	}
}

func TestTraceSpacesAccessesEvenly(t *testing.T) {
	t.Parallel()
	records, err := read(t, packed(t), keytrace.Config{Start: traceStart, PerSecond: 3, Limit: 7})
	must.Succeed(t, err)
	var offsets []int64
	for _, r := range records {
		offsets = append(offsets, r.Time-traceStart.UnixMilli())
	}
	if want := []int64{0, 333, 666, 1000, 1333, 1666, 2000}; !slices.Equal(offsets, want) {
		t.Errorf("offsets %v, want %v", offsets, want)
	}
}

func TestTraceStopsWhenAsked(t *testing.T) {
	t.Parallel()
	records, err := keytrace.Read(bytes.NewReader(packed(t)), keytrace.Config{Start: traceStart, PerSecond: 1})
	must.Succeed(t, err)
	n := 0
	for _, err := range records {
		must.Succeed(t, err)
		if n++; n == 10 {
			break
		}
	}
	if n != 10 {
		t.Errorf("read %d", n)
	}
}

func TestTraceRefuses(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]keytrace.Config{
		"start is missing":    {PerSecond: 1},
		"accesses per second": {Start: traceStart},
		"limit is -1":         {Start: traceStart, PerSecond: 1, Limit: -1},
	} {
		if _, err := keytrace.Read(nil, c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one that says %q", err, want)
		}
	}
	enc, err := zstd.NewWriter(nil)
	must.Succeed(t, err)
	for story, src := range map[string][]byte{
		"not zstd":          []byte("certainly no zstd"),
		"cut off":           packed(t)[:1000],
		"half of an access": enc.EncodeAll([]byte("12345678901234"), nil),
	} {
		if _, err := read(t, src, keytrace.Config{Start: traceStart, PerSecond: 1}); err == nil {
			t.Errorf("%s: no error", story)
		}
	}
}
