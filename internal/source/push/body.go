package push

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/keyheat/keyheat/internal/source"
)

// memoryWait is how long a body waits for its first memory, and growWait for more: who holds some
// gives it up before the others do. A slow body gives way after two seconds.
const memoryWait, growWait = 3 * time.Second, time.Second

// pieceBytes of a body, or its rest, have to arrive within Config.PieceWithin.
const pieceBytes = 64 << 10

// receive reads a request's body into memory that is granted as its bytes come, and decompresses
// it once it is whole. So a slow body holds little, and never what others wait for.
func (s *Source) receive(w http.ResponseWriter, r *http.Request) ([]byte, *source.Hold, error) {
	most := s.config.MaxBatch
	if r.ContentLength >= 0 {
		most = min(most, r.ContentLength)
	}
	first := min(most, pieceBytes) + 1 // a byte for the end
	arriving, err := acquire(r.Context(), s.arriving, first)
	if err != nil {
		return nil, nil, err
	}
	defer arriving.Release()
	body, err := s.arrive(w, r, make([]byte, 0, first), int(most)+1, arriving)
	if err != nil {
		return nil, nil, err
	}
	encoding := r.Header.Get("Content-Encoding")
	size := int64(len(body))
	if encoding != "" {
		size = s.config.MaxBatch
	}
	hold, err := acquire(r.Context(), s.memory, size)
	if err != nil {
		return nil, nil, err
	}
	if body, err = s.decode.decompress(body, encoding); err != nil {
		hold.Release()
		return nil, nil, err
	}
	hold.Shrink(int64(len(body)))
	return body, hold, nil
}

// arrive reads a body into a buffer that grows to most bytes, and its memory with it.
func (s *Source) arrive(w http.ResponseWriter, r *http.Request, body []byte, most int, hold *source.Hold) ([]byte, error) {
	from, connection := http.MaxBytesReader(w, r.Body, s.config.MaxBatch), http.NewResponseController(w)
	began := time.Now()
	for {
		if time.Since(began) > s.config.PieceWithin && s.arriving.HasWaiters() {
			return nil, errSlow
		}
		if len(body) == cap(body) {
			size := min(len(body)+max(len(body)/4, pieceBytes), most)
			if err := extend(r.Context(), hold, int64(size)); err != nil {
				return nil, err
			}
			body = append(make([]byte, 0, size), body...)
		}
		piece := time.Now().Add(s.config.PieceWithin)
		if whole := began.Add(s.config.ReadWithin); whole.Before(piece) {
			piece = whole
		}
		_ = connection.SetReadDeadline(piece) // a test's recorder has none
		n, err := fill(from, body[len(body):min(cap(body), len(body)+pieceBytes)])
		body = body[:len(body)+n]
		switch {
		case errors.Is(err, io.EOF):
			_ = connection.SetReadDeadline(time.Time{}) // it would end the wait for the commit
			return body, nil
		case errors.Is(err, os.ErrDeadlineExceeded):
			return nil, errSlow
		case errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, new(net.Error)):
			return nil, errors.Join(errUnread, err)
		case err != nil:
			return nil, err
		}
	}
}

// fill reads until to is full, or an error: [io.EOF] only at the end of from.
func fill(from io.Reader, to []byte) (n int, err error) {
	for n < len(to) && err == nil {
		var more int
		more, err = from.Read(to[n:])
		n += more
	}
	return n, err
}

// acquire returns memory of a budget, or errMemory.
func acquire(ctx context.Context, from *source.Budget, n int64) (*source.Hold, error) {
	ctx, cancel := context.WithTimeout(ctx, memoryWait)
	defer cancel()
	hold, err := from.Acquire(ctx, n)
	if err != nil {
		return nil, errMemory
	}
	return hold, nil
}

// extend enlarges a hold to n bytes, or returns errMemory.
func extend(ctx context.Context, hold *source.Hold, n int64) error {
	ctx, cancel := context.WithTimeout(ctx, growWait)
	defer cancel()
	if hold.Extend(ctx, n) != nil {
		return errMemory
	}
	return nil
}

var (
	// errMemory: others hold the memory.
	errMemory = errors.New("no memory for another batch")
	// errSlow: the body came too slowly, or others waited for its memory.
	errSlow = errors.New("the body arrives too slowly")
	// errUnread: the body did not arrive whole. The batch itself may be right.
	errUnread = errors.New("the body did not arrive whole")
	// errEncoding: the body is compressed in another way.
	errEncoding = errors.New("Content-Encoding: send gzip, zstd or none")
	// errTooLarge: the body is larger when decompressed than a batch may be.
	errTooLarge = errors.New("too large")
)

// refuseBody returns the response to a body that cannot be read.
func refuseBody(err error) *response {
	switch {
	case errors.Is(err, errMemory):
		return new(busy(errMemory.Error()))
	case errors.Is(err, errSlow):
		return &response{status: http.StatusRequestTimeout, retryAfter: time.Second, body: body{Error: errSlow.Error() + ": send it again, in smaller batches"}}
	case errors.Is(err, errUnread):
		return new(unavailable(errUnread.Error()))
	case errors.Is(err, errEncoding):
		return refuse(http.StatusUnsupportedMediaType, err.Error())
	case errors.As(err, new(*http.MaxBytesError)), errors.Is(err, zstd.ErrDecoderSizeExceeded), errors.Is(err, errTooLarge):
		return refuse(http.StatusRequestEntityTooLarge, "the batch is too large: send fewer samples at a time")
	}
	return refuse(http.StatusBadRequest, "the body cannot be read or decompressed")
}

// decompressor decompresses bodies to at most so many bytes.
type decompressor struct {
	most int64
	zstd *zstd.Decoder
}

func newDecompressor(most int64) *decompressor {
	d, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(uint64(most)), zstd.WithDecoderLowmem(true))
	if err != nil {
		panic(err) // an option out of its range
	}
	return &decompressor{most, d}
}

func (d *decompressor) decompress(compressed []byte, encoding string) ([]byte, error) {
	switch encoding {
	case "", "identity":
		return compressed, nil
	case "zstd":
		return d.zstd.DecodeAll(compressed, nil)
	case "gzip":
		unzip, err := gzip.NewReader(bytes.NewReader(compressed))
		if err != nil {
			return nil, err
		}
		out, err := io.ReadAll(io.LimitReader(unzip, d.most+1))
		if err == nil && int64(len(out)) > d.most {
			err = errTooLarge
		}
		return out, err
	}
	return nil, errEncoding
}
