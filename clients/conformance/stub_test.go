package conformance_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// stub is the DynamoDB of all clients. It answers a call with the table's answers, one after
// another, of which the last repeats. A call without answers goes on to an emulator.
type stub struct {
	*httptest.Server
	emulator string

	mu      sync.Mutex
	answers []answer
}

func newStub(t *testing.T, emulator string) *stub {
	t.Helper()
	s := &stub{emulator: emulator}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *stub) arm(answers []answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers = answers
}

// next returns the answer to a request, or false for one of the emulator's.
func (s *stub) next() (answer, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.answers) == 0 {
		return answer{}, false
	}
	a := s.answers[0]
	if len(s.answers) > 1 {
		s.answers = s.answers[1:]
	}
	return a, true
}

func (s *stub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	a, canned := s.next()
	switch {
	case !canned:
		s.forward(w, r, body)
	case a.Hangup:
		panic(http.ErrAbortHandler)
	default:
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		if a.Status != 0 {
			w.WriteHeader(a.Status)
		}
		_, _ = w.Write(withoutUnasked(a.Body, body)) // a client that is gone fails by itself
	}
}

// withoutUnasked removes the capacity from an answer, as DynamoDB does, unless the request asks
// for it.
func withoutUnasked(body, request []byte) []byte {
	var in struct{ ReturnConsumedCapacity string }
	var out map[string]json.RawMessage
	if json.Unmarshal(request, &in) != nil || json.Unmarshal(body, &out) != nil || in.ReturnConsumedCapacity != "" {
		return body
	}
	delete(out, "ConsumedCapacity")
	body, _ = json.Marshal(out) // it came out of JSON
	return body
}

func (s *stub) forward(w http.ResponseWriter, r *http.Request, body []byte) {
	request, err := http.NewRequestWithContext(r.Context(), r.Method, s.emulator, bytes.NewReader(body))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	request.Header = r.Header.Clone()
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer response.Body.Close()
	w.Header().Set("Content-Type", response.Header.Get("Content-Type"))
	w.WriteHeader(response.StatusCode)
	_, _ = io.Copy(w, response.Body)
}
