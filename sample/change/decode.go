package change

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/internal/frame"
)

// Decoder reads stream records as JSON.
type Decoder struct {
	tables map[string]table
	table  string
}

// table is a table's schema, with the names of its global secondary indexes in order.
type table struct {
	schema  sample.Schema
	indexes []string
}

// NewDecoder returns a Decoder for these tables. The map may be nil.
func NewDecoder(tables sample.Schemas) *Decoder {
	d := &Decoder{tables: make(map[string]table, len(tables))}
	for name, s := range tables {
		d.tables[name] = table{s, globalIndexes(s)}
	}
	return d
}

// SetTable sets the table of records that name none, as GetRecords and exports write them.
func (d *Decoder) SetTable(name string) { d.table = name }

// Decode reads every record in one message: one object, an array, NDJSON, or {"Records":[…]}. A
// record without a time takes the message's own time, at, in Unix milliseconds. If at is 0 or
// less, such a record is a bad sample. Bad records do not affect the good ones beside them.
func (d *Decoder) Decode(message []byte, at int64, h sample.Handler) {
	frame.Each(message, h, func(raw []byte) {
		c, reason := read(raw, at, d.table)
		if reason != "" {
			h.Bad(reason, frame.Excerpt(raw))
			return
		}
		of, _ := sample.Lookup(d.tables, sample.Target{Account: c.account, Region: c.region, Table: c.table})
		records, reason := c.records(of.schema, of.indexes)
		for i := range records {
			if wrong := records[i].Check(); wrong != "" {
				h.Bad(wrong, frame.Excerpt(raw))
				continue
			}
			h.Record(&records[i])
		}
		if reason != "" {
			h.Bad(reason, frame.Excerpt(raw))
		}
	})
}

// event is the JSON of a stream record. Names match in any case, because the SDKs of some
// languages change the first letter.
type event struct {
	EventID        string `json:"eventID"`
	EventName      string `json:"eventName"`
	EventSourceARN string `json:"eventSourceARN"`
	Region         string `json:"awsRegion"`
	TableName      string `json:"tableName"`
	UserIdentity   struct {
		Type        string `json:"type"`
		PrincipalID string `json:"principalId"`
	} `json:"userIdentity"`
	Body *body `json:"dynamodb"`
	// An incremental export to S3 has the images beside the time of the write.
	body
	Metadata *struct {
		Written struct{ N json.RawMessage } `json:"WriteTimestampMicros"`
	} `json:"Metadata"`
}

type body struct {
	Time     json.RawMessage `json:"ApproximateCreationDateTime"`
	Keys     json.RawMessage `json:"Keys"`
	NewImage json.RawMessage `json:"NewImage"`
	OldImage json.RawMessage `json:"OldImage"`
}

// IsExport reports whether a message seems to have changes of an incremental export to S3.
func IsExport(message []byte) bool { return bytes.Contains(message, []byte(`"WriteTimestampMicros"`)) }

// exported fills in what an incremental export leaves out: it has the last change of each item.
func (e *event) exported() {
	e.Body = &e.body
	e.Time = bytes.Trim(e.Metadata.Written.N, `"`)
	switch {
	case len(e.NewImage) == 0:
		e.EventName = "REMOVE"
	case len(e.OldImage) == 0:
		e.EventName = "INSERT"
	default:
		e.EventName = "MODIFY"
	}
}

// operations are the requests behind the events. A put over an existing item is a MODIFY, like
// any update.
var operations = map[string]sample.Op{
	"INSERT": sample.PutItem, "MODIFY": sample.UpdateItem, "REMOVE": sample.DeleteItem,
}

func read(raw []byte, at int64, table string) (*itemChange, sample.RejectReason) {
	var e event
	if json.Unmarshal(raw, &e) != nil {
		return nil, sample.RejectBadText
	}
	if e.Body == nil && e.Metadata != nil && len(e.Keys) > 0 {
		e.exported()
	}
	if e.Body == nil {
		return nil, RejectNotChange
	}
	c := &itemChange{
		table: e.TableName, region: e.Region, id: e.EventID,
		expired: e.UserIdentity.Type == "Service" && e.UserIdentity.PrincipalID == "dynamodb.amazonaws.com",
	}
	if c.locate(e.EventSourceARN); c.table == "" {
		c.table = table
	}
	var reason sample.RejectReason
	if c.time, c.fromMessage, reason = readTime(e.Body.Time, at); reason != "" {
		return nil, reason
	}
	if c.table == "" {
		return nil, sample.RejectNoTable
	}
	var known bool
	if c.op, known = operations[e.EventName]; !known {
		return nil, sample.RejectBadOp
	}
	c.expired = c.expired && c.op == sample.DeleteItem
	if !readItem(e.Body.Keys, &c.keys) {
		return nil, sample.RejectBadKey
	}
	if !readItem(e.Body.NewImage, &c.new) || !readItem(e.Body.OldImage, &c.old) {
		return nil, RejectBadImage
	}
	return c, ""
}

// locate completes the change from a stream's or table's ARN:
// arn:aws:dynamodb:region:account:table/NAME/stream/LABEL.
func (c *itemChange) locate(arn string) {
	parts := strings.SplitN(arn, ":", 6)
	if len(parts) < 6 {
		return
	}
	c.account = parts[4]
	if c.region == "" {
		c.region = parts[3]
	}
	if rest, ok := strings.CutPrefix(parts[5], "table/"); ok && c.table == "" {
		c.table, _, _ = strings.Cut(rest, "/")
	}
}

// readItem fills an item. A missing item stays nil.
func readItem(raw json.RawMessage, into *Item) bool {
	return len(raw) == 0 || string(raw) == "null" || json.Unmarshal(raw, into) == nil
}

// Numbers below these are seconds, milliseconds and microseconds since 1970. Read in the next
// smaller unit, each of them would lie before 1973, and so before DynamoDB.
const (
	secondsBelow      = 1e11
	millisecondsBelow = 1e14
	microsecondsBelow = 1e17
)

// readTime reads a creation time. DynamoDB Streams write seconds, Kinesis Data Streams
// milliseconds or microseconds, and some connectors RFC 3339.
func readTime(raw json.RawMessage, at int64) (ms int64, fromMessage bool, reason sample.RejectReason) {
	if len(raw) == 0 || string(raw) == "null" {
		if at <= 0 {
			return 0, true, sample.RejectNoTime
		}
		return at, true, ""
	}
	if raw[0] == '"' { // a number in quotes may be rounded to ten seconds: 1.79586720E+09
		var t time.Time
		if json.Unmarshal(raw, &t) != nil {
			return 0, false, sample.RejectBadTime
		}
		return t.UnixMilli(), false, ""
	}
	n, err := strconv.ParseFloat(string(raw), 64)
	switch {
	case err != nil || n < 0 || n >= microsecondsBelow:
		return 0, false, sample.RejectBadTime
	case n < secondsBelow:
		n = math.Round(n * 1000) // a fraction is not an exact float
	case n >= millisecondsBelow:
		n /= 1000
	}
	return int64(n), false, ""
}
