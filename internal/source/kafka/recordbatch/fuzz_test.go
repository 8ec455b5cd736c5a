package recordbatch_test

import (
	"errors"
	"io"
	"testing"

	"github.com/keyheat/keyheat/internal/source/kafka/recordbatch"
	"github.com/keyheat/keyheat/internal/testsupport/kafkatest"
)

// FuzzDecoder feeds the decoder any bytes: it must end, never panic, move its
// position forwards only, and hand out no more than the bytes can hold.
func FuzzDecoder(f *testing.F) {
	for codec := kafkatest.None; codec <= kafkatest.SnappyBlock; codec++ {
		f.Add(int64(1), int64(3), true, layOut(
			kafkatest.Batch{Base: 1, Codec: codec, Records: kafkatest.Values("one", "two")},
			kafkatest.Batch{Base: 3, Codec: codec, Producer: 3, Transaction: true, Records: kafkatest.Values("three")},
			kafkatest.Marker(4, 3, false),
		))
	}
	f.Fuzz(func(t *testing.T, position, producer int64, seal bool, data []byte) {
		if seal && len(data) > 61 { // let the fuzzer get past the checksum
			end := min(len(data), max(61, 12+int(data[10])<<8+int(data[11])))
			data = append([]byte(nil), data...)
			kafkatest.Seal(data[:end:end], 0)
		}
		recordbatch.End(data)
		d := new(recordbatch.Decoder)
		d.Reset(position, data, []recordbatch.Aborted{{ProducerID: producer, FirstOffset: 0}}, limits)
		at := position
		for {
			c, err := d.Next()
			if err != nil {
				checkEnd(t, err, at)
				return
			}
			if c.Next <= at {
				t.Fatalf("position went from %d to %d", at, c.Next)
			}
			at = c.Next
			checkChunk(t, c)
		}
	})
}

func checkChunk(t *testing.T, c recordbatch.Chunk) {
	if len(c.Records) > recordbatch.MaxChunk {
		t.Fatalf("%d records in a chunk", len(c.Records))
	}
	total := 0
	for _, r := range c.Records {
		total += len(r.Value)
	}
	if total != c.Bytes {
		t.Fatalf("chunk reports %d bytes, holds %d", c.Bytes, total)
	}
}

func checkEnd(t *testing.T, err error, at int64) {
	var corrupt *recordbatch.CorruptError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, recordbatch.ErrOldFormat):
	case errors.As(err, &corrupt):
		if corrupt.From != at || (corrupt.To != 0 && corrupt.To <= corrupt.From) {
			t.Fatalf("corrupt from %d to %d at position %d", corrupt.From, corrupt.To, at)
		}
	default:
		t.Fatalf("unexpected error %v", err)
	}
}
