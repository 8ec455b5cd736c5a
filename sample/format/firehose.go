package format

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"strconv"

	"github.com/klauspost/compress/gzip"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/internal/frame"
	"github.com/keyheat/keyheat/sample/mapped"
)

const (
	// maxRecord bounds a decompressed record, in bytes. CloudWatch Logs fills a record with at most
	// a few MB of events.
	maxRecord = 16 << 20
	// maxRecords bounds the decompressed records of one request together.
	maxRecords = 128 << 20
)

// RejectNoSample rejects a record of Firehose in which no sample was found. The lines of a log are
// not rejected for that: most are not about DynamoDB.
const RejectNoSample = mapped.RejectElement

// firehose decodes requests of Amazon Data Firehose: {"records":[{"data":"…"}]}, with data in
// base64. A record has samples, stream records, CloudTrail events or spans, as lines or within
// other JSON, such as EventBridge's; or it is a batch of CloudWatch Logs, compressed, whose lines
// have samples among others. A sample without an id takes the one of its log event, so that an
// event that comes twice counts once.
type firehose struct {
	decoders map[Format]Decoder
	at       int64
	relay    identified
}

func newFirehose(tables Tables) *firehose {
	f := &firehose{decoders: make(map[Format]Decoder)}
	for _, form := range []Format{Keyheat, Stream, CloudTrail, OTLP} {
		f.decoders[form] = NewDecoder(form, tables)
	}
	return f
}

// Decode implements Decoder.
func (f *firehose) Decode(request []byte, at int64, h sample.Handler) {
	var body struct {
		Records []struct {
			Data string `json:"data"`
		} `json:"records"`
	}
	if json.Unmarshal(request, &body) != nil || body.Records == nil {
		h.Bad(sample.RejectSyntax, frame.Excerpt(request))
		return
	}
	f.relay.Handler = h
	defer func() { f.relay = identified{} }()
	left := maxRecords
	for _, r := range body.Records {
		record, err := base64.StdEncoding.DecodeString(r.Data)
		if err == nil {
			record, err = inflate(record, min(left, maxRecord))
		}
		switch {
		case err != nil:
			h.Bad(RejectNoSample, frame.Excerpt([]byte(r.Data)))
			continue
		case len(record) > min(left, maxRecord):
			h.Bad(sample.RejectTooLarge, frame.Excerpt(record))
			continue
		}
		left -= len(record)
		if f.at = at; !f.logs(record) && !f.lines(record) {
			h.Bad(RejectNoSample, frame.Excerpt(record))
		}
	}
}

// inflate decompresses a record if it is compressed, to one byte more than so many at most.
func inflate(record []byte, most int) ([]byte, error) {
	if !bytes.HasPrefix(record, []byte{0x1f, 0x8b}) {
		return record, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(record))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(z, int64(most)+1))
}

// logs decodes a record of CloudWatch Logs: batches of events, one after the other. It reports
// false for any other record.
func (f *firehose) logs(record []byte) bool {
	d, isLog := json.NewDecoder(bytes.NewReader(record)), false
	for bytes.HasPrefix(bytes.TrimSpace(record), []byte("{")) && d.More() {
		var batch struct {
			Type   string `json:"messageType"`
			Events []struct {
				ID      string `json:"id"`
				Time    int64  `json:"timestamp"`
				Message string `json:"message"`
			} `json:"logEvents"`
		}
		if d.Decode(&batch) != nil || batch.Type == "" || batch.Events == nil {
			break
		}
		isLog = true
		for _, event := range batch.Events { // a CONTROL_MESSAGE has one that says that it is one
			f.at, f.relay.id, f.relay.n = event.Time, event.ID, 0
			f.lines([]byte(event.Message))
		}
	}
	f.relay.id = ""
	return isLog
}

// lines decodes the samples in a text, which is one value of JSON or has them in its lines, and
// reports whether there was any.
func (f *firehose) lines(text []byte) (found bool) {
	if json.Valid(text) {
		return f.line(text)
	}
	for len(text) > 0 {
		n := frame.NextLine(text)
		found = f.line(text[:n]) || found
		text = text[n:]
	}
	return found
}

// line decodes the samples in a line. A logger may have put several lines into the text of a
// message.
func (f *firehose) line(line []byte) bool {
	line = bytes.TrimSpace(line)
	m, isObject := membersOf(line)
	var message string
	switch {
	case isObject && f.decode(m.form(), line):
		return true
	case json.Unmarshal(m.Message, &message) == nil && f.lines([]byte(message)):
		return true
	}
	return mapped.OpenLine(line, f.take)
}

// take decodes an object of a known form.
func (f *firehose) take(o mapped.Object) bool {
	m, isObject := membersOf(o.Raw)
	return isObject && f.decode(m.form(), o.Raw)
}

// logged is an object with the message of a logger.
type logged struct {
	members
	Message json.RawMessage `json:"message"`
}

func membersOf(object []byte) (m logged, isObject bool) {
	isObject = bytes.HasPrefix(object, []byte("{")) && json.Unmarshal(object, &m) == nil
	return m, isObject
}

func (f *firehose) decode(form Format, object []byte) bool {
	decoder := f.decoders[form]
	if decoder == nil {
		return false
	}
	decoder.Decode(object, f.at, &f.relay)
	return true
}

// identified passes samples on, those of a log's event with its id.
type identified struct {
	sample.Handler
	id string
	n  int // the event's samples so far
}

func (i *identified) Record(r *sample.Record) {
	if i.id == "" {
		i.Handler.Record(r)
		return
	}
	i.n++
	own := *r // the decoder's own stays as it is
	own.TimeFromMessage = false
	if own.ID == "" {
		own.ID = i.id + "/" + strconv.Itoa(i.n)
	}
	i.Handler.Record(&own)
}
