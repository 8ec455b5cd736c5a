package push

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/sample"
)

type response struct {
	status     int
	retryAfter time.Duration // 0 for none
	body       body
}

// body is a response's JSON.
type body struct {
	Error string `json:"error,omitempty"`
	// Next is the number of the batch that is expected, after a conflict.
	Next int64 `json:"next,omitempty"`
	// Delivery is exactly_once or at_least_once.
	Delivery string `json:"delivery,omitempty"`
	// Duplicate: the batch had been counted before.
	Duplicate bool `json:"duplicate,omitempty"`
	// Counted and Rejected are the batch's samples. A rejected one is not worth a retry.
	// callerOnly is how many of Counted have no key.
	Counted    *int64 `json:"counted,omitempty"`
	callerOnly int64
	Rejected   map[sample.RejectReason]int64 `json:"rejected,omitempty"`
	// RefusedTables counts the samples of tables that the collector has no room for, by the hash of
	// the table's name, and Remedy is what helps.
	RefusedTables map[string]int64 `json:"refused_tables,omitempty"`
	Remedy        string           `json:"remedy,omitempty"`
}

const exactlyOnce, atLeastOnce = "exactly_once", "at_least_once"

func confirm(o source.Outcome, delivery string) response {
	return response{status: http.StatusOK, body: body{
		Delivery: delivery, Counted: &o.Counted, callerOnly: o.CallerOnly, Rejected: o.Rejected, RefusedTables: o.RefusedTables, Remedy: o.Remedy,
	}}
}

// refuseTables asks a producer to send a batch again later, because there is no room for any of its
// tables.
func refuseTables(o source.Outcome) response {
	r := busy("there is no room for the tables of this batch: " + o.Remedy)
	r.retryAfter = 10 * time.Second
	r.body.RefusedTables, r.body.Remedy = o.RefusedTables, o.Remedy
	return r
}

func duplicate() response {
	return response{status: http.StatusOK, body: body{Delivery: exactlyOnce, Duplicate: true}}
}

func refuse(status int, text string) *response {
	return &response{status: status, body: body{Error: text}}
}

func conflict(next int64) response {
	return response{status: http.StatusConflict, body: body{
		Error: "this is neither the next batch nor the newest one again: take a new Keyheat-Producer and begin at 1", Next: next,
	}}
}

// busy and unavailable ask the producer to send the same batch again.
func busy(text string) response {
	return response{status: http.StatusTooManyRequests, retryAfter: time.Second, body: body{Error: text}}
}

func unavailable(text string) response {
	return response{status: http.StatusServiceUnavailable, retryAfter: time.Second, body: body{Error: text + ": send it again"}}
}

func (r response) write(w http.ResponseWriter) {
	r.writeHeader(w, typeJSON)
	_ = json.NewEncoder(w).Encode(r.body) // a client that left sends the batch again
}

func (r response) writeHeader(w http.ResponseWriter, contentType string) {
	w.Header().Set("Content-Type", contentType)
	if r.retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(r.retryAfter.Seconds())))
	}
	w.WriteHeader(r.status)
}
