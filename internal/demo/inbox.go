package demo

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/alert"
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

	store *store.Store

	mu     sync.Mutex
	bodies map[string]string // by the ID of the notification
}

type arrived struct {
	*receiver.Notice
	// Body is the request's body, indented.
	Body string
}

func openInbox(ctx context.Context, st *store.Store, pages string) (*inbox, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the demo's notifications: %w", err)
	}
	return &inbox{listener: listener, path: "/" + rand.Text(), pages: pages, store: st, bodies: make(map[string]string)}, nil
}

func (in *inbox) route(st *store.Store, holder string, logger *slog.Logger) (*alert.Route, error) {
	return alert.New(alert.Config{
		Route: inboxRoute, Pages: in.pages, Poll: tick,
		Receiver: receiver.Settings{Type: receiver.Webhook, URL: "http://" + in.listener.Addr().String() + in.path},
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
	var message receiver.Message
	var indented bytes.Buffer
	if err := errors.Join(err, json.Unmarshal(body, &message), json.Indent(&indented, body, "", "  ")); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.bodies[message.ID] = indented.String()
}

// notices returns the notices that were delivered, the newest first.
func (in *inbox) notices(ctx context.Context) (all []arrived, err error) {
	delivered, err := in.store.RecentNotifications(ctx, store.NotificationQuery{Route: inboxRoute, State: store.Delivered, Limit: kept})
	if err != nil {
		return nil, err
	}
	in.mu.Lock()
	bodies := maps.Clone(in.bodies)
	in.mu.Unlock()
	for _, n := range delivered {
		named, err := in.store.FindingsByFingerprint(ctx, receiver.ListNamed(&n))
		if err != nil {
			return nil, err
		}
		all = append(all, arrived{receiver.NewNotice(n, in.pages, named), bodies[n.ID]})
	}
	return all, nil
}

// firstNotice returns the first notice of an event of a finding's incident after a time, among
// notices of which the newest is the first; nil where none has arrived, and while the time is
// not known.
func firstNotice(all []arrived, fingerprint string, e detect.Event, from time.Time) (first *arrived) {
	for i := range all {
		a := &all[i]
		if !from.IsZero() && slices.Contains(a.Incident.Findings, fingerprint) && a.Event == string(e) && a.At.After(from) {
			first = a
		}
	}
	return first
}
