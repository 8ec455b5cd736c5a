package kafkatest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Codec is a record batch's compression, by its number in the attributes.
type Codec int16

// The codecs of Kafka. SnappyBlock is Snappy without the framing that Java
// producers put around it; both carry the same number.
const (
	None Codec = iota
	Gzip
	Snappy
	LZ4
	Zstd
	SnappyBlock
)

// Batch describes one record batch of magic 2, to be laid out as a broker's
// log holds it.
type Batch struct {
	// Base is the offset of the first record, also when compaction removed it.
	Base int64
	// Last is the last offset; 0 means that of the last record.
	Last int64
	// Records are the records, at consecutive offsets unless they say other.
	Records []Record
	// Codec compresses the records.
	Codec Codec
	// Time is the batch's base time in Unix milliseconds.
	Time int64
	// AppendTime, when not 0, is the broker's time, which all records take.
	AppendTime int64
	// Producer is the producer's id; Transaction makes the batch part of its
	// transaction, Control makes it the marker at its end.
	Producer             int64
	Transaction, Control bool
}

// Record is one record of a Batch.
type Record struct {
	// Delta is the offset behind the batch's base; 0 means its place.
	Delta int32
	// Time is the record's time behind the batch's, in milliseconds.
	Time    int64
	Key     []byte
	Value   []byte
	Headers []kmsg.Header
}

// Values makes records of texts.
func Values(texts ...string) []Record {
	out := make([]Record, len(texts))
	for i, t := range texts {
		out[i].Value = []byte(t)
	}
	return out
}

// Marker is the control batch that ends a producer's transaction.
func Marker(offset, producer int64, commit bool) Batch {
	key := []byte{0, 0, 0, 0}
	if commit {
		key[3] = 1
	}
	return Batch{
		Base: offset, Producer: producer, Transaction: true, Control: true,
		Records: []Record{{Key: key, Value: make([]byte, 6)}},
	}
}

// AppendTo appends the batch, with its checksum, to dst.
func (b Batch) AppendTo(dst []byte) []byte {
	raw, last := b.records()
	if b.Last != 0 {
		last = int32(b.Last - b.Base)
	}
	batch := kmsg.RecordBatch{
		FirstOffset: b.Base, Magic: 2, PartitionLeaderEpoch: 0,
		Attributes: b.attributes(), LastOffsetDelta: last,
		FirstTimestamp: b.Time, MaxTimestamp: max(b.Time, b.AppendTime),
		ProducerID: b.Producer, ProducerEpoch: 0, FirstSequence: 0,
		NumRecords: int32(len(b.Records)), Records: Compress(b.Codec, raw),
	}
	start := len(dst)
	dst = batch.AppendTo(dst)
	binary.BigEndian.PutUint32(dst[start+8:], uint32(len(dst)-start-12))
	return Seal(dst, start)
}

// Seal writes the checksum of the batch that begins at start and reaches to
// the end of raw.
func Seal(raw []byte, start int) []byte {
	sum := crc32.Checksum(raw[start+21:], crc32.MakeTable(crc32.Castagnoli))
	binary.BigEndian.PutUint32(raw[start+17:], sum)
	return raw
}

func (b Batch) attributes() int16 {
	a := int16(b.Codec)
	if b.Codec == SnappyBlock {
		a = int16(Snappy)
	}
	if b.AppendTime != 0 {
		a |= 0x08
	}
	if b.Transaction {
		a |= 0x10
	}
	if b.Control {
		a |= 0x20
	}
	return a
}

func (b Batch) records() (raw []byte, last int32) {
	for i, r := range b.Records {
		last = int32(i)
		if r.Delta != 0 {
			last = r.Delta
		}
		rec := kmsg.Record{
			TimestampDelta64: r.Time, OffsetDelta: last,
			Key: r.Key, Value: r.Value, Headers: r.Headers,
		}
		// The length counts what follows it; kmsg writes it as it is given.
		rec.Length = int32(len(rec.AppendTo(nil)) - 1)
		raw = rec.AppendTo(raw)
	}
	return raw, last
}

// pack writes all of raw through w, which writes to memory and so cannot fail.
func pack(w io.WriteCloser, raw []byte) {
	_, err := w.Write(raw)
	if err = errors.Join(err, w.Close()); err != nil {
		panic(err)
	}
}

// Compress compresses raw as a producer does.
func Compress(c Codec, raw []byte) []byte {
	var out bytes.Buffer
	switch c {
	case Gzip:
		pack(gzip.NewWriter(&out), raw)
	case LZ4:
		pack(lz4.NewWriter(&out), raw)
	case Zstd:
		w, err := zstd.NewWriter(&out)
		if err != nil {
			panic(err) // no option, no error
		}
		pack(w, raw)
	case Snappy:
		return xerial(raw)
	case SnappyBlock:
		return snappy.Encode(nil, raw)
	default:
		return raw
	}
	return out.Bytes()
}

// xerial frames snappy blocks of 32 KiB, as Java's snappy does.
func xerial(raw []byte) []byte {
	out := []byte{0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0, 0, 0, 0, 1, 0, 0, 0, 1}
	for len(raw) > 0 {
		n := min(len(raw), 32<<10)
		block := snappy.Encode(nil, raw[:n])
		out = binary.BigEndian.AppendUint32(out, uint32(len(block)))
		out = append(out, block...)
		raw = raw[n:]
	}
	return out
}
