// Package httpsink sends the records of package awssdk to collectors over HTTP, without Kafka:
//
//	sink := httpsink.New(httpsink.Options{Collectors: []string{"http://collector:9461"}})
//	sampler, err := awssdk.Instrument(&cfg, awssdk.Options{Sink: sink})
//	…
//	sampler.Close(ctx)
//
// A batch is counted once, however often it is sent: the sink numbers its batches, sends one at
// a time, and repeats it under its number until a collector has stored it. Each sink has a
// random name, so that a process that starts again is another producer.
//
// The sink keeps one batch. Meanwhile the sampler collects records within its own bound, and
// counts dropped ones in awssdk.Stats. A batch is dropped when no collector stores it within
// Options.RetryFor. The next batch tells its collector what was dropped, which records a gap.
package httpsink

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/samplepb"
)

// DefaultRetryFor is the default of Options.RetryFor. Collectors reject samples that are older
// than ten minutes.
const DefaultRetryFor = 5 * time.Minute

// DefaultCollector is the default of Options.Collectors: a collector on this machine.
const DefaultCollector = "http://127.0.0.1:9461"

// Options configure a Sink. A zero field takes its default.
type Options struct {
	// Collectors are the URLs of collectors of one store, such as
	// https://user:password@collector:9461. The sink turns to the next one when one fails.
	Collectors []string
	// Client carries client certificates and proxies; nil is http.DefaultClient.
	Client *http.Client
	// RetryFor is how long a batch is sent again before it is dropped.
	RetryFor time.Duration
	// ShortLived says that this process soon ends or freezes, such as a function's: collectors have
	// room for many such producers, and forget them earlier. It is set on AWS Lambda.
	ShortLived bool
	// OnError, if set, is called with each failed attempt. Its error has no password.
	OnError func(error)
}

// The most records and bytes of a batch, which is below the collector's limit of 4 MiB.
const (
	batchRecords = 20_000
	batchBytes   = 3_000_000
)

// An attempt takes longer than a collector waits for its commit. Pauses between attempts grow
// from the first to the longest.
const (
	attemptTimeout = 35 * time.Second
	firstPause     = 200 * time.Millisecond
	longestPause   = 5 * time.Second
)

// Sink sends to one of several collectors. It implements awssdk.Sink.
type Sink struct {
	options Options
	encoder *samplepb.Encoder
	current int
	// producer is the sink's name, and sequence the number of its next batch.
	producer string
	sequence int64
	// lost is what was dropped, and no collector was told of.
	lost loss
}

// loss counts dropped requests, and bounds their times.
type loss struct {
	n            int64
	since, until time.Time
}

// Lose counts dropped requests between two times. It implements awssdk.LossSink.
func (s *Sink) Lose(n int64, since, until time.Time) {
	if s.lost.n == 0 || since.Before(s.lost.since) {
		s.lost.since = since
	}
	if until.After(s.lost.until) {
		s.lost.until = until
	}
	s.lost.n += n
}

func (s *Sink) loseAll(records []sample.Record) {
	for i := range records {
		at := time.UnixMilli(records[i].Time)
		s.Lose(records[i].N, at, at)
	}
}

// New returns a sink. The first Write connects.
func New(o Options) *Sink {
	o.Client = cmp.Or(o.Client, http.DefaultClient)
	if len(o.Collectors) == 0 {
		o.Collectors = []string{DefaultCollector}
	}
	o.RetryFor = cmp.Or(o.RetryFor, DefaultRetryFor)
	o.ShortLived = o.ShortLived || os.Getenv("AWS_LAMBDA_FUNCTION_NAME") != ""
	s := &Sink{options: o, encoder: samplepb.NewEncoder()}
	s.rename()
	return s
}

// rename makes the sink another producer.
func (s *Sink) rename() { s.producer, s.sequence = rand.Text(), 1 }

// Write sends the records, and returns when a collector has stored all of them.
func (s *Sink) Write(ctx context.Context, records []sample.Record) error {
	for len(records) > 0 {
		batch, rest := samplepb.CutBatch(records, batchRecords, batchBytes)
		if err := s.writeBatch(ctx, batch); err != nil {
			s.loseAll(records)
			return err
		}
		records = rest
	}
	return nil
}

func (s *Sink) writeBatch(ctx context.Context, batch []sample.Record) error {
	var body bytes.Buffer
	w := gzip.NewWriter(&body)
	if _, err := w.Write(s.encoder.Append(nil, batch)); err != nil {
		return fmt.Errorf("compress samples: %w", err)
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("compress samples: %w", err)
	}
	if err := s.deliver(ctx, body.Bytes()); err != nil {
		return fmt.Errorf("send samples: %w", err)
	}
	s.lost = loss{}
	return nil
}

// deliver sends a batch until it is stored, refused, or its time is over.
func (s *Sink) deliver(ctx context.Context, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, s.options.RetryFor)
	defer cancel()
	pause := firstPause
	for {
		stored, after, err := s.attempt(ctx, body)
		if stored {
			s.sequence++
			return nil
		}
		if s.options.OnError != nil {
			s.options.OnError(err)
		}
		if after < 0 {
			return err
		}
		wait(ctx, max(pause, after))
		if ctx.Err() != nil {
			s.rename() // the batch may be stored: its number must not be used for another one
			return err
		}
		pause = min(2*pause, longestPause)
	}
}

func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// never as the time of the next attempt means that the batch is refused.
const never = -1

// attempt sends a batch once. It reports whether the batch is stored, and otherwise after which
// time another attempt is welcome.
func (s *Sink) attempt(ctx context.Context, body []byte) (stored bool, after time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	to := strings.TrimSuffix(s.options.Collectors[s.current%len(s.options.Collectors)], "/") + "/v1/samples"
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return false, never, err
	}
	for name, value := range map[string]string{
		"Content-Type": "application/x-protobuf", "Content-Encoding": "gzip",
		"Keyheat-Producer": s.producer, "Keyheat-Sequence": strconv.FormatInt(s.sequence, 10),
	} {
		request.Header.Set(name, value)
	}
	if s.options.ShortLived {
		request.Header.Set("Keyheat-Producer-Life", "short")
	}
	if l := s.lost; l.n > 0 {
		request.Header.Set("Keyheat-Dropped", fmt.Sprintf("%d %d %d", l.n, l.since.UnixMilli(), l.until.UnixMilli()))
	}
	response, err := s.options.Client.Do(request)
	if err != nil {
		s.current++
		return false, 0, err
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(response.Body, 1<<10)) // the status says enough
	err = fmt.Errorf("%s: %s: %s", request.URL.Redacted(), response.Status, bytes.TrimSpace(text))
	seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
	switch code := response.StatusCode; {
	case code == http.StatusOK:
		return true, 0, nil
	case code == http.StatusConflict:
		s.rename()
	case slices.Contains([]int{http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType}, code):
		return false, never, err
	default:
		s.current++
	}
	return false, time.Duration(min(max(seconds, 0), 60)) * time.Second, err
}
