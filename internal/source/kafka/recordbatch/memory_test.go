package recordbatch_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/internal/source/kafka/recordbatch"
	"github.com/keyheat/keyheat/internal/testsupport/kafkatest"
)

var codecNames = []string{"none", "gzip", "snappy", "lz4", "zstd", "bare snappy"}

// mixed returns a batch of 40 MiB: small records, with some of up to 6 MiB between them.
func mixed(codec kafkatest.Codec) (kafkatest.Batch, []string) {
	var values []string
	for i := range 4000 {
		size := 100
		if i%500 == 250 {
			size = 6 << 20 * (i / 500) / 7
		}
		values = append(values, fmt.Sprintf("%d %s", i, strings.Repeat("x", size)))
	}
	return kafkatest.Batch{Codec: codec, Records: kafkatest.Values(values...)}, values
}

// readWithin decodes data from a position, in memory of so many bytes. It returns the
// values, the position after them and the final error.
func readWithin(d *recordbatch.Decoder, position int64, data []byte, grant int) (values []string, next int64, err error) {
	d.Reset(position, data, nil, recordbatch.Limits{Record: 8 << 20, Memory: func(n int) error {
		if n > grant {
			return fmt.Errorf("%d of %d bytes: %w", n, grant, recordbatch.ErrMemory)
		}
		return nil
	}})
	next = position
	for {
		c, err := d.Next()
		if err != nil {
			return values, next, err
		}
		for _, r := range c.Records {
			values = append(values, string(r.Value))
		}
		next = c.Next
	}
}

// TestABatchIsAStream: a batch needs memory for its largest record and the codec's state,
// not for the whole batch. A snappy block without a frame is one piece.
func TestABatchIsAStream(t *testing.T) {
	t.Parallel()
	for codec, name := range codecNames {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			batch, want := mixed(kafkatest.Codec(codec))
			data, least := layOut(batch), 17<<20
			if kafkatest.Codec(codec) == kafkatest.SnappyBlock {
				least, batch.Records, want = 9<<20, batch.Records[:700], want[:700]
				data = layOut(batch)
			}
			values, next, err := readWithin(new(recordbatch.Decoder), 0, data, least)
			if !errors.Is(err, io.EOF) || next != int64(len(want)) || !slices.Equal(values, want) {
				t.Errorf("%d of %d values up to %d in %d MiB: %v", len(values), len(want), next, least>>20, err)
			}
		})
	}
}

// TestReadingGoesOnWithMoreMemory: if memory is refused, the records read before are whole.
// With more memory the rest follows, each record once.
func TestReadingGoesOnWithMoreMemory(t *testing.T) {
	t.Parallel()
	for _, codec := range []kafkatest.Codec{kafkatest.Gzip, kafkatest.Snappy, kafkatest.LZ4, kafkatest.Zstd} {
		t.Run(codecNames[codec], func(t *testing.T) {
			t.Parallel()
			batch, want := mixed(codec)
			data, d := layOut(batch), new(recordbatch.Decoder)
			var values []string
			at, refused := int64(0), 0
			for grant := 1 << 20; ; grant += 1 << 20 {
				some, next, err := readWithin(d, at, data, grant)
				values, at = append(values, some...), next
				if errors.Is(err, io.EOF) {
					break
				}
				if !errors.Is(err, recordbatch.ErrMemory) {
					t.Fatal(err)
				}
				refused++
			}
			if refused < 3 || !slices.Equal(values, want) {
				t.Errorf("%d of %d values after %d refusals", len(values), len(want), refused)
			}
		})
	}
}

// TestARecordOverTheLimitIsOneGap: the records around it are read, each once, and its
// gap names the setting.
func TestARecordOverTheLimitIsOneGap(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x", 3<<20)
	for _, codec := range []kafkatest.Codec{kafkatest.Gzip, kafkatest.Snappy, kafkatest.LZ4, kafkatest.Zstd} {
		data := layOut(
			kafkatest.Batch{Base: 5, Codec: codec, Records: kafkatest.Values("a", large, "b", large)},
			kafkatest.Batch{Base: 9, Codec: codec, Records: kafkatest.Values("c")},
		)
		var values []string
		var gaps []int64
		for at := int64(5); ; {
			got := decode(at, data)
			values = append(values, got.values...)
			if got.err == nil {
				break
			}
			var corrupt *recordbatch.CorruptError
			if !errors.As(got.err, &corrupt) || corrupt.From != got.next || corrupt.To != corrupt.From+1 || !strings.Contains(corrupt.Reason, "raise kafka.max_batch") {
				t.Fatalf("%s: %v", codecNames[codec], got.err)
			}
			gaps, at = append(gaps, corrupt.From), corrupt.To
		}
		if !slices.Equal(values, []string{"a", "b", "c"}) || !slices.Equal(gaps, []int64{6, 8}) {
			t.Errorf("%s: values %q and gaps %v", codecNames[codec], values, gaps)
		}
	}
}

// TestABatchOfGiantsIsGivenUp: each oversized record is a gap of its own, after which the
// batch is decompressed from its start again. A batch with very many of them is skipped as
// a whole.
func TestABatchOfGiantsIsGivenUp(t *testing.T) {
	t.Parallel()
	giant := strings.Repeat("x", 1<<20+100)
	var records []string
	for i := range 60 {
		records = append(records, fmt.Sprint(i), giant)
	}
	for _, codec := range []kafkatest.Codec{kafkatest.Gzip, kafkatest.Snappy, kafkatest.LZ4, kafkatest.Zstd} {
		data := layOut(
			kafkatest.Batch{Base: 5, Codec: codec, Records: kafkatest.Values(records...)},
			kafkatest.Batch{Base: 125, Codec: codec, Records: kafkatest.Values("behind")},
		)
		times, values := 0, []string(nil)
		var corrupt *recordbatch.CorruptError
		for at := int64(5); ; at = corrupt.To {
			got := decode(at, data)
			times++
			values = append(values, got.values...)
			if got.err == nil {
				break
			}
			if !errors.As(got.err, &corrupt) || corrupt.From != got.next || corrupt.To <= corrupt.From || !strings.Contains(corrupt.Reason, "over the limit") {
				t.Fatalf("%s: %v", codecNames[codec], got.err)
			}
		}
		if n := len(values); times > 20 || n < 15 || values[0] != "0" || values[14] != "14" || values[n-1] != "behind" {
			t.Errorf("%s: it is decoded %d times, for %q", codecNames[codec], times, values)
		}
	}
}

// TestTheLastBatchHidesNothing: if a response's last batch claims offsets after its last
// record, they are left to the next response.
func TestTheLastBatchHidesNothing(t *testing.T) {
	t.Parallel()
	liar := kafkatest.Batch{Base: 0, Last: 9, Records: kafkatest.Values("a", "b", "c")}
	next := kafkatest.Batch{Base: 3, Records: kafkatest.Values("d", "e")}
	d := new(recordbatch.Decoder)
	d.Reset(0, layOut(liar), nil, limits)
	c, err := d.Next()
	if err != nil || c.Next != 3 || len(c.Records) != 3 || d.ClaimedRecords() != 10 {
		t.Fatalf("%+v, %v, claimed %d: want records up to 3, and 10 claimed", c, err, d.ClaimedRecords())
	}
	expect(t, decode(3, layOut(liar, next)), 5, "d", "e")
	// Behind holes of compaction a batch that begins where they end confirms them.
	after := kafkatest.Batch{Base: 10, Records: kafkatest.Values("k")}
	expect(t, decode(0, layOut(liar, after)), 11, "a", "b", "c", "k")
}
