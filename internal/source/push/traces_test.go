package push_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/keyheat/keyheat/internal/source/push"
	"github.com/keyheat/keyheat/internal/testsupport/await"
	"github.com/keyheat/keyheat/internal/testsupport/counted"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/pgtest"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

// spans returns a request of spans, each with a request id, and a key unless that is empty.
func spans(service, id string, keys ...string) *tracepb.TracesData {
	text := func(key, value string) *commonpb.KeyValue {
		return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: value}}}
	}
	scope := &tracepb.ScopeSpans{}
	for i, key := range keys {
		s := &tracepb.Span{
			TraceId: []byte("0123456789abcdef"), SpanId: []byte("01234567"), Name: "DynamoDB.PutItem",
			StartTimeUnixNano: uint64(time.Now().UnixNano()),
			Attributes: []*commonpb.KeyValue{
				text("db.system", "dynamodb"), text("rpc.method", "PutItem"), text("aws.table.name", "orders"),
				text("aws.request_id", fmt.Sprint(id, "-", i)),
			},
		}
		if key != "" {
			s.Attributes = append(s.Attributes, text("keyheat.partition_key", key))
		}
		scope.Spans = append(scope.Spans, s)
	}
	return &tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{{
		Resource: &resourcepb.Resource{Attributes: []*commonpb.KeyValue{text("service.name", service)}}, ScopeSpans: []*tracepb.ScopeSpans{scope},
	}}}
}

func protobuf(t *testing.T, data *tracepb.TracesData) string {
	t.Helper()
	message, err := proto.Marshal(data)
	must.Succeed(t, err)
	return string(message)
}

// export sends a body as an exporter does, and returns status, type and body of the response,
// and Retry-After.
func export(ctx context.Context, url, body, kind string, headers ...string) (status int, contentType, answer, after string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return 0, "", "", "", err
	}
	request.Header.Set("Content-Type", kind)
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", "", "", err
	}
	defer response.Body.Close()
	all, err := io.ReadAll(response.Body)
	return response.StatusCode, response.Header.Get("Content-Type"), string(all), response.Header.Get("Retry-After"), err
}

// pair reads the number of field 1 and the text of field 2.
func pair(message []byte) (number uint64, text string) {
	for len(message) > 0 {
		field, kind, n := protowire.ConsumeTag(message)
		message = message[n:]
		if kind == protowire.VarintType && field == 1 {
			number, n = protowire.ConsumeVarint(message)
		} else {
			text, n = protowire.ConsumeString(message)
		}
		message = message[n:]
	}
	return number, text
}

// callersIn returns the written weight of each caller in a store.
func callersIn(t *testing.T, st *store.Store) map[string]uint64 {
	t.Helper()
	snap, err := st.Read(t.Context(), nil, store.ReadLimit{Deltas: 1 << 30, Bytes: 1 << 30})
	must.Succeed(t, err)
	callers := map[string]uint64{}
	for _, row := range snap.Deltas {
		var d sketch.Delta
		must.Succeed(t, d.UnmarshalBinary(row.Body))
		for _, c := range d.Callers {
			for _, e := range c.Writers.Entries {
				callers[c.Table+" "+e.Text] += e.Weight
			}
		}
	}
	return callers
}

const (
	inProtobuf = "application/x-protobuf"
	inJSON     = "application/json"
)

// TestSpansBecomeCounts sends spans to a collector: the ones with keys become load, the others
// name their callers alone, and repeated ones count once.
func TestSpansBecomeCounts(t *testing.T) {
	t.Parallel()
	st := openStore(t, pgtest.Quick(t))
	d := openDoor(t, st, "one", push.Config{MaxBatch: 1 << 20})
	asJSON := func(data *tracepb.TracesData) string {
		message, err := protojson.Marshal(data)
		must.Succeed(t, err)
		return "\n " + string(message)
	}
	first := protobuf(t, spans("web", "first", "a", "a", "", ""))
	inPart := spans("web", "part", "a", "b")
	inPart.ResourceSpans[0].ScopeSpans[0].Spans[0].Name = "GET /"
	inPart.ResourceSpans[0].ScopeSpans[0].Spans[0].Attributes = nil
	var want int64
	for _, s := range []struct {
		name, body, kind string
		headers          []string
		counted          int64
		rejected         uint64
	}{
		{"spans with and without keys", first, inProtobuf, nil, 2, 0},
		{"the same again", first, inProtobuf, nil, 0, 0},
		{"the same again, compressed", zipped(t, first), inProtobuf, []string{"Content-Encoding", "gzip"}, 0, 0},
		{"gzip", zipped(t, protobuf(t, spans("web", "gzip", "a"))), inProtobuf, []string{"Content-Encoding", "gzip"}, 1, 0},
		{"JSON", asJSON(spans("app", "json", "a", "b", "c", "")), inJSON, nil, 3, 0},
		{"JSON in gzip", zipped(t, asJSON(spans("app", "json-gzip", "a"))), inJSON + "; charset=utf-8", []string{"Content-Encoding", "gzip"}, 1, 0},
		{"spans of another service among them", protobuf(t, inPart), inProtobuf, nil, 1, 1},
		{"nothing", "", inProtobuf, nil, 0, 0},
		{"nothing in JSON", "{}", inJSON, nil, 0, 0},
	} {
		status, kind, answer, _, err := export(t.Context(), d.traces, s.body, s.kind, s.headers...)
		if err != nil || status != 200 || kind != strings.TrimSuffix(s.kind, "; charset=utf-8") {
			t.Fatalf("%s: %d %s %q %v", s.name, status, kind, answer, err)
		}
		switch {
		case s.rejected > 0:
			_, partial := pair([]byte(answer))
			if n, why := pair([]byte(partial)); n != s.rejected || !strings.Contains(why, "not_dynamodb 1") {
				t.Errorf("%s: %d rejected: %q", s.name, n, why)
			}
		case kind == inJSON && answer != "{}", kind != inJSON && answer != "":
			t.Errorf("%s: the response is %q", s.name, answer)
		}
		want += s.counted
		if got := counted.Requests(t, st); got != want {
			t.Fatalf("%s: the store has %d samples, want %d", s.name, got, want)
		}
	}
	if got := callersIn(t, st); len(got) != 2 || got["orders web"] != 2000 || got["orders app"] != 1000 {
		t.Errorf("the callers without keys are %v", got)
	}
}

// TestRefusedSpans: each refusal is a google.rpc.Status in the encoding of the request.
func TestRefusedSpans(t *testing.T) {
	t.Parallel()
	st := openStore(t, pgtest.Quick(t))
	d := openDoor(t, st, "one", push.Config{MaxBatch: 1 << 20, RespondWithin: await.Limit})
	good := protobuf(t, spans("web", "good", "a"))
	refused := func(name, body, kind string, wantStatus int, wantCode uint64, retry bool, headers ...string) {
		t.Helper()
		status, contentType, answer, after, err := export(t.Context(), d.traces, body, kind, headers...)
		var code uint64
		var text string
		if kind == inJSON {
			fields := struct {
				Code    *uint64
				Message *string
			}{&code, &text}
			if err := json.Unmarshal([]byte(answer), &fields); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		} else {
			code, text = pair([]byte(answer))
		}
		if err != nil || status != wantStatus || code != wantCode || text == "" || (after != "") != retry || kind != "text/plain" && contentType != kind {
			t.Errorf("%s: %d %s, code %d %q, Retry-After %q, %v", name, status, contentType, code, text, after, err)
		}
	}
	refused("cut off", good[:len(good)-2], inProtobuf, 400, 3, false)
	refused("no JSON", "[]", inJSON, 400, 3, false)
	refused("JSON cut off", `{"resourceSpans":[`, inJSON, 400, 3, false)
	refused("protobuf as JSON", good, inJSON, 400, 3, false)
	refused("JSON as protobuf", `{"resourceSpans":[]}`, inProtobuf, 400, 3, false)
	refused("another type", good, "text/plain", 415, 3, false)
	refused("another compression", good, inProtobuf, 415, 3, false, "Content-Encoding", "br")
	refused("too large", strings.Repeat(" ", 1<<20+1), inJSON, 413, 3, false)
	d = openDoor(t, st, "two", push.Config{MaxWaiting: 1, RespondWithin: 300 * time.Millisecond})
	d.store.dead.Store(true)
	refused("the store is away", good, inProtobuf, 503, 14, true)
	refused("no place for another request", good, inProtobuf, 429, 8, true)
	d.store.dead.Store(false)
	if n := counted.Requests(t, st); n != 0 {
		t.Errorf("the store has %d samples", n)
	}
}

// TestCutAnswersCountOnce sends requests again whose answers are cut off, as exporters do.
func TestCutAnswersCountOnce(t *testing.T) {
	t.Parallel()
	st := openStore(t, pgtest.Quick(t))
	d := openDoor(t, st, "one", push.Config{})
	random := rand.New(rand.NewPCG(29, 1))
	const exports = 20
	for i := range exports {
		body := protobuf(t, spans("web", fmt.Sprint("export", i), "a", "b", "c"))
		for try := 0; ; try++ {
			patience := time.Duration(random.IntN(60)) * time.Millisecond
			if try == 5 {
				patience = await.Limit
			}
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			status, _, answer, _, err := export(ctx, d.traces, body, inProtobuf)
			cancel()
			if err == nil && status == 200 {
				break
			}
			if try == 5 {
				t.Fatalf("export %d: %d %q %v", i, status, answer, err)
			}
		}
	}
	if n := counted.Requests(t, st); n != 3*exports {
		t.Errorf("the store has %d samples, want %d", n, 3*exports)
	}
}
