package episode

import (
	"cmp"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"unsafe"

	"github.com/keyheat/keyheat/detect/internal/throttling"
	"github.com/keyheat/keyheat/sample"
)

// TestSeriesKeepEveryPoint compares a series with a slice: of points with every field, in
// order, late, again, and dropped.
func TestSeriesKeepEveryPoint(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var s series
		var all []point
		begin := []int64{-500, 0, 1_800_000_000}[random.IntN(3)]
		late, missing := 1+random.Int64N(200), random.IntN(4)
		for n := range int64(300) {
			if random.IntN(4) < missing {
				continue
			}
			p := randomPoint(random, begin+n-random.Int64N(late)*random.Int64N(2))
			if len(all) == 0 || p.second >= all[0].second-late {
				s.put(&p)
				all = insert(all, p)
			}
			if random.IntN(10) == 0 {
				oldest := begin + n - random.Int64N(200)
				s.dropBefore(oldest)
				all = slices.DeleteFunc(all, func(q point) bool { return q.second < oldest })
			}
			if random.IntN(10) == 0 {
				compare(t, random, &s, all)
			}
		}
		compare(t, random, &s, all)
	}
}

func insert(all []point, p point) []point {
	i, found := slices.BinarySearchFunc(all, p.second, func(q point, at int64) int { return cmp.Compare(q.second, at) })
	if found {
		all[i] = p
		return all
	}
	return slices.Insert(all, i, p)
}

func compare(t *testing.T, random *rand.Rand, s *series, want []point) {
	t.Helper()
	if s.isEmpty() != (len(want) == 0) {
		t.Fatalf("empty: %v, with %d points", s.isEmpty(), len(want))
	}
	if len(want) == 0 {
		return
	}
	if s.first() != want[0].second {
		t.Fatalf("first second: %d, want %d", s.first(), want[0].second)
	}
	after := want[random.IntN(len(want))].second - random.Int64N(2)
	var later []point
	for p := range s.pointsAfter(after) {
		later = append(later, *p)
	}
	from := slices.IndexFunc(want, func(q point) bool { return q.second > after })
	if from < 0 {
		from = len(want)
	}
	if !slices.EqualFunc(later, want[from:], func(a, b point) bool { return reflect.DeepEqual(a, b) }) {
		t.Fatalf("%d points after %d differ from the %d that were put", len(later), after, len(want)-from)
	}
	at := want[0].second + random.Int64N(300)
	i := slices.IndexFunc(want, func(q point) bool { return q.second == at })
	if p, found := s.get(at); found != (i >= 0) || found && !reflect.DeepEqual(p, want[i]) {
		t.Fatalf("second %d: found %v, at %d, or its point differs", at, found, i)
	}
	hot := want[random.IntN(len(want))].weight()
	seconds, most := 0, sample.Milli(0)
	for i := range want {
		weight := want[i].weight()
		if most = max(most, weight); weight >= hot {
			seconds++
		}
	}
	if n, highest := s.hotSeconds(hot); n != seconds || highest != most {
		t.Fatalf("%d hot seconds and %d at most, want %d and %d", n, highest, seconds, most)
	}
}

// TestEveryFieldIsPacked: a new field of a point needs a word of its own.
func TestEveryFieldIsPacked(t *testing.T) {
	t.Parallel()
	fields := 0
	walk(reflect.ValueOf(new(point)).Elem(), func(reflect.Value) { fields++ })
	var c coder
	var p point
	parts := int64(0)
	c.point(&p, &parts)
	if kept := fields - 1; c.n != kept || len(c.words) != kept { // all but the second
		t.Errorf("a point has %d fields to pack, and %d of %d words", kept, c.n, len(c.words))
	}
}

// randomPoint returns a point of which any field may be zero, small, or anything.
func randomPoint(random *rand.Rand, second int64) (p point) {
	most := []int{1, 2, 3}[random.IntN(3)]
	walk(reflect.ValueOf(&p).Elem(), func(v reflect.Value) {
		kind := random.IntN(most)
		word := random.Uint64() * min(1, uint64(kind))
		if kind == 1 {
			word %= 1000
		}
		switch v.Kind() {
		case reflect.Int, reflect.Int64:
			v.SetInt(int64(word))
		case reflect.Uint64:
			v.SetUint(word)
		case reflect.Float64:
			v.SetFloat(float64(int64(word)) / 3)
		case reflect.Bool:
			v.SetBool(word%2 == 1)
		}
	})
	p.second = second
	// A weight must not overflow.
	p.read.Value, p.write.Value = p.read.Value%1e9, p.write.Value%1e9
	switch random.IntN(8) {
	case 0:
		p.pressure = &throttling.Pressure{Demand: random.Float64()}
	case 1:
		p.regions = &regions{own: plainPoint(random, second), parts: []part{{"us-east-1", plainPoint(random, second)}, {"", plainPoint(random, second)}}}
	}
	return p
}

func plainPoint(random *rand.Rand, second int64) point {
	p := randomPoint(random, second)
	p.pressure, p.regions = nil, nil
	return p
}

// walk visits every field that is a value or a pointer, those of structs and arrays in it too.
func walk(v reflect.Value, visit func(reflect.Value)) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Field(i)
			walk(reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem(), visit)
		}
	case reflect.Array:
		for i := range v.Len() {
			walk(v.Index(i), visit)
		}
	default:
		visit(v)
	}
}
