package recordbatch

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/keyheat/keyheat/internal/source"
)

// Codecs, by their numbers in a batch's attributes.
const (
	codecNone = iota
	codecGzip
	codecSnappy
	codecLZ4
	codecZstd
)

const (
	// chunkBytes is how much decompressed data one chunk gathers from several
	// batches before it ends. It is the buffer's size, unless a record is larger.
	chunkBytes = 1 << 20
	// fullBytes is the used part of the buffer from which the next batch begins in an empty
	// one.
	fullBytes = chunkBytes / 2
	// aheadBytes is how much of a batch is decompressed ahead of need.
	aheadBytes = 256 << 10
	// codecBytes is a codec's memory beside its declared window or blocks.
	codecBytes = 512 << 10
	// keepBytes is the largest state of a codec that is kept for the next response.
	keepBytes = 4 << 20
)

// inflater decompresses batches, one after the other, into one reused buffer, only as far
// as there is room.
type inflater struct {
	limits Limits
	asked  int // bytes requested of Limits.Memory

	buf []byte
	// src is the rest of the batch in progress; nil when all of it is in buf.
	src   io.Reader
	state int // bytes of the codecs' state for it

	in     bytes.Reader
	gzip   *gzip.Reader
	lz4    *lz4.Reader
	snappy snappyBlocks
	zstd   *zstd.Decoder // frames that fit into buf
	stream *zstd.Decoder // other frames
	bound  int           // the largest window that stream takes
}

// reset begins a response, and frees the memory of a rare giant record.
func (f *inflater) reset(limits Limits) {
	if cap(f.buf) > chunkBytes || f.state > keepBytes {
		f.forget()
	}
	f.snappy = snappyBlocks{}
	f.limits, f.asked, f.state, f.buf, f.src = limits, 0, 0, f.buf[:0], nil
	f.in.Reset(nil)
}

// forget drops the buffer, and the codecs with their references to it.
func (f *inflater) forget() {
	f.buf, f.lz4, f.zstd, f.stream, f.gzip = nil, nil, nil, nil, nil
}

// full reports whether the next batch is better begun in an empty buffer.
func (f *inflater) full() bool { return len(f.buf) >= fullBytes }

// hold requests memory for a buffer of so many bytes and for the codecs' state.
func (f *inflater) hold(buffer int) error {
	total := max(buffer, chunkBytes) + f.state + codecBytes
	if total <= f.asked || f.limits.Memory == nil {
		return nil
	}
	if err := f.limits.Memory(total); err != nil {
		return err
	}
	f.asked = total
	return nil
}

// begin makes src the current batch, and returns its bytes that are in the buffer already.
func (f *inflater) begin(codec int16, src []byte) ([]byte, error) {
	if err := f.hold(cap(f.buf)); err != nil {
		return nil, err
	}
	if f.buf == nil {
		f.buf = make([]byte, 0, chunkBytes)
	}
	start := len(f.buf)
	f.in.Reset(src)
	var err error
	if codec == codecSnappy {
		start, err = f.openSnappy(src)
	} else {
		err = f.open(codec, src)
	}
	if err != nil {
		f.src = nil
		return nil, err
	}
	return f.buf[start:], nil
}

// open opens a stream of any codec but snappy.
func (f *inflater) open(codec int16, src []byte) error {
	switch codec {
	case codecGzip:
		if f.gzip == nil {
			f.gzip = new(gzip.Reader)
		}
		f.src = f.gzip
		return decompressing(f.gzip.Reset(&f.in))
	case codecLZ4:
		if err := f.grow(lz4State(src)); err != nil {
			return err
		}
		if f.lz4 == nil {
			f.lz4 = lz4.NewReader(nil)
		}
		f.lz4.Reset(&f.in)
		f.src = f.lz4
		return nil
	case codecZstd:
		return f.openZstd(src)
	}
	return fmt.Errorf("decompress: unknown compression %d", codec)
}

// grow requests memory for a codec's larger state.
func (f *inflater) grow(state int) error {
	f.state = max(f.state, state)
	return f.hold(cap(f.buf))
}

// lz4State returns the memory of a frame's blocks, compressed and decompressed, by the
// sixth byte of its header.
func lz4State(src []byte) int {
	if len(src) < 6 {
		return 0
	}
	return 2 << (8 + 2*uint(src[5]>>4&7)) // 64 KiB is 4, 4 MiB is 7
}

// zstdWindow is the least window bound for the zstd decoder, which refuses frames with a
// larger window. Producers choose windows of 2 to 8 MiB even for small batches.
const zstdWindow = 16 << 20

// openZstd decompresses a frame at once if it fits into the buffer, because that is faster.
// Other frames are streams, with their window beside the buffer.
func (f *inflater) openZstd(src []byte) error {
	var h zstd.Header
	if err := h.Decode(src); err != nil {
		return decompressing(err)
	}
	if room := cap(f.buf) - len(f.buf); h.HasFCS && h.FrameContentSize <= uint64(room) && f.decompressWhole(src) {
		return nil
	}
	window := zstdLargest(src)
	bound := max(f.limits.Record, zstdWindow) + chunkBytes
	if window > uint64(bound) {
		return fmt.Errorf("decompress: a window of %d bytes is %w", window, errTooLarge)
	}
	if err := f.grow(int(window)); err != nil {
		return err
	}
	if f.stream == nil || f.bound != bound {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(uint64(bound)), zstd.WithDecodeBuffersBelow(0))
		if err != nil {
			return err
		}
		f.stream, f.bound = d, bound
	}
	f.src = f.stream
	return decompressing(f.stream.Reset(&f.in))
}

// zstdLargest returns the largest window of the frames in src.
func zstdLargest(src []byte) (largest uint64) {
	var h zstd.Header
	for h.Decode(src) == nil {
		src = src[min(h.HeaderSize, len(src)):]
		if h.Skippable {
			src = src[min(uint64(h.SkippableSize), uint64(len(src))):]
			continue
		}
		largest = max(largest, h.WindowSize)
		if h.SingleSegment {
			largest = max(largest, h.FrameContentSize)
		}
		for last := false; !last && len(src) >= 3; {
			block := uint32(src[0]) | uint32(src[1])<<8 | uint32(src[2])<<16
			size := block >> 3
			if block>>1&3 == 1 { // one repeated byte
				size = 1
			}
			last = block&1 != 0
			src = src[min(3+int(size), len(src)):]
		}
		if h.HasCheckSum {
			src = src[min(4, len(src)):]
		}
	}
	return largest
}

// decompressWhole decompresses a batch into the rest of the buffer, and reports whether it fit.
func (f *inflater) decompressWhole(src []byte) bool {
	if f.zstd == nil {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			return false
		}
		f.zstd = d
	}
	out, err := f.zstd.DecodeAll(src, f.buf)
	if err != nil {
		return false // the stream returns the error
	}
	f.buf = out
	return true
}

// makeRoom makes room for want bytes; the buffer's last `have` bytes are their beginning. It
// reports false if the buffer is too small and may not move because other parts are in use.
func (f *inflater) makeRoom(have, want int, mayMove bool) (bool, error) {
	start := len(f.buf) - have
	switch {
	case cap(f.buf)-start >= want:
		return true, nil
	case !mayMove:
		return false, nil
	case cap(f.buf) >= want:
		copy(f.buf, f.buf[start:])
		f.buf = f.buf[:have]
		return true, nil
	}
	if err := f.hold(want); err != nil {
		return false, err
	}
	// Drop the old buffer, perhaps a large one, before the new one is made.
	head := bytes.Clone(f.buf[start:])
	f.buf, f.zstd = nil, nil
	if f.src != io.Reader(f.lz4) {
		f.lz4 = nil
	}
	if f.src != io.Reader(f.stream) {
		f.stream = nil
	}
	f.buf = append(source.MakeBuffer(want)[:0], head...)
	return true, nil
}

// fill reads until the buffer holds n bytes or the batch ends, and little more: a larger
// record would have to move all bytes that were read ahead.
func (f *inflater) fill(n int) error {
	for len(f.buf) < n && f.src != nil {
		read, err := f.src.Read(f.buf[len(f.buf):min(cap(f.buf), max(n, len(f.buf)+aheadBytes))])
		f.buf = f.buf[:len(f.buf)+read]
		if err = f.finish(err); err != nil {
			return err
		}
	}
	return nil
}

// discard decompresses and drops n bytes of the batch. The buffer must not be in use.
func (f *inflater) discard(n int) error {
	for n > 0 && f.src != nil {
		read, err := f.src.Read(f.buf[:min(n, cap(f.buf))])
		n -= read
		if err = f.finish(err); err != nil {
			return err
		}
	}
	if n > 0 {
		return decompressing(io.ErrUnexpectedEOF)
	}
	return nil
}

// finish records the end of the current batch.
func (f *inflater) finish(err error) error {
	if err == nil {
		return nil
	}
	f.src = nil
	if errors.Is(err, io.EOF) {
		return nil
	}
	return decompressing(err)
}

// decompressing adds the action to an error. A lack of memory stays as it is.
func decompressing(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("decompress: %w", err)
}
