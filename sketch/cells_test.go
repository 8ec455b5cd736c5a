package sketch_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/keyhash"
	"github.com/keyheat/keyheat/sample/position"
	"github.com/keyheat/keyheat/sketch"
)

// crowded returns a small shard with cells, and a table's records of 2,000 keys, most of which
// have no place in it.
func crowded(key func(i int) sample.Key) (*sketch.Shard, []sample.Record) {
	s := sketch.NewShard(sketch.Config{Seed: seed, Sets: 8, CounterBytes: 4096})
	s.PlaceKeys(everywhere)
	random := rand.New(rand.NewPCG(seed, 6))
	all := make([]sample.Record, 8_000)
	for i := range all {
		all[i] = write(start, "", sample.Milli(1+random.IntN(4)))
		all[i].PK = key(random.IntN(2_000))
		if i%3 == 0 {
			all[i].Op, all[i].RCU, all[i].WCU = sample.GetItem, 500, 0
		}
	}
	return s, all
}

// TestCells: what a crowded second does not list is in the cell of its key, whatever the type
// of the key. What has no known position is unplaced.
func TestCells(t *testing.T) {
	t.Parallel()
	hide := keyhash.New([]byte("0123456789abcdef"))
	for _, c := range []struct {
		story  string
		key    func(i int) sample.Key
		change func(r *sample.Record)
		placed bool
	}{
		{"texts", func(i int) sample.Key { return sample.KeyString(fmt.Sprint("key#", i)) }, nil, true},
		{"long texts", func(i int) sample.Key { return sample.KeyString(fmt.Sprintf("%0200d", i)) }, nil, true},
		{"numbers", func(i int) sample.Key { return sample.Key{Type: sample.TypeNumber, Text: fmt.Sprint(i - 1000)} }, nil, true},
		{"binaries", func(i int) sample.Key { return sample.Key{Type: sample.TypeBinary, Text: fmt.Sprintf("%04d", i)} }, nil, true},
		{"two attributes", func(i int) sample.Key { return sample.Key{Type: "SN", Text: fmt.Sprint("a#", i)} }, nil, false},
		{"hidden keys", func(i int) sample.Key { return sample.KeyString(hide.Hide("S", fmt.Sprint("key#", i))) }, nil, false},
		{"an index", func(i int) sample.Key { return sample.KeyString(fmt.Sprint("key#", i)) }, func(r *sample.Record) { r.Index = "by-day" }, false},
		{"beside Scans", func(i int) sample.Key { return sample.KeyString(fmt.Sprint("key#", i)) }, func(r *sample.Record) {
			if r.WCU == 2000 {
				r.Op, r.PK, r.RCU, r.WCU = sample.Scan, sample.Key{}, 7000, 0
			}
		}, true},
	} {
		t.Run(c.story, func(t *testing.T) {
			t.Parallel()
			s, all := crowded(c.key)
			exact := exactCounts{}
			for i := range all {
				if c.change != nil {
					c.change(&all[i])
				}
				exact.add(&all[i])
			}
			add(t, s, all...)
			merged := map[identity]*sketch.Window{}
			fold(merged, overTheWire(sealed(s)))
			f := exact.compare(t, merged)
			for _, w := range merged {
				if (len(w.Cells) > 500) != c.placed {
					t.Errorf("%d cells", len(w.Cells))
				}
				if c.placed && f.unplaced != w.Total.Keyless {
					t.Errorf("%v is unplaced, %v has no key", f.unplaced, w.Total.Keyless)
				}
			}
		})
	}
}

// TestPlacesOfHiddenKeys: a hidden key with a place counts in its cell, and is listed with the
// place.
func TestPlacesOfHiddenKeys(t *testing.T) {
	t.Parallel()
	hide := keyhash.New([]byte("0123456789abcdef"))
	s, all := crowded(func(i int) sample.Key { return sample.KeyString(fmt.Sprint("key#", i)) })
	cells := map[int]sketch.Load{}
	for i := range all {
		r := &all[i]
		at, _ := position.Find(r.PK)
		r.PK, r.Place = sample.KeyString(hide.Hide("S", r.PK.Text)), at.Place()
		cell := at.Cell(sketch.CellBits)
		cells[cell] = cells[cell].Plus(sketch.Load{Read: r.RCU, Write: r.WCU})
	}
	add(t, s, all...)
	merged := map[identity]*sketch.Window{}
	fold(merged, overTheWire(sealed(s)))
	for _, w := range merged {
		if len(w.Keys) == 0 || len(w.Cells) < 500 {
			t.Errorf("%d keys and %d cells", len(w.Keys), len(w.Cells))
		}
		w.Trim(sketch.Load{Read: 1 << 40, Write: 1 << 40}, 0, true)
		for _, c := range w.Cells {
			if (sketch.Load{Read: c.Read, Write: c.Write}) != cells[int(c.At)] {
				t.Errorf("cell %d has %d and %d, want %v", c.At, c.Read, c.Write, cells[int(c.At)])
			}
		}
		if len(w.Cells) != len(cells) || w.Remainder() != (sketch.Load{}) {
			t.Errorf("%d cells, want %d", len(w.Cells), len(cells))
		}
	}
}

// TestCellsAreBounded: of many tables without room, the first 16 get cells, and the load of the
// others is unplaced. A later second begins anew, also behind Discard.
func TestCellsAreBounded(t *testing.T) {
	t.Parallel()
	s, all := crowded(func(i int) sample.Key { return sample.KeyString(fmt.Sprint("key#", i)) })
	for round := range 3 {
		exact, with := exactCounts{}, 0
		for i := range all {
			all[i].Time = (start + int64(round)) * 1000
			all[i].Table = fmt.Sprint("table-", (i+round)%40)
			exact.add(&all[i])
		}
		add(t, s, all...)
		if round == 1 {
			s.Discard()
			continue
		}
		merged := map[identity]*sketch.Window{}
		fold(merged, sealed(s))
		exact.compare(t, merged)
		for _, w := range merged {
			if len(w.Cells) > 0 {
				with++
			}
		}
		if with != 16 {
			t.Errorf("round %d: %d tables have cells", round, with)
		}
	}
	s.PlaceKeys(nil)
	add(t, s, all...)
	for _, w := range sealed(s).Windows {
		if len(w.Cells) > 0 {
			t.Fatal("no table is chosen any more")
		}
	}
}

// TestCellsOverflow: a counter that is full leaves the load unplaced.
func TestCellsOverflow(t *testing.T) {
	t.Parallel()
	s, all := crowded(func(i int) sample.Key { return sample.KeyString(fmt.Sprint("key#", i)) })
	exact := exactCounts{}
	for i := range all {
		all[i].WCU *= 900_000
		exact.add(&all[i])
	}
	add(t, s, all...)
	merged := map[identity]*sketch.Window{}
	fold(merged, sealed(s))
	if f := exact.compare(t, merged); f.unplaced.Write == 0 {
		t.Error("no counter is full")
	}
}

// TestVersions: a window without cells keeps the form that version 1 had, whose bytes are read.
func TestVersions(t *testing.T) {
	t.Parallel()
	want := sketch.Window{Target: sample.Target{Table: "orders"}, Second: start, Unseen: sketch.Load{Write: 500}}
	want.Total.Requests, want.Total.Load = 3, sketch.Load{Read: 500, Write: 3000}
	want.Keys = []sketch.KeyLoad{{Hash: 7, Key: sample.KeyString("a"), Requests: 2, Low: sketch.Load{Write: 2000}, Err: sketch.Load{Write: 500}}}
	first, err := hex.DecodeString("4b485301574b00000000000000b7905ef812f4ae5328b52ffd00007d01007402066f7264657273000000c09efe910d03f403b81700f4030107105301610200d00f00f403000000015412022013")
	must.Succeed(t, err)
	for _, version := range []byte{1, 2, 3, 5} {
		switch version {
		case 2:
			want.Cells = []sketch.Cell{{At: 9, Read: 500}, {At: 1<<sketch.CellBits - 1, Write: 1500}}
		case 3:
			want.Keys[0].Place = 1 << 16
		case 5:
			want.Trimmed = sketch.Sampling{Low: sketch.Load{Read: 500}, ReadSpread: sketch.Spread{Variance: 2, Largest: 10}, Draws: sketch.Draws{Estimated: 1, Assumed: 2, RateLow: 0.1, RateHigh: 0.5}}
		}
		body, err := want.MarshalBinary()
		if err != nil || body[3] != version {
			t.Fatalf("version %d is written: %v", body[3], err)
		}
		var read sketch.Window
		if err := read.UnmarshalBinary(body); err != nil || !reflect.DeepEqual(read, want) {
			t.Errorf("version %d: %v, %+v", version, err, read)
		}
	}
	var read sketch.Window
	if err := read.UnmarshalBinary(first); err != nil || read.Cells != nil || read.Total != want.Total {
		t.Errorf("stored bytes of version 1: %v, %+v", err, read)
	}
}

// TestHostileCells: no cell lies outside the key space, comes twice, or has more than a load
// can be.
func TestHostileCells(t *testing.T) {
	t.Parallel()
	for story, cells := range map[string][]sketch.Cell{
		"outside": {{At: 1 << sketch.CellBits, Read: 1}},
		"twice":   {{At: 7, Read: 1}, {At: 7, Read: 1}},
		"below 0": {{At: 7, Read: -1}},
	} {
		w := sketch.Window{Target: orders, Second: start, Cells: cells}
		body, err := w.MarshalBinary()
		must.Succeed(t, err)
		if err := new(sketch.Window).UnmarshalBinary(body); !errors.Is(err, sketch.ErrCorrupt) {
			t.Errorf("%s: %v", story, err)
		}
	}
}

// TestEncodedCells bounds the bytes of a second that fills all cells.
func TestEncodedCells(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(seed, 7))
	for _, c := range []struct {
		story string
		keys  int
		load  func() sketch.Load
		most  int
	}{
		{"few", 20, func() sketch.Load { return sketch.Load{Write: 1000} }, 150},
		{"writes", 20_000, func() sketch.Load { return sketch.Load{Write: sample.Milli(1000 * (1 + random.IntN(3)))} }, 8_192},
		{"reads and writes", 50_000, func() sketch.Load {
			return sketch.Load{Read: sample.Milli(500 * random.IntN(4)), Write: sample.Milli(1000 * random.IntN(3))}
		}, 17_000},
	} {
		var loads [1 << sketch.CellBits]sketch.Load
		for i := range c.keys {
			at := position.String(fmt.Sprint(i)).Cell(sketch.CellBits)
			loads[at] = loads[at].Plus(c.load())
		}
		w := sketch.Window{Target: orders, Second: start}
		for at, l := range loads {
			if l != (sketch.Load{}) {
				w.Cells = append(w.Cells, sketch.Cell{At: uint16(at), Read: l.Read, Write: l.Write})
			}
		}
		body, err := w.MarshalBinary()
		must.Succeed(t, err)
		t.Logf("%s of %d keys in %d cells: %d bytes", c.story, c.keys, len(w.Cells), len(body))
		if len(body) > c.most {
			t.Errorf("%s: %d bytes, want at most %d", c.story, len(body), c.most)
		}
	}
}
