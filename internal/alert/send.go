package alert

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/wording"
	"github.com/keyheat/keyheat/store"
)

// userAgent identifies Keyheat to receivers.
const userAgent = "keyheat-reporter"

// sender POSTs notifications.
type sender struct {
	url     string
	key     []byte
	timeout time.Duration
	pages   string // the address of the pages, without a slash at its end
	client  *http.Client
}

// response is what one attempt brought: an error when the receiver was not reached
// or did not respond, and otherwise its response.
type response struct {
	err        error
	status     int
	retryAfter string
}

func newSender(c Config) (*sender, error) {
	k, err := key(c.Secret)
	if err != nil {
		return nil, err
	}
	dialer := &net.Dialer{Timeout: c.Timeout, Control: refuseMetadata}
	return &sender{url: c.URL, key: k, timeout: c.Timeout, pages: strings.TrimSuffix(c.Pages, "/"), client: &http.Client{
		// No proxy: the address that is dialled has to be the receiver's own,
		// or its check proves nothing.
		Transport: &http.Transport{
			DialContext:            dialer.DialContext,
			ForceAttemptHTTP2:      true,
			MaxIdleConnsPerHost:    1,
			IdleConnTimeout:        time.Minute,
			MaxResponseHeaderBytes: maxResponse,
		},
		// A redirect could lead a signed message anywhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

func (s *sender) close() { s.client.CloseIdleConnections() }

func (s *sender) send(ctx context.Context, n store.Notification) response {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	request, err := s.request(ctx, n, time.Now())
	if err != nil {
		return response{err: err}
	}
	got, err := s.client.Do(request)
	if err != nil {
		return response{err: withoutURL(err)}
	}
	defer got.Body.Close()
	// Read on, so that the connection can be used again, but not for ever.
	if _, err := io.Copy(io.Discard, io.LimitReader(got.Body, maxResponse)); err != nil {
		return response{err: fmt.Errorf("read the response: %w", withoutURL(err))}
	}
	return response{
		status:     got.StatusCode,
		retryAfter: got.Header.Get("Retry-After"),
	}
}

func (s *sender) request(ctx context.Context, n store.Notification, now time.Time) (*http.Request, error) {
	body, err := json.Marshal(s.message(n))
	if err != nil {
		return nil, fmt.Errorf("write the message: %w", err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("make the request: %w", withoutURL(err))
	}
	at := strconv.FormatInt(now.Unix(), 10)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", userAgent)
	r.Header.Set("webhook-id", n.ID)
	r.Header.Set("webhook-timestamp", at)
	if s.key != nil {
		r.Header.Set("webhook-signature", "v1,"+sign(s.key, n.ID, at, body))
	}
	return r, nil
}

// message returns what is sent of a notification. Of a finding that cannot be read,
// as one of a later version, only the document is sent.
func (s *sender) message(n store.Notification) Message {
	m := Message{ID: n.ID, Event: n.Event, At: n.Created, Finding: n.Payload}
	page := "/findings/"
	if n.Event == store.EventReport {
		m.Finding, m.Report, page = nil, n.Payload, "/reports/"
	}
	if s.pages != "" {
		m.URL = s.pages + page + n.Fingerprint
	}
	if m.Report != nil {
		return m
	}
	f, err := detect.ReadFinding(n.Payload)
	if err != nil || f.Kind == "" {
		return m
	}
	m.Title, m.FirstFix = wording.Title(&f), f.FirstFix()
	return m
}

// sign is Standard Webhooks' symmetric signature, version 1.
func sign(key []byte, id, at string, body []byte) string {
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", id, at, body)
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// withoutURL takes the URL off an error: receivers put tokens into it.
func withoutURL(err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		return wrapped.Err
	}
	return err
}
