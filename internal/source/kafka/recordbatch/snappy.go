package recordbatch

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/klauspost/compress/snappy"

	"github.com/keyheat/keyheat/internal/source"
)

// xerial begins the framing of Java's snappy around blocks. Other producers write one bare
// block.
var xerial = []byte{0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0}

const xerialHeader = 16 // the magic, a version and the oldest reader's version

// snappyBlocks reads framed blocks, each whole.
type snappyBlocks struct {
	src   []byte
	limit int
	// grown is called before the reader keeps a block of which the caller read only a part.
	grown func(bytes int) error
	block []byte
	rest  []byte // unread part of the block
}

// openSnappy decompresses a bare block at once, and framed blocks as a stream. It returns
// the batch's start in the buffer.
func (f *inflater) openSnappy(src []byte) (start int, err error) {
	if len(src) >= xerialHeader && bytes.HasPrefix(src, xerial) {
		f.snappy = snappyBlocks{src: src[xerialHeader:], limit: f.limits.Record, grown: f.grow, block: f.snappy.block}
		f.src = &f.snappy
		return len(f.buf), nil
	}
	n, err := snappyLength(src, f.limits.Record)
	if err != nil {
		return 0, err
	}
	if cap(f.buf)-len(f.buf) < n {
		if err := f.hold(n); err != nil {
			return 0, err
		}
		f.buf = source.MakeBuffer(max(n, chunkBytes))[:0] // the records of this chunk keep the old buffer
	}
	start = len(f.buf)
	if _, err := snappy.Decode(f.buf[start:start+n], src); err != nil {
		return 0, decompressing(err)
	}
	f.buf = f.buf[:start+n]
	return start, nil
}

// snappyLength returns the decompressed length of a block.
func snappyLength(src []byte, limit int) (int, error) {
	n, err := snappy.DecodedLen(src)
	if err == nil && n > limit {
		err = fmt.Errorf("a block of %d bytes is %w", n, errTooLarge)
	}
	return n, decompressing(err)
}

func (s *snappyBlocks) Read(p []byte) (int, error) {
	for len(s.rest) == 0 {
		if len(s.src) == 0 {
			return 0, io.EOF
		}
		if len(s.src) < 4 {
			return 0, io.ErrUnexpectedEOF
		}
		size := binary.BigEndian.Uint32(s.src)
		if uint64(size) > uint64(len(s.src)-4) {
			return 0, io.ErrUnexpectedEOF
		}
		block := s.src[4 : 4+size]
		n, err := snappyLength(block, s.limit)
		if err != nil {
			return 0, err
		}
		if n > 0 && n <= len(p) {
			_, err := snappy.Decode(p[:n], block)
			s.src = s.src[4+size:]
			return n, err
		}
		if cap(s.block) < n {
			if err := s.grown(n); err != nil {
				return 0, err
			}
			s.block = source.MakeBuffer(n)
		}
		if s.rest, err = snappy.Decode(s.block[:n], block); err != nil {
			return 0, err
		}
		s.src = s.src[4+size:]
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}
