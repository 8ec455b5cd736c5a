package recordbatch

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// Codecs as a batch's attributes number them.
const (
	codecNone = iota
	codecGzip
	codecSnappy
	codecLZ4
	codecZstd
)

const (
	// chunkBytes is how much decompressed data one chunk gathers from several
	// batches before it ends.
	chunkBytes = 1 << 20
	// keepBytes is the largest buffer that is kept from one response to the
	// next; a rare giant does not stay in memory.
	keepBytes = 8 << 20
)

var errTooLarge = errors.New("more decompressed bytes than the limit, kafka.max_batch")

// inflater decompresses batches, one behind the other, into one reused buffer.
// Values of earlier batches stay valid when it grows: they keep the old array.
type inflater struct {
	buf  []byte
	in   bytes.Reader
	gzip gzip.Reader
	lz4  *lz4.Reader
	zstd *zstd.Decoder
}

func (f *inflater) reset() {
	if cap(f.buf) > keepBytes {
		f.buf = nil
	}
	f.buf = f.buf[:0]
}

func (f *inflater) full() bool { return len(f.buf) >= chunkBytes }

// body returns a batch's records, decompressed to at most limit bytes.
func (f *inflater) body(codec int16, src []byte, limit int) ([]byte, error) {
	if codec == codecNone {
		return src, nil
	}
	start := len(f.buf)
	f.in.Reset(src)
	var err error
	switch codec {
	case codecGzip:
		if err = f.gzip.Reset(&f.in); err == nil {
			err = f.drain(&f.gzip, limit)
		}
	case codecSnappy:
		err = f.snappy(src, limit)
	case codecLZ4:
		if f.lz4 == nil {
			f.lz4 = lz4.NewReader(nil)
		}
		f.lz4.Reset(&f.in)
		err = f.drain(f.lz4, limit)
	case codecZstd:
		err = f.unzstd(src, limit)
	default:
		err = fmt.Errorf("unknown compression %d", codec)
	}
	if err != nil {
		f.buf = f.buf[:start]
		return nil, fmt.Errorf("decompress: %w", err)
	}
	return f.buf[start:len(f.buf):len(f.buf)], nil
}

// drain appends what r holds, and one byte over the limit is too much.
func (f *inflater) drain(r io.Reader, limit int) error {
	end := len(f.buf) + limit
	for {
		if len(f.buf) == cap(f.buf) {
			f.grow(min(max(cap(f.buf), 64<<10), limit+1))
		}
		n, err := r.Read(f.buf[len(f.buf):cap(f.buf)])
		f.buf = f.buf[:len(f.buf)+n]
		switch {
		case len(f.buf) > end:
			return errTooLarge
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// grow makes room for n more bytes without touching those already there.
func (f *inflater) grow(n int) {
	if cap(f.buf)-len(f.buf) >= n {
		return
	}
	bigger := make([]byte, len(f.buf), len(f.buf)+n)
	copy(bigger, f.buf)
	f.buf = bigger
}

// xerial begins the framing that Java's snappy puts around blocks; other
// producers write one bare block.
var xerial = []byte{0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0}

const xerialHeader = 16 // the magic, a version and the oldest reader's version

func (f *inflater) snappy(src []byte, limit int) error {
	if len(src) < xerialHeader || !bytes.HasPrefix(src, xerial) {
		return f.snappyBlock(src, limit)
	}
	end := len(f.buf) + limit
	for src = src[xerialHeader:]; len(src) > 0; {
		if len(src) < 4 {
			return io.ErrUnexpectedEOF
		}
		n := binary.BigEndian.Uint32(src)
		if src = src[4:]; uint64(n) > uint64(len(src)) {
			return io.ErrUnexpectedEOF
		}
		if err := f.snappyBlock(src[:n], end-len(f.buf)); err != nil {
			return err
		}
		src = src[n:]
	}
	return nil
}

func (f *inflater) snappyBlock(src []byte, limit int) error {
	n, err := snappy.DecodedLen(src)
	if err != nil {
		return err
	}
	if n > limit {
		return errTooLarge
	}
	f.grow(n)
	out, err := snappy.Decode(f.buf[len(f.buf):len(f.buf)+n], src)
	if err != nil {
		return err
	}
	f.buf = f.buf[:len(f.buf)+len(out)]
	return nil
}

// zstdWindow is the least bound that is given to the zstd decoder: it refuses
// a frame whose window is larger than its bound, and producers choose windows
// of 2 to 8 MiB also where they send little.
const zstdWindow = 16 << 20

// unzstd decodes whole frames. The decoder counts what the buffer already
// holds (less than chunkBytes), so its bound is that much wider than ours; it
// allocates no more also for a frame that lies about its size.
func (f *inflater) unzstd(src []byte, limit int) error {
	if f.zstd == nil {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderMaxMemory(uint64(max(limit, zstdWindow)+chunkBytes)))
		if err != nil {
			return err
		}
		f.zstd = d
	}
	out, err := f.zstd.DecodeAll(src, f.buf)
	if errors.Is(err, zstd.ErrDecoderSizeExceeded) {
		return errTooLarge
	}
	if err != nil {
		return err
	}
	if len(out)-len(f.buf) > limit {
		return errTooLarge
	}
	f.buf = out
	return nil
}
