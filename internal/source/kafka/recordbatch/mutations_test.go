package recordbatch_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/keyheat/keyheat/internal/source/kafka/recordbatch"
	"github.com/keyheat/keyheat/internal/testsupport/kafkatest"
)

var mutations = flag.Int("recordbatch.mutations", 20_000, "how many damaged responses TestMutations compares with franz-go's decoder")

// TestMutations damages responses, half of them under a correct checksum, and compares the
// records with franz-go's. With an untouched checksum both are the same. With a corrected
// one, franz-go leaves out records whose own offsets are damaged, which count here. Its
// records are then a subsequence of ours, as far as our decoder refuses none.
func TestMutations(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(12, 2026))
	decoder, decompressor := new(recordbatch.Decoder), kgo.DefaultDecompressor()
	var both, ours, theirs, neither int
	all := *mutations
	if testing.Short() {
		all /= 20 // nothing of it is concurrent
	}
	for n := range all {
		data, ends := randomResponse(random)
		before := slices.Clone(data)
		damage(random, data)
		keepOffsets(data, before, ends)
		sealed := random.IntN(2) == 0
		if sealed {
			start := 0
			for _, end := range ends {
				kafkatest.Seal(data[:end:end], start)
				start = end
			}
		}
		if random.IntN(10) == 0 {
			data = data[:random.IntN(len(data)+1)]
		}
		got, want := decodeWith(decoder, 0, data), franz(data, decompressor)
		switch {
		case got.err == nil && want.err == nil:
			both++
		case got.err == nil:
			ours++
		case want.err == nil:
			theirs++
		default:
			neither++
		}
		same := slices.Equal(got.values, want.values) && slices.EqualFunc(got.times, want.times, sameTime)
		if sealed {
			same = got.err != nil || isWithin(want.values, got.values)
		}
		if !same {
			t.Fatalf("mutation %d (sealed: %t) is read as %q at %v, %v, by franz-go as %q at %v, %v:\n%x", n, sealed, got.values, got.times, got.err, want.values, want.times, want.err, data)
		}
	}
	t.Logf("%d mutations: without an error by both %d, here %d, in franz-go %d, by neither %d", all, both, ours, theirs, neither)
}

// isWithin reports whether all of some are among the others, in their order.
func isWithin(some, others []string) bool {
	for _, s := range some {
		i := slices.Index(others, s)
		if i < 0 {
			return false
		}
		others = others[i+1:]
	}
	return true
}

// sameTime compares times as far as franz-go can have them, in nanoseconds.
func sameTime(a, b int64) bool {
	const most = math.MaxInt64 / 1_000_000
	return a == b || a > most || a < -most
}

func randomResponse(random *rand.Rand) (data []byte, ends []int) {
	offset := int64(0)
	for range 1 + random.IntN(3) {
		var values []string
		for range 1 + random.IntN(6) {
			values = append(values, fmt.Sprintf("value-%0*d", random.IntN(40), random.IntN(1000)))
		}
		b := kafkatest.Batch{
			Base: offset, Codec: kafkatest.Codec(random.IntN(int(kafkatest.SnappyBlock) + 1)), Records: kafkatest.Values(values...),
			Time: 1_800_000_000_000 + random.Int64N(1000), Producer: -1,
		}
		offset += int64(len(values))
		data = b.AppendTo(data)
		ends = append(ends, len(data))
	}
	return data, ends
}

func damage(random *rand.Rand, data []byte) {
	for range random.IntN(4) {
		at := random.IntN(len(data))
		switch random.IntN(3) {
		case 0:
			data[at] ^= 1 << random.IntN(8)
		case 1:
			data[at] = byte(random.Uint32())
		default:
			end := min(len(data), at+random.IntN(8))
			copy(data[at:end], data[random.IntN(len(data)):])
		}
	}
}

// keepOffsets undoes damage to the first and last offsets of batches. Clients treat a batch
// with wrong offsets differently: this decoder counts all of its records (see
// TestKafkaReadsWhatALastBatchHides), franz-go leaves out some.
func keepOffsets(data, before []byte, ends []int) {
	start := 0
	for _, end := range ends {
		copy(data[start:start+8], before[start:])
		copy(data[start+23:start+27], before[start+23:])
		start = end
	}
}

// franz decodes a response with franz-go.
func franz(data []byte, decompressor kgo.Decompressor) (out read) {
	p := kmsg.NewFetchResponseTopicPartition()
	p.RecordBatches = slices.Clone(data)
	f, _ := kgo.ProcessFetchPartition(kgo.ProcessFetchPartitionOpts{}, &p, decompressor, nil)
	for _, r := range f.Records {
		out.values = append(out.values, string(r.Value))
		out.times = append(out.times, r.Timestamp.UnixMilli())
	}
	out.err = f.Err
	return out
}
