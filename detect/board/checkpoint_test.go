package board_test

import (
	"bytes"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect/board"
	"github.com/keyheat/keyheat/internal/testsupport/must"
)

type key struct {
	name string
	n    int8
}

type inner struct {
	Text string
	next *inner
}

type state struct {
	inner
	flag     bool
	small    int16
	big      uint64
	ratio    float64
	half     float32
	at, none time.Time //nolint:unused // its shape is read
	list     []inner
	empty    []int
	missing  []int
	fixed    [300]int32
	byKey    map[key][]string
	noMap    map[string]int
	left     int    `checkpoint:"-"`
	call     func() `checkpoint:"-"` //nolint:unused // its shape is read
}

func example() state {
	return state{
		inner: inner{"zero \x00 bytes", &inner{Text: "next"}}, flag: true, small: -300, big: 1 << 63, ratio: -1.5e-300, half: 0.1,
		at: time.Date(2026, 11, 30, 1, 2, 3, 4, time.UTC), list: []inner{{Text: "a"}, {}}, empty: []int{},
		fixed: [300]int32{7: -1, 299: 8}, byKey: map[key][]string{{"b", 1}: {"x"}, {"a", -1}: nil, {"a", 0}: {}}, left: 5,
	}
}

// TestRoundTrip: what is read is what was written, with all that is unexported, zero, nil or empty.
// What is left out stays as it is, and equal values have equal bytes.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	from := example()
	text := board.MarshalCheckpoint(&from)
	got := state{left: 9, flag: false, missing: []int{1}, noMap: map[string]int{"": 1}}
	must.Succeed(t, board.UnmarshalCheckpoint(text, &got))
	want := example()
	want.left = 9
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v, want %+v", got, want)
	}
	for range 20 {
		if again := example(); !bytes.Equal(board.MarshalCheckpoint(&again), text) {
			t.Fatal("the same value has other bytes")
		}
	}
	if len(text) > 200 {
		t.Errorf("%d bytes: runs of zeros are not short", len(text))
	}
}

// TestWrongBytes: a beginning, another end and a claim of more memory than there is are errors.
func TestWrongBytes(t *testing.T) {
	t.Parallel()
	from := example()
	text := board.MarshalCheckpoint(&from)
	for n := range text {
		if err := board.UnmarshalCheckpoint(text[:n], new(state)); !errors.Is(err, board.ErrUnreadable) {
			t.Fatalf("of %d bytes %d are read: %v", len(text), n, err)
		}
	}
	if err := board.UnmarshalCheckpoint(append(text, 1), new(state)); !errors.Is(err, board.ErrUnreadable) {
		t.Errorf("one byte more is read: %v", err)
	}
	huge := []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0, 0xff, 0xff, 0xff, 0xff, 0x7f}
	if err := board.UnmarshalCheckpoint(huge, new(struct{ list []inner })); !errors.Is(err, board.ErrUnreadable) {
		t.Errorf("a list longer than memory is read: %v", err)
	}
}

func FuzzUnmarshal(f *testing.F) {
	from := example()
	f.Add(board.MarshalCheckpoint(&from))
	f.Fuzz(func(t *testing.T, text []byte) {
		var got, again state
		if board.UnmarshalCheckpoint(text, &got) != nil {
			return
		}
		if err := board.UnmarshalCheckpoint(board.MarshalCheckpoint(&got), &again); err != nil {
			t.Errorf("what was read cannot be written and read again: %v", err)
		}
	})
}

// TestShape: another name, type or order of a field is another shape, at any depth; a field that
// is left out is none.
func TestShape(t *testing.T) {
	t.Parallel()
	type kept struct{ a, b int }    //nolint:unused // its shape is read
	type swapped struct{ b, a int } //nolint:unused // its shape is read
	shapes := map[string]string{}
	for name, v := range map[string]any{
		"two": new(struct{ of kept }), "swapped": new(struct{ of swapped }), "renamed": new(struct{ other kept }),
		"in a map": new(struct{ of map[string]kept }), "another type": new(struct{ of []kept }), "pointed": new(struct{ of *kept }),
	} {
		shape := board.CheckpointShape(v)
		if other, has := shapes[shape]; has {
			t.Errorf("%q and %q have one shape", name, other)
		}
		shapes[shape] = name
	}
	type more struct {
		a, b int    //nolint:unused // its shape is read
		c    func() `checkpoint:"-"` //nolint:unused // its shape is read
	}
	if board.CheckpointShape(new(more)) == board.CheckpointShape(new(kept)) {
		t.Error("a type of another name has the same shape")
	}
}
