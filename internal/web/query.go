package web

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/keyheat/keyheat/internal/incident/silence"
	"github.com/keyheat/keyheat/internal/partitions"
	"github.com/keyheat/keyheat/internal/web/address"
	"github.com/keyheat/keyheat/internal/web/manual"
	"github.com/keyheat/keyheat/internal/web/overview"
	"github.com/keyheat/keyheat/store"
)

// The values of filters.
var (
	states     = []string{"pending", "firing", "resolved"}
	severities = []string{"critical", "warning", "info"}
)

// missing is the error for something that is not stored, as a client reads it.
type missing string

func (m missing) Error() string { return string(m) }

const (
	errNoTable   missing = "no view of this table is stored yet"
	errNoReport  missing = "this report does not exist, or is no longer kept"
	errNoSilence missing = "no silence of this ID is pending or active"
)

var errNoJSON = errors.New("the body is no JSON")

type badRequest = address.BadRequest

func findingQuery(q url.Values) (store.FindingQuery, error) {
	f := store.FindingQuery{
		State: q.Get("state"), Severity: q.Get("severity"),
		Account: q.Get("account"), Region: q.Get("region"), Table: q.Get("table"), Case: q.Get("case"), Subject: q.Get("subject"),
	}
	for _, gone := range []string{"kind", "cause"} { // without an error, everything would be chosen
		if q.Has(gone) {
			return f, badRequest{Err: fmt.Errorf("%s does not exist any more: write case or subject", gone)}
		}
	}
	if err := address.OneOf("state", f.State, states); err != nil {
		return f, err
	}
	if err := address.OneOf("severity", f.Severity, severities); err != nil {
		return f, err
	}
	if err := cmp.Or(silence.CheckWord("case", f.Case), silence.CheckWord("subject", f.Subject)); err != nil {
		return f, badRequest{Err: err}
	}
	var err error
	f.Limit, err = address.ReadLimit(q)
	return f, err
}

// answerTo returns the HTTP status of an error and a message for the client. The
// store's own error is for the log.
func answerTo(err error) (code int, message string) {
	var bad badRequest
	var large *http.MaxBytesError
	var absent missing
	switch {
	case errors.As(err, &large):
		return http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is too large: send at most %d bytes", large.Limit)
	case errors.As(err, &bad):
		return http.StatusBadRequest, bad.Error()
	case errors.Is(err, manual.ErrNotFound):
		return http.StatusNotFound, "this version of Keyheat has no such document"
	case errors.Is(err, errNoJSON):
		return http.StatusUnsupportedMediaType, "send JSON, with Content-Type: application/json"
	case errors.As(err, &absent), errors.Is(err, partitions.ErrNoMap), errors.Is(err, errNoSeconds):
		return http.StatusNotFound, err.Error()
	case errors.Is(err, store.ErrTooManySilences):
		return http.StatusConflict, store.ErrTooManySilences.Error()
	case errors.Is(err, store.ErrNotFound):
		return http.StatusNotFound, "this finding does not exist, or is no longer kept"
	case errors.Is(err, store.ErrUnavailable):
		return http.StatusServiceUnavailable, "the database is unavailable: try again in a moment"
	}
	return http.StatusInternalServerError, "internal error: see the reporter's log"
}

type order struct{ Value, Word string }

var orders = []order{{overview.Worst, "worst first"}, {overview.Newest, "newest first"}, {overview.Table, "table"}, {overview.Key, "key"}}
