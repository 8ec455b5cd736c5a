// Package firehose delivers lines of a function's log to collectors as Amazon Data Firehose does. It
// is for tests only. Source: Amazon Data Firehose Developer Guide, "HTTP endpoint delivery request
// and response specifications".
package firehose

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/keyheat/keyheat/sample"
)

// recordEvents is the number of log events in a record.
const recordEvents = 500

// Stream sends each request again, under one id, until a response has the form that Firehose
// demands, to whichever collector is there.
type Stream struct {
	Collectors []string
	Client     *http.Client
	current    int
}

// Event is a line of a log, as CloudWatch Logs passes it on.
type Event struct {
	ID        string `json:"id"`
	Timestamp int64  `json:"timestamp"`
	Message   string `json:"message"`
}

// Write implements awssdk.Sink: each sample is an event.
func (s *Stream) Write(ctx context.Context, records []sample.Record) error {
	events := make([]Event, len(records))
	for i := range records {
		events[i] = Event{rand.Text(), records[i].Time, string(records[i].AppendJSON(nil))}
	}
	return s.Deliver(ctx, events)
}

// Deliver delivers events in one request, within five minutes.
func (s *Stream) Deliver(ctx context.Context, events []Event) error {
	id := rand.Text()
	body, err := bodyOf(id, events)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	for err = s.attempt(ctx, id, body); err != nil; err = s.attempt(ctx, id, body) {
		s.current++
		select {
		case <-ctx.Done():
			return err
		case <-time.After(200 * time.Millisecond):
		}
	}
	return nil
}

func bodyOf(id string, events []Event) ([]byte, error) {
	type record struct {
		Data []byte `json:"data"` // in base64
	}
	all := []record{}
	for from := 0; from < len(events); from += recordEvents {
		batch, err := json.Marshal(map[string]any{
			"messageType": "DATA_MESSAGE", "owner": "111122223333", "logGroup": "/aws/lambda/orders", "logStream": "2026/12/01/[$LATEST]0",
			"subscriptionFilters": []string{"keyheat"}, "logEvents": events[from:min(from+recordEvents, len(events))],
		})
		if err != nil {
			return nil, err
		}
		var zipped bytes.Buffer
		w := gzip.NewWriter(&zipped)
		_, failed := w.Write(batch)
		if err := errors.Join(failed, w.Close()); err != nil {
			return nil, err
		}
		all = append(all, record{zipped.Bytes()})
	}
	return json.Marshal(map[string]any{"requestId": id, "timestamp": time.Now().UnixMilli(), "records": all})
}

// ARN is the stream that [Request] names.
const ARN = "arn:aws:firehose:eu-west-1:111122223333:deliverystream/samples"

// Request returns a delivery with the headers that Firehose sends, without an access key. url is
// the endpoint's.
func Request(ctx context.Context, url, id string, body []byte) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "X-Amz-Firehose-Protocol-Version": "1.0", "X-Amz-Firehose-Request-Id": id, "X-Amz-Firehose-Source-Arn": ARN,
	} {
		r.Header.Set(name, value)
	}
	return r, nil
}

func (s *Stream) attempt(ctx context.Context, id string, body []byte) error {
	r, err := Request(ctx, s.Collectors[s.current%len(s.Collectors)]+"/v1/firehose", id, body)
	if err != nil {
		return err
	}
	response, err := s.Client.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	var receipt struct{ RequestID, ErrorMessage string }
	if err := json.NewDecoder(response.Body).Decode(&receipt); err != nil || response.StatusCode != http.StatusOK || receipt.RequestID != id {
		return fmt.Errorf("%s, %q: %w", response.Status, receipt.ErrorMessage, err)
	}
	return nil
}
