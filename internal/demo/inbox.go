package demo

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/alert"
	"github.com/keyheat/keyheat/internal/alert/notify"
	"github.com/keyheat/keyheat/internal/alert/receiver"
	"github.com/keyheat/keyheat/store"
)

const (
	// inboxRoute is the route of the outbox that goes to the inbox.
	inboxRoute = "inbox"
	// kept is how many notifications the inbox has at most.
	kept = 20
	// maxNotification bounds the bytes of one notification.
	maxNotification = 1 << 20
	inboxTimeout    = 5 * time.Second
)

// inbox is on-call's telephone: a webhook receiver at a loopback address of its own,
// which gets notifications over HTTP like any other.
type inbox struct {
	listener net.Listener
	// path is one that nobody else knows.
	path string
	// pages is the address of the pages, for links.
	pages string

	mu  sync.Mutex
	all []arrived
}

// arrived is a notification that has arrived.
type arrived struct {
	*notify.Notice
	// Received is when; zero of one that arrived before the demo was started again.
	Received time.Time
	// Body is the request's body, to read.
	Body string
}

// openInbox listens, and restores the deliveries to an inbox of the same database.
func openInbox(ctx context.Context, st *store.Store, pages string) (*inbox, error) {
	earlier, err := st.RecentNotifications(ctx, store.NotificationQuery{Route: inboxRoute, State: store.Delivered, Limit: kept})
	if err != nil {
		return nil, err
	}
	var all []arrived
	for _, n := range slices.Backward(earlier) {
		named, err := st.FindingsByFingerprint(ctx, notify.ListNamed(&n))
		if err != nil {
			return nil, err
		}
		all = append(all, arrived{Notice: notify.NewNotice(n, pages, named)})
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the demo's notifications: %w", err)
	}
	return &inbox{listener: listener, path: "/" + rand.Text(), pages: pages, all: all}, nil
}

// route returns the route that delivers to the inbox.
func (in *inbox) route(st *store.Store, holder string, logger *slog.Logger) (*alert.Route, error) {
	return alert.New(alert.Config{
		Route: inboxRoute, Pages: in.pages, Poll: tick,
		Receiver: notify.Settings{Type: notify.Webhook, URL: "http://" + in.listener.Addr().String() + in.path},
	}, st, holder, logger)
}

// Run receives until ctx ends.
func (in *inbox) Run(ctx context.Context) error {
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+in.path, in.receive)
	server := &http.Server{Handler: mux, ReadTimeout: inboxTimeout, WriteTimeout: inboxTimeout}
	served := make(chan error, 1)
	go func() { served <- server.Serve(in.listener) }()
	select {
	case err := <-served:
		return fmt.Errorf("receive the demo's notifications: %w", err)
	case <-ctx.Done():
		return server.Close()
	}
}

// Close stops listening; for an inbox that will not run.
func (in *inbox) Close() error { return in.listener.Close() }

func (in *inbox) receive(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxNotification))
	if err == nil {
		err = in.add(body, time.Now())
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
}

// add takes the body of a webhook; one that came already is taken once.
func (in *inbox) add(body []byte, at time.Time) error {
	var m receiver.Message
	if err := json.Unmarshal(body, &m); err != nil {
		return err
	}
	var finding struct{ Fingerprint string }
	if err := json.Unmarshal(m.Finding, &finding); err != nil || m.ID == "" {
		return errors.Join(errors.New("not a notification of a finding"), err)
	}
	payload, err := json.Marshal(detect.Payload{Incident: m.Incident, Finding: m.Finding, Recent: m.Recent})
	if err != nil {
		return err
	}
	n := notify.NewNotice(store.Notification{ID: m.ID, Event: m.Event, Created: m.At, Fingerprint: finding.Fingerprint, Payload: payload}, in.pages, nil)
	n.Related, n.Members = m.Related, m.Members
	indented, err := json.MarshalIndent(json.RawMessage(body), "", "  ")
	if err != nil {
		return err
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if slices.ContainsFunc(in.all, func(a arrived) bool { return a.ID == m.ID }) {
		return nil
	}
	in.all = append(in.all, arrived{n, at, string(indented)})
	if len(in.all) > kept {
		in.all = slices.Delete(in.all, 0, 1)
	}
	return nil
}

// notices returns the received notices, the newest first.
func (in *inbox) notices() []arrived {
	in.mu.Lock()
	defer in.mu.Unlock()
	all := slices.Clone(in.all)
	slices.Reverse(all)
	return all
}

// first returns the first notification of an event of a finding's incident after a time;
// nil where none has arrived, and while the time is not known.
func (in *inbox) first(fingerprint string, e detect.Event, from time.Time) *arrived {
	if from.IsZero() {
		return nil
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	for i := range in.all {
		a := in.all[i]
		if slices.Contains(a.Incident.Findings, fingerprint) && a.Event == string(e) && a.At.After(from) {
			return &a
		}
	}
	return nil
}
