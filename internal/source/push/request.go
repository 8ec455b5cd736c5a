package push

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"mime"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/keyheat/keyheat/internal/settings/format"
)

// The headers of a numbered batch.
const (
	headerProducer = "Keyheat-Producer"
	headerSequence = "Keyheat-Sequence"
)

// isProducer matches the names that a producer may have.
var isProducer = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,128}$`)

// formats are the formats of batches. A page of another site cannot send these types without
// asking first, and gets no permission.
var formats = map[string]format.Format{
	"application/json": format.Keyheat, "application/x-ndjson": format.Keyheat, "application/x-protobuf": format.Protobuf,
}

// memoryWait is how long a request waits for memory.
const memoryWait = time.Second

// read returns a request's batch, or why it is refused.
func (s *Source) read(w http.ResponseWriter, r *http.Request, headers headerReader) (*delivery, *response) {
	d := &delivery{decided: make(chan struct{}), done: make(chan struct{})}
	if s.config.User != nil {
		d.user = s.config.User(r.Context())
	}
	if refused := headers(d, r); refused != nil {
		return nil, refused
	}
	n := 2 * s.config.MaxBatch
	if encoding := r.Header.Get("Content-Encoding"); encoding == "" && r.ContentLength >= 0 {
		n = min(r.ContentLength, n)
	}
	ctx, cancel := context.WithTimeout(r.Context(), memoryWait)
	defer cancel()
	hold, err := s.memory.Acquire(ctx, n)
	if err != nil {
		return nil, new(busy("no memory for another batch"))
	}
	d.hold = hold
	connection := http.NewResponseController(w)
	_ = connection.SetReadDeadline(time.Now().Add(s.config.ReadWithin)) // a test's recorder has none
	d.body, err = s.decode.read(http.MaxBytesReader(w, r.Body, s.config.MaxBatch), r.Header.Get("Content-Encoding"))
	_ = connection.SetReadDeadline(time.Time{}) // it would end the wait for the commit
	if err != nil {
		hold.Release()
		return nil, refuseBody(err)
	}
	hold.Shrink(int64(len(d.body)))
	if d.format == format.OTLP && isJSON(r) {
		if d.body = bytes.TrimLeft(d.body, " \t\r\n"); !bytes.HasPrefix(d.body, []byte("{")) { // protobuf to the decoder
			hold.Release()
			return nil, refuse(http.StatusBadRequest, noSpans)
		}
	}
	sum := sha256.Sum256(d.body)
	d.mark = hex.EncodeToString(sum[:16])
	return d, nil
}

// headerReader reads a request's headers, or returns why it is refused.
type headerReader func(*delivery, *http.Request) *response

func (d *delivery) readHeaders(r *http.Request) *response {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	var known bool
	if d.format, known = formats[kind]; err != nil || !known {
		return refuse(http.StatusUnsupportedMediaType, "Content-Type: send application/x-ndjson, application/json or application/x-protobuf")
	}
	var refused *response
	if d.lost, refused = readLoss(r, time.Now()); refused != nil {
		return refused
	}
	producer, number := r.Header.Get(headerProducer), r.Header.Get(headerSequence)
	if producer == "" && number == "" {
		return nil
	}
	if d.sequence, err = strconv.ParseInt(number, 10, 64); err != nil || d.sequence < 1 || !isProducer.MatchString(producer) {
		return refuse(http.StatusBadRequest, headerProducer+" and "+headerSequence+": send both, a name of 1 to 128 letters, digits, '.', '_', ':' or '-', and a number from 1")
	}
	d.producer, d.formerly = namesOf(d.user)+producer, namesOf("")+producer
	return nil
}

// errEncoding: the body is compressed in another way.
var errEncoding = errors.New("Content-Encoding: send gzip, zstd or none")

// refuseBody returns the response to a body that cannot be read.
func refuseBody(err error) *response {
	switch {
	case errors.Is(err, errEncoding):
		return refuse(http.StatusUnsupportedMediaType, err.Error())
	case errors.As(err, new(*http.MaxBytesError)), errors.Is(err, zstd.ErrDecoderSizeExceeded), errors.Is(err, errTooLarge):
		return refuse(http.StatusRequestEntityTooLarge, "the batch is too large: send fewer samples at a time")
	case errors.Is(err, errUnread):
		return new(unavailable(errUnread.Error()))
	}
	return refuse(http.StatusBadRequest, "the body cannot be read or decompressed")
}

// errUnread: the body did not arrive whole. The batch itself may be right.
var errUnread = errors.New("the body did not arrive whole")

// errTooLarge: the body is larger when decompressed than a batch may be.
var errTooLarge = errors.New("too large")

// decompressor reads bodies of at most so many bytes.
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

func (d *decompressor) read(from io.Reader, encoding string) ([]byte, error) {
	compressed, err := io.ReadAll(from)
	if err != nil {
		return nil, errors.Join(errUnread, err)
	}
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
