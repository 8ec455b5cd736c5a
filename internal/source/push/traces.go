package push

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/format"
)

const typeJSON, typeProtobuf = "application/json", "application/x-protobuf"

func isJSON(r *http.Request) bool {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && kind == typeJSON
}

func (d *delivery) readSpanHeaders(r *http.Request) *response {
	d.format = format.OTLP
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != typeJSON && kind != typeProtobuf {
		return refuse(http.StatusUnsupportedMediaType, "Content-Type: send "+typeProtobuf+" or "+typeJSON)
	}
	return nil
}

// rejectedSpans returns how many spans were rejected, and why. A repeated span was counted, and
// an empty request has none.
func (b *body) rejectedSpans() (n int64, why string) {
	var reasons []string
	for _, reason := range slices.Sorted(maps.Keys(b.Rejected)) {
		if reason != "duplicate" && reason != sample.RejectEmpty {
			n += b.Rejected[reason]
			reasons = append(reasons, fmt.Sprintf("%s %d", reason, b.Rejected[reason]))
		}
	}
	why = "spans were not counted: " + strings.Join(reasons, ", ")
	if b.Remedy != "" {
		why += "; for tables without room, " + b.Remedy
	}
	return n, why
}

// countSpans counts the spans of a request that is stored.
func (s *Source) countSpans(b *body) {
	if b.Counted == nil {
		return
	}
	rejected, _ := b.rejectedSpans()
	s.spans.WithLabelValues("key").Add(float64(*b.Counted - b.callerOnly))
	s.spans.WithLabelValues("caller").Add(float64(b.callerOnly))
	s.spans.WithLabelValues("rejected").Add(float64(rejected))
}

// isBroken reports whether the request as a whole could not be decoded.
func (b *body) isBroken() bool {
	return b.Counted != nil && *b.Counted == 0 && len(b.Rejected) == 1 && b.Rejected[sample.RejectSyntax] == 1
}

// noSpans refuses a body of another kind.
const noSpans = "the body is no ExportTraceServiceRequest in the encoding of Content-Type: send JSON as " + typeJSON + ", and protobuf as " + typeProtobuf

// rpcCodes are the codes of google.rpc.Status by HTTP's status; INVALID_ARGUMENT for any other.
var rpcCodes = map[int]uint64{http.StatusTooManyRequests: 8, http.StatusServiceUnavailable: 14}

const invalidArgument = 3

// writeOTLP writes the response as OTLP/HTTP says: an ExportTraceServiceResponse, or a
// google.rpc.Status.
func (r response) writeOTLP(w http.ResponseWriter, inJSON bool) {
	contentType, message := typeProtobuf, []byte(nil)
	if rejected, why := r.body.rejectedSpans(); inJSON {
		contentType = typeJSON
		message, _ = json.Marshal(r.otlpFields(rejected, why)) // numbers and texts
	} else if r.status != http.StatusOK {
		message = appendPair(nil, cmp.Or(rpcCodes[r.status], invalidArgument), r.body.Error)
	} else if rejected > 0 {
		message = protowire.AppendTag(nil, 1, protowire.BytesType)
		message = protowire.AppendBytes(message, appendPair(nil, uint64(rejected), why))
	}
	r.writeHeader(w, contentType)
	_, _ = w.Write(message) // a client that left sends the spans again
}

// appendPair appends a number as field 1 and a text as field 2, as in both kinds of response.
func appendPair(to []byte, number uint64, text string) []byte {
	to = protowire.AppendVarint(protowire.AppendTag(to, 1, protowire.VarintType), number)
	return protowire.AppendString(protowire.AppendTag(to, 2, protowire.BytesType), text)
}

// otlpFields returns the response's fields in JSON.
func (r response) otlpFields(rejected int64, why string) map[string]any {
	switch {
	case r.status != http.StatusOK:
		return map[string]any{"code": cmp.Or(rpcCodes[r.status], invalidArgument), "message": r.body.Error}
	case rejected > 0:
		return map[string]any{"partialSuccess": map[string]any{"rejectedSpans": strconv.FormatInt(rejected, 10), "errorMessage": why}}
	}
	return map[string]any{}
}
