package recordbatch_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/keyheat/keyheat/internal/source/kafka/recordbatch"
	"github.com/keyheat/keyheat/internal/testsupport/kafkatest"
	"github.com/keyheat/keyheat/internal/testsupport/must"
)

// limits are lower than a real reader's.
var limits = recordbatch.Limits{Record: 1 << 20}

// read is everything that a decoder returns of one response.
type read struct {
	values []string
	times  []int64
	next   int64
	err    error // nil at a clean end
}

func decode(position int64, data []byte, aborted ...recordbatch.Aborted) read {
	return decodeWith(new(recordbatch.Decoder), position, data, aborted...)
}

func decodeWith(d *recordbatch.Decoder, position int64, data []byte, aborted ...recordbatch.Aborted) read {
	d.Reset(position, data, aborted, limits)
	out := read{next: position}
	for {
		c, err := d.Next()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				out.err = err
			}
			return out
		}
		for _, r := range c.Records {
			out.values = append(out.values, string(r.Value))
			out.times = append(out.times, r.Time)
		}
		out.next = c.Next
	}
}

func layOut(batches ...kafkatest.Batch) []byte {
	var data []byte
	for _, b := range batches {
		data = b.AppendTo(data)
	}
	return data
}

func expect(t *testing.T, got read, next int64, values ...string) {
	t.Helper()
	if got.err != nil {
		t.Fatalf("error: %v", got.err)
	}
	if !slices.Equal(got.values, values) {
		t.Errorf("values %q, want %q", got.values, values)
	}
	if got.next != next {
		t.Errorf("next %d, want %d", got.next, next)
	}
}

func TestDecoderReadsEveryCodec(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a line that compresses well ", 4000) // several snappy blocks
	for codec, name := range []string{"none", "gzip", "snappy", "lz4", "zstd", "bare snappy"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := kafkatest.Codec(codec)
			data := layOut(
				kafkatest.Batch{Base: 5, Codec: c, Records: kafkatest.Values("a", long)},
				kafkatest.Batch{Base: 7, Codec: c, Records: kafkatest.Values("b", "c")},
			)
			expect(t, decode(5, data), 9, "a", long, "b", "c")
		})
	}
}

func TestDecoderMixesCodecsInOneResponse(t *testing.T) {
	t.Parallel()
	var data []byte
	var want []string
	for i := range 60 {
		v := strings.Repeat(fmt.Sprint(i%10), 1000*i)
		want = append(want, v)
		data = kafkatest.Batch{Base: int64(i), Codec: kafkatest.Codec(i % 6), Records: kafkatest.Values(v)}.AppendTo(data)
	}
	expect(t, decode(0, data), 60, want...)
}

// TestDecoderReadsLargeBatchesBehindSmallOnes: a batch that does not fit into the rest of
// the buffer is read like one that does.
func TestDecoderReadsLargeBatchesBehindSmallOnes(t *testing.T) {
	t.Parallel()
	for codec := kafkatest.None; codec <= kafkatest.SnappyBlock; codec++ {
		var data []byte
		var want []string
		for i, kib := range []int{100, 900, 200, 900, 400, 500, 1000, 3, 1000, 1} {
			v := strings.Repeat(fmt.Sprint(i), kib<<10)
			want = append(want, v, "and one more")
			data = kafkatest.Batch{Base: int64(2 * i), Codec: codec, Records: kafkatest.Values(v, "and one more")}.AppendTo(data)
		}
		got := decode(0, data)
		if got.err != nil || got.next != 20 || !slices.Equal(got.values, want) {
			t.Errorf("codec %d: %d values up to offset %d, %v", codec, len(got.values), got.next, got.err)
		}
	}
}

func TestDecoderKeepsTheTimesOfTheLog(t *testing.T) {
	t.Parallel()
	records := []kafkatest.Record{
		{Value: []byte("a"), Time: -5},
		{Value: []byte("b"), Time: 300, Key: []byte("k"), Headers: []kmsg.Header{{Key: "h", Value: []byte("v")}}},
	}
	created := decode(0, layOut(kafkatest.Batch{Time: 1000, Records: records}))
	if want := []int64{995, 1300}; !slices.Equal(created.times, want) {
		t.Errorf("create time %v, want %v", created.times, want)
	}
	appended := decode(0, layOut(kafkatest.Batch{Time: 1000, AppendTime: 7000, Records: records}))
	if want := []int64{7000, 7000}; !slices.Equal(appended.times, want) {
		t.Errorf("append time %v, want %v", appended.times, want)
	}
}

func TestDecoderLeavesOutWhatLiesBeforeThePosition(t *testing.T) {
	t.Parallel()
	data := layOut(
		kafkatest.Batch{Base: 10, Records: kafkatest.Values("a", "b")},
		kafkatest.Batch{Base: 12, Records: kafkatest.Values("c", "d", "e")},
	)
	expect(t, decode(13, data), 15, "d", "e")
}

func TestDecoderPassesTheHolesOfCompaction(t *testing.T) {
	t.Parallel()
	data := layOut(
		kafkatest.Batch{Base: 10, Last: 19, Records: []kafkatest.Record{{Delta: 3, Value: []byte("a")}, {Delta: 7, Value: []byte("b")}}},
		kafkatest.Batch{Base: 40, Last: 44}, // emptied, kept for its producer's sequence
		kafkatest.Batch{Base: 50, Records: []kafkatest.Record{{Value: nil, Key: []byte("tombstone")}}},
	)
	expect(t, decode(10, data), 51, "a", "b", "")
}

func TestDecoderCountsCommittedTransactionsOnly(t *testing.T) {
	t.Parallel()
	tx := func(base, producer int64, values ...string) kafkatest.Batch {
		return kafkatest.Batch{Base: base, Producer: producer, Transaction: true, Records: kafkatest.Values(values...)}
	}
	data := layOut(
		tx(0, 7, "aborted 7", "aborted 7"),
		tx(2, 8, "committed 8"),
		kafkatest.Batch{Base: 3, Producer: 7, Records: kafkatest.Values("7 outside of a transaction")},
		tx(4, 7, "aborted 7"),
		kafkatest.Marker(5, 7, false),
		tx(6, 7, "committed 7"), // the same producer's next transaction
		kafkatest.Marker(7, 8, true),
		kafkatest.Marker(8, 7, true),
		tx(9, 9, "aborted 9"),
		kafkatest.Marker(10, 9, false),
	)
	aborted := []recordbatch.Aborted{{ProducerID: 9, FirstOffset: 9}, {ProducerID: 7, FirstOffset: 0}}
	expect(t, decode(0, data, aborted...), 11, "committed 8", "7 outside of a transaction", "committed 7")
}

func TestDecoderKnowsATransactionThatBeganBeforeThePosition(t *testing.T) {
	t.Parallel()
	data := layOut(
		kafkatest.Batch{Base: 100, Producer: 7, Transaction: true, Records: kafkatest.Values("aborted")},
		kafkatest.Marker(101, 7, false),
		kafkatest.Batch{Base: 102, Records: kafkatest.Values("plain")},
	)
	expect(t, decode(100, data, recordbatch.Aborted{ProducerID: 7, FirstOffset: 3}), 103, "plain")
}

func TestDecoderIgnoresABatchThatTheBrokerCutOff(t *testing.T) {
	t.Parallel()
	whole := layOut(kafkatest.Batch{Records: kafkatest.Values("a")})
	data := layOut(kafkatest.Batch{Records: kafkatest.Values("a")}, kafkatest.Batch{Base: 1, Records: kafkatest.Values("b")})
	for end := len(whole); end < len(data); end++ {
		expect(t, decode(0, data[:end]), 1, "a")
	}
}

func TestDecoderHandsOutLargeBatchesInChunks(t *testing.T) {
	t.Parallel()
	const n = 3*recordbatch.MaxChunk + 5
	b := kafkatest.Batch{Codec: kafkatest.Zstd}
	for i := range n {
		b.Records = append(b.Records, kafkatest.Record{Value: fmt.Append(nil, i)})
	}
	d := new(recordbatch.Decoder)
	d.Reset(0, layOut(b), nil, limits)
	seen := 0
	for {
		c, err := d.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		must.Succeed(t, err)
		if len(c.Records) > recordbatch.MaxChunk {
			t.Fatalf("a chunk of %d records", len(c.Records))
		}
		for _, r := range c.Records {
			if string(r.Value) != fmt.Sprint(seen) {
				t.Fatalf("record %d is %q", seen, r.Value)
			}
			seen++
		}
		if c.Next != int64(seen) {
			t.Fatalf("next %d after %d records", c.Next, seen)
		}
	}
	if seen != n {
		t.Errorf("%d records, want %d", seen, n)
	}
}

func TestDecoderTellsCorruption(t *testing.T) {
	t.Parallel()
	good := kafkatest.Batch{Base: 0, Records: kafkatest.Values("good")}
	bad := kafkatest.Batch{Base: 1, Records: kafkatest.Values("bad", "bad")}
	after := kafkatest.Batch{Base: 3, Records: kafkatest.Values("after")}
	at := len(layOut(good))
	seal := func(raw []byte) []byte {
		end := len(layOut(good, bad))
		kafkatest.Seal(raw[:end:end], at)
		return raw
	}
	for _, story := range []struct {
		what   string
		harm   func(raw []byte) []byte
		to     int64
		reason string
	}{
		{"a flipped bit in a value", func(raw []byte) []byte { raw[at+70] ^= 4; return raw }, 3, "checksum"},
		{"a flipped bit in the checksum", func(raw []byte) []byte { raw[at+17] ^= 1; return raw }, 3, "checksum"},
		{"a last offset that reaches into the next batch", func(raw []byte) []byte { raw[at+25] = 9; return raw }, 3, "checksum"},
		{"a last offset before the first", func(raw []byte) []byte { raw[at+23] = 0xff; return seal(raw) }, 3, "impossible offsets"},
		{"more records than offsets", func(raw []byte) []byte { raw[at+60] = 9; return seal(raw) }, 3, "record count"},
		{"an offset outside of the batch", func(raw []byte) []byte { raw[at+64] = 4; return seal(raw) }, 3, "broken record"},
		{"a record longer than its batch", func(raw []byte) []byte { raw[at+61] = 0x7e; return seal(raw) }, 3, "broken record"},
		{"an unknown codec", func(raw []byte) []byte { raw[at+22] = 7; return seal(raw) }, 3, "unknown compression"},
		{"gzip that is none", func(raw []byte) []byte { raw[at+22] = 1; return seal(raw) }, 3, "decompress"},
		{"an unknown format", func(raw []byte) []byte { raw[at+16] = 3; return raw }, 0, "magic 3"},
		{"an impossible length", func(raw []byte) []byte { binary.BigEndian.PutUint32(raw[at+8:], 7); return raw }, 0, "length 7"},
	} {
		t.Run(story.what, func(t *testing.T) {
			t.Parallel()
			got := decode(0, story.harm(layOut(good, bad, after)))
			var corrupt *recordbatch.CorruptError
			if !errors.As(got.err, &corrupt) {
				t.Fatalf("error %v, want a CorruptError", got.err)
			}
			if len(got.values) == 0 || got.values[0] != "good" {
				t.Errorf("the good batch before it was lost: %q", got.values)
			}
			if corrupt.From != got.next || corrupt.To != story.to || !strings.Contains(corrupt.Reason, story.reason) {
				t.Errorf("corrupt %+v, want from %d to %d: %s", corrupt, got.next, story.to, story.reason)
			}
		})
	}
}

// TestABatchHidesNoOther: a sealed batch whose last offset reaches over the next one
// ends where that begins, so that the next one's records are read, each once.
func TestABatchHidesNoOther(t *testing.T) {
	t.Parallel()
	after := kafkatest.Batch{Base: 3, Records: kafkatest.Values("d", "e")}
	last := kafkatest.Batch{Base: 5, Records: kafkatest.Values("f")}
	for _, claims := range []int64{3, 4, 5, 9, 1 << 20} {
		liar := kafkatest.Batch{Base: 0, Last: claims, Records: kafkatest.Values("a", "b", "c")}
		expect(t, decode(0, layOut(liar, after, last)), 6, "a", "b", "c", "d", "e", "f")
		expect(t, decode(2, layOut(liar, after, last)), 6, "c", "d", "e", "f")
	}
	// More records than fit before the next batch are no records of theirs.
	tooMany := kafkatest.Batch{Base: 0, Last: 9, Records: kafkatest.Values("a", "b", "c", "d", "e")}
	got := decode(0, layOut(tooMany, after))
	var corrupt *recordbatch.CorruptError
	if !errors.As(got.err, &corrupt) || corrupt.From != 0 || corrupt.To != 3 || len(got.values) != 0 {
		t.Errorf("it returns %q and %v, want a corrupt batch from 0 to 3", got.values, got.err)
	}
}

func TestDecoderRefusesBombs(t *testing.T) {
	t.Parallel()
	bomb := strings.Repeat("0", 2<<20) // over the limit of 1 MiB, a few KiB on the wire
	for _, codec := range []kafkatest.Codec{kafkatest.Gzip, kafkatest.Snappy, kafkatest.LZ4, kafkatest.Zstd, kafkatest.SnappyBlock} {
		got := decode(0, layOut(kafkatest.Batch{Codec: codec, Records: kafkatest.Values(bomb)}))
		if got.err == nil || !strings.Contains(got.err.Error(), "limit") {
			t.Errorf("codec %d: %d values, error %v", codec, len(got.values), got.err)
		}
	}
}

func TestDecoderRefusesTheOldFormat(t *testing.T) {
	t.Parallel()
	data := layOut(kafkatest.Batch{Records: kafkatest.Values("a")})
	data[16] = 1
	if got := decode(0, data); !errors.Is(got.err, recordbatch.ErrOldFormat) {
		t.Errorf("error %v, want ErrOldFormat", got.err)
	}
}

func TestDecoderDoesNotAllocatePerRecord(t *testing.T) {
	b := kafkatest.Batch{}
	for range 1000 {
		b.Records = append(b.Records, kafkatest.Record{Value: make([]byte, 200)})
	}
	data := layOut(b)
	d := new(recordbatch.Decoder)
	allocs := testing.AllocsPerRun(20, func() { drain(t, d, data) })
	if allocs > 1 {
		t.Errorf("%v allocations for 1,000 records", allocs)
	}
}

func drain(t testing.TB, d *recordbatch.Decoder, data []byte) (n int) {
	d.Reset(0, data, nil, limits)
	for {
		c, err := d.Next()
		if errors.Is(err, io.EOF) {
			return n
		}
		must.Succeed(t, err)
		n += len(c.Records)
	}
}

func BenchmarkDecoder(b *testing.B) {
	for codec, name := range []string{"none", "gzip", "snappy", "lz4", "zstd"} {
		b.Run(name, func(b *testing.B) {
			batch := kafkatest.Batch{Codec: kafkatest.Codec(codec)}
			for i := range 5000 {
				batch.Records = append(batch.Records, kafkatest.Record{Value: fmt.Appendf(nil, "%0200d", i)})
			}
			data := layOut(batch)
			d := new(recordbatch.Decoder)
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				n += drain(b, d, data)
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "records/s")
		})
	}
}

// TestEndIsWhereTheLastWholeBatchEnds: a response's end is foreseen from its headers alone.
func TestEndIsWhereTheLastWholeBatchEnds(t *testing.T) {
	t.Parallel()
	one := kafkatest.Batch{Base: 5, Codec: kafkatest.Zstd, Records: kafkatest.Values("one", "two")}
	two := kafkatest.Batch{Base: 7, Last: 20, Records: kafkatest.Values("three")}
	whole := layOut(one, two)
	first := len(layOut(one))
	for n := range len(whole) + 1 {
		want := int64(0)
		switch {
		case n == len(whole):
			want = 21
		case n >= first:
			want = 7
		}
		if next, _ := recordbatch.End(whole[:n:n]); next != want {
			t.Fatalf("the first %d bytes of %d end at %d, want %d", n, len(whole), next, want)
		}
	}
	old := layOut(one, two)
	old[first+16] = 1
	if next, _ := recordbatch.End(old); next != 7 {
		t.Errorf("a batch in another format counts: the end is %d", next)
	}
	binary.BigEndian.PutUint32(whole[first+8:], math.MaxUint32) // a length of -1
	if next, _ := recordbatch.End(whole); next != 7 {
		t.Errorf("a batch of an impossible length counts: the end is %d", next)
	}
}
