//go:build e2e

package e2e_test

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

// deliveryStream delivers samples as Amazon Data Firehose delivers lines of a function's log: in
// records of CloudWatch Logs, again and again under one id until a response has the form that it
// demands, to whichever collector is there.
type deliveryStream struct {
	collectors []string
	client     *http.Client
	current    int
}

// Write implements awssdk.Sink.
func (s *deliveryStream) Write(ctx context.Context, records []sample.Record) error {
	id := rand.Text()
	body, err := requestOf(id, records)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	for s.attempt(ctx, id, body) != nil {
		s.current++
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
	return nil
}

// requestOf returns a request with an event a sample, 500 a record.
func requestOf(id string, records []sample.Record) ([]byte, error) {
	type event struct {
		ID        string `json:"id"`
		Timestamp int64  `json:"timestamp"`
		Message   string `json:"message"`
	}
	type record struct {
		Data []byte `json:"data"`
	}
	var all []record
	for from := 0; from < len(records); from += 500 {
		var events []event
		for i := from; i < min(from+500, len(records)); i++ {
			events = append(events, event{fmt.Sprint(id, i), records[i].Time, string(records[i].AppendJSON(nil))})
		}
		batch, err := json.Marshal(map[string]any{"messageType": "DATA_MESSAGE", "owner": "111122223333", "logGroup": "/aws/lambda/orders", "logStream": "s", "logEvents": events})
		if err != nil {
			return nil, err
		}
		var zipped bytes.Buffer
		w := gzip.NewWriter(&zipped)
		_, failed := w.Write(batch)
		if err := errors.Join(failed, w.Close()); err != nil {
			return nil, err
		}
		all = append(all, record{zipped.Bytes()}) // JSON writes it in base64
	}
	return json.Marshal(map[string]any{"requestId": id, "timestamp": time.Now().UnixMilli(), "records": all})
}

func (s *deliveryStream) attempt(ctx context.Context, id string, body []byte) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.collectors[s.current%len(s.collectors)]+"/v1/firehose", bytes.NewReader(body))
	if err != nil {
		return err
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "X-Amz-Firehose-Protocol-Version": "1.0", "X-Amz-Firehose-Request-Id": id,
		"X-Amz-Firehose-Source-Arn": "arn:aws:firehose:eu-west-1:111122223333:deliverystream/samples",
	} {
		r.Header.Set(name, value)
	}
	response, err := s.client.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	var receipt struct{ RequestID string }
	if err := json.NewDecoder(response.Body).Decode(&receipt); err != nil || response.StatusCode != http.StatusOK || receipt.RequestID != id {
		return fmt.Errorf("the response is %s for %q: %w", response.Status, receipt.RequestID, err)
	}
	return nil
}
