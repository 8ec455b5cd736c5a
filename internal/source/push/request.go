package push

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"mime"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"github.com/keyheat/keyheat/sample/format"
)

// The headers of a numbered batch.
const (
	headerProducer = "Keyheat-Producer"
	headerSequence = "Keyheat-Sequence"
	// headerLife says "short" of a producer that soon ends, such as a function's.
	headerLife = "Keyheat-Producer-Life"
)

// isProducer matches the names that a producer may have.
var isProducer = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,128}$`)

// formats are the formats of batches. A page of another site cannot send these types without
// asking first, and gets no permission.
var formats = map[string]format.Format{
	"application/json": format.Keyheat, "application/x-ndjson": format.Keyheat, "application/x-protobuf": format.Protobuf,
}

// read returns a request's batch, or why it is refused.
func (s *Source) read(w http.ResponseWriter, r *http.Request, headers headerReader) (*delivery, *response) {
	d := &delivery{decided: make(chan struct{}), done: make(chan struct{})}
	if s.config.User != nil {
		d.user = s.config.User(r.Context())
	}
	if refused := headers(d, r); refused != nil {
		return nil, refused
	}
	var err error
	if d.body, d.hold, err = s.receive(w, r); err != nil {
		return nil, refuseBody(err)
	}
	if d.format == format.OTLP {
		if isJSON(r) {
			d.body = bytes.TrimLeft(d.body, " \t\r\n")
		}
		if bytes.HasPrefix(d.body, []byte("{")) != isJSON(r) { // the decoder goes by the brace
			d.hold.Release()
			return nil, refuse(http.StatusBadRequest, noSpans)
		}
	}
	if d.mark == "" {
		d.mark = markOf(d.body)
	}
	return d, nil
}

func markOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
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
	switch life := r.Header.Get(headerLife); life {
	case "short":
		d.setBrief(producer)
	case "":
		d.producer, d.formerly = namesOf(d.user)+producer, namesOf("")+producer
	default:
		return refuse(http.StatusBadRequest, headerLife+`: send "short" for a producer that soon ends, or leave it out`)
	}
	return nil
}

// setBrief names a short-lived producer.
func (d *delivery) setBrief(name string) {
	d.brief = true
	d.producer = briefOf(d.user) + name
	d.formerly = d.producer
}
