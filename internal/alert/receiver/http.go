package receiver

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"time"

	"github.com/keyheat/keyheat/internal/say/wording"
)

const (
	// userAgent identifies Keyheat to receivers.
	userAgent = "keyheat-reporter"
	// maxResponse is the most bytes to read of a receiver's answer.
	maxResponse = 64 << 10
	// dialTimeout bounds the making of a connection; the attempt as a whole has the
	// context's time.
	dialTimeout = 10 * time.Second
	// ownLog is the advice if nothing better is known.
	ownLog = "see its own log"
)

// dialer makes connections to receivers, and none to a cloud's metadata service.
func dialer() *net.Dialer { return &net.Dialer{Timeout: dialTimeout, Control: refuseMetadata} }

type object map[string]any

func dropEmpty[M ~map[string]V, V any](all M) M {
	maps.DeleteFunc(all, func(_ string, value V) bool { return any(value) == "" })
	return all
}

// client makes requests to one receiver. advice is the remedy for a rejection.
type client struct {
	http   *http.Client
	advice string
}

func newClient(advice string) client {
	return client{advice: advice, http: &http.Client{
		// No proxy: the dialled address has to be the receiver's own, or its check proves
		// nothing.
		Transport: &http.Transport{
			DialContext:            dialer().DialContext,
			ForceAttemptHTTP2:      true,
			MaxIdleConnsPerHost:    1,
			IdleConnTimeout:        time.Minute,
			MaxResponseHeaderBytes: maxResponse,
		},
		// A redirect could lead a signed message anywhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Close closes the idle connections.
func (c client) Close() { c.http.CloseIdleConnections() }

// post sends a value as JSON and returns the result, with the beginning of the receiver's
// answer. The answer must not reach an error, the log or the store.
func (c client) post(ctx context.Context, to string, value any, header http.Header) (Response, []byte) {
	return c.send(ctx, http.MethodPost, to, value, header)
}

func (c client) send(ctx context.Context, method, to string, value any, header http.Header) (Response, []byte) {
	body, err := json.Marshal(value)
	if err != nil {
		return Response{Err: fmt.Errorf("write the message: %w", err), Refused: true, Unsent: true}, nil
	}
	return c.sendBytes(ctx, method, to, neutralise(body), header)
}

// markup finds what begins a mention, a link, HTML or Markdown's emphasis in a chat. It leaves
// "_", which names of tables have, and "@" within a word, as in a mail's address.
var markup = regexp.MustCompile("(?i)[<*`~]|\\]\\(|://|\\bwww\\.|\\B@")

// inert returns text for a place whose reader may take it for markup, such as Slack's
// notification, or a template of Alertmanager that hands it on to a chat: what begins markup is
// an escape, as unprintable characters are.
func inert(text string) string {
	return markup.ReplaceAllStringFunc(text, func(found string) string { return fmt.Sprintf(`\x%02x%s`, found[0], found[1:]) })
}

// neutralise escapes characters in JSON that a terminal would obey.
func neutralise(body []byte) []byte { return []byte(wording.InertJSON(string(body))) }

func (c client) sendBytes(ctx context.Context, method, to string, body []byte, header http.Header) (Response, []byte) {
	r, err := http.NewRequestWithContext(ctx, method, to, bytes.NewReader(body))
	if err != nil {
		return Response{Err: fmt.Errorf("make the request: %w", stripURL(err)), Unsent: true}, nil
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", userAgent)
	for name, values := range header {
		r.Header[name] = values
	}
	got, err := c.http.Do(r)
	if err != nil {
		return Response{Err: failure(err), Silent: true, Unsent: failedToDial(err)}, nil
	}
	defer got.Body.Close()
	// The client reads on, within a bound, so that the connection can be used again. The
	// body does not change the status: a receiver that has accepted would get the message
	// again and again.
	answer, _ := io.ReadAll(io.LimitReader(got.Body, maxResponse))
	return c.responseOf(got), answer
}

func (c client) responseOf(got *http.Response) Response {
	if got.StatusCode >= 200 && got.StatusCode < 300 {
		return Response{}
	}
	refused := got.StatusCode < 500 && got.StatusCode != http.StatusRequestTimeout && got.StatusCode != http.StatusTooManyRequests
	advice := ownLog
	if refused {
		advice = c.advice
	}
	return Response{
		Err:     fmt.Errorf("the receiver returned %d %s: %s", got.StatusCode, http.StatusText(got.StatusCode), advice),
		Refused: refused, // a redirect counts, because it is not followed
		Unsent:  refused || got.StatusCode == http.StatusTooManyRequests,

		RetryAfter: got.Header.Get("Retry-After"),
	}
}

// errNoHTTP replaces net/http's errors about an unreadable answer: they repeat the
// answer.
var errNoHTTP = errors.New("the receiver's answer is not valid HTTP")

// failure returns the reason why a receiver was not reached, without the receiver's
// words.
func failure(err error) error {
	err = stripURL(err)
	_, connecting := errors.AsType[*net.OpError](err)
	_, naming := errors.AsType[*net.DNSError](err)
	_, certified := errors.AsType[*tls.CertificateVerificationError](err)
	_, encrypted := errors.AsType[tls.RecordHeaderError](err)
	timed, isNet := errors.AsType[net.Error](err)
	switch {
	case connecting, naming, certified, encrypted, isNet && timed.Timeout(),
		errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return err
	}
	return errNoHTTP
}

// stripURL takes the URL off an error: receivers put tokens into it.
func stripURL(err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		return wrapped.Err
	}
	return err
}

func failedToDial(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial"
}

// Ping posts an empty body to a URL, a sign of life for dead man's switches such as
// healthchecks.io.
type Ping struct {
	client
	url string
}

// NewPing returns a ping of a URL. It refuses the same addresses as receivers do.
func NewPing(to string) (*Ping, error) {
	if to == "" {
		return nil, errors.New("missing: give the URL to ping")
	}
	if err := checkURL(to); err != nil {
		return nil, err
	}
	return &Ping{client: newClient(ownLog), url: to}, nil
}

// Send makes one attempt. No error holds the URL, since it is a secret, or the answer.
func (p *Ping) Send(ctx context.Context) error {
	got, _ := p.sendBytes(ctx, http.MethodPost, p.url, nil, http.Header{"Content-Type": {"text/plain"}})
	return got.Err
}

// checkURL returns the fault of a URL; nil for none. The parser's error would repeat the
// URL.
func checkURL(text string) error {
	if text == "" {
		return nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return errors.New("not a URL to post to: write https://host/path")
	}
	return nil
}
