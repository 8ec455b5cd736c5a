package demo

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/alert"
	"github.com/keyheat/keyheat/internal/alert/receiver"
	"github.com/keyheat/keyheat/store"
)

const (
	// inboxRoute is the route of the outbox that goes to the inbox.
	inboxRoute = "inbox"
	// kept is how many notifications the page shows at most.
	kept         = 20
	inboxTimeout = 5 * time.Second
)

// inbox is on-call's telephone: a webhook receiver at a loopback address of its own,
// which gets notifications over HTTP like any other. The store knows which were delivered.
type inbox struct {
	listener net.Listener
	// path is one that nobody else knows.
	path string
	// pages is the address of the pages, for links.
	pages string
	store *store.Store
}

func openInbox(ctx context.Context, st *store.Store, pages string) (*inbox, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the demo's notifications: %w", err)
	}
	return &inbox{listener: listener, path: "/" + rand.Text(), pages: pages, store: st}, nil
}

func (in *inbox) route(holder string, logger *slog.Logger) (*alert.Route, error) {
	return alert.New(alert.Config{
		Route: inboxRoute, Pages: in.pages, Poll: tick,
		Receiver: receiver.Settings{Type: receiver.Webhook, URL: "http://" + in.listener.Addr().String() + in.path},
	}, in.store, holder, logger)
}

// Run receives until ctx ends.
func (in *inbox) Run(ctx context.Context) error {
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+in.path, func(http.ResponseWriter, *http.Request) {})
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

// notices returns the notices that were delivered, the newest first.
func (in *inbox) notices(ctx context.Context) (all []*receiver.Notice, err error) {
	delivered, err := in.store.RecentNotifications(ctx, store.NotificationQuery{Route: inboxRoute, State: store.Delivered, Limit: kept})
	if err != nil {
		return nil, err
	}
	for _, n := range delivered {
		named, err := in.store.FindingsByFingerprint(ctx, receiver.ListNamed(&n))
		if err != nil {
			return nil, err
		}
		all = append(all, receiver.NewNotice(n, in.pages, named))
	}
	return all, nil
}

// firstNotice returns the first notice of an event of a finding's incident after a time, among
// notices of which the newest is the first; nil where none has arrived, and while the time is
// not known.
func firstNotice(all []*receiver.Notice, fingerprint string, e detect.Event, from time.Time) (first *receiver.Notice) {
	for _, n := range all {
		if !from.IsZero() && slices.Contains(n.Incident.Findings, fingerprint) && n.Event == string(e) && n.At.After(from) {
			first = n
		}
	}
	return first
}
