package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/cli/terminal"
	"github.com/keyheat/keyheat/internal/settings/options"
	"github.com/keyheat/keyheat/store"
)

func notifications() *cobra.Command {
	c := &cobra.Command{
		Use:     "notifications",
		Short:   "List sent and waiting notifications, and retry failed ones",
		Example: "  reporter notifications list --store-url sqlite:keyheat.db --state dead\n  reporter notifications retry --store-url sqlite:keyheat.db ID",
	}
	c.AddCommand(listNotifications(), retryNotification())
	return c
}

func listNotifications() *cobra.Command {
	c := &cobra.Command{
		Use: "list", Short: "List notifications, the newest first", Args: cobra.NoArgs,
		Example: "  reporter notifications list --store-url sqlite:keyheat.db --state pending",
	}
	var q store.NotificationQuery
	c.Flags().StringVar(&q.Route, "receiver", "", "the `name` of a receiver; all when empty")
	states := []string{store.Pending, store.Delivered, store.Dead, store.Cancelled, store.Summarised}
	var config *Config
	config = list(c, states, &q.State, &q.Limit, func(ctx context.Context, db *store.Store, out io.Writer, f cli.Format) error {
		all, err := db.RecentNotifications(ctx, q)
		if err == nil && len(all) == 0 {
			err = config.checkReceiver(ctx, db, q.Route)
		}
		if err != nil {
			return err
		}
		return writeNotifications(out, all, f)
	})
	return c
}

// checkReceiver returns an error, with the nearest name, for a receiver that neither the settings
// nor the database has: none of its messages would be dead.
func (c *Config) checkReceiver(ctx context.Context, db *store.Store, name string) error {
	stored, err := db.Receivers(ctx)
	if err != nil {
		return err
	}
	known := c.receiverNames()
	for _, r := range stored {
		known = append(known, r.Route)
	}
	if name == "" || len(known) == 0 || slices.Contains(known, name) {
		return nil
	}
	return cli.Wrong(fmt.Errorf("--receiver: there is no receiver %q%s", name, options.Suggest(name, known)))
}

// listed is one notification in a list, without its text, which may hold keys.
type listed struct {
	ID          string    `json:"id"`
	Receiver    string    `json:"receiver"`
	Event       string    `json:"event"`
	Incident    string    `json:"incident"`
	State       string    `json:"state"`
	Created     time.Time `json:"created"`
	NextAttempt time.Time `json:"next_attempt"`
	Attempts    int       `json:"attempts"`
	LastError   string    `json:"last_error"`
}

func writeNotifications(out io.Writer, all []store.Notification, f cli.Format) error {
	rows := make([]listed, len(all))
	for i, n := range all {
		rows[i] = listed{n.ID, n.Route, n.Event, n.Incident, n.State, n.Created, n.NextAttempt, n.Attempts, n.LastError}
	}
	columns := []terminal.Column{
		{Name: "created", Spare: 1}, {Name: "receiver"}, {Name: "event"}, {Name: "state"}, {Name: "failed", Right: true},
		{Name: "id"}, {Name: "last error", Least: 20},
	}
	return cli.WriteList(out, rows, f, "notifications", columns, func(r listed) []string {
		return []string{r.Created.UTC().Format(cli.InSeconds), r.Receiver, r.Event, r.State, fmt.Sprint(r.Attempts), r.ID, r.LastError}
	})
}

func retryNotification() *cobra.Command {
	c := &cobra.Command{Use: "retry ID...", Short: "Retry dead or waiting notifications at once", Example: "  reporter notifications retry --store-url sqlite:keyheat.db 3f2a…"}
	return forEachID(c, "due", "no notification %s is dead or waits: reporter notifications list shows them",
		func(ctx context.Context, db *store.Store, id string) error { return db.RetryNotification(ctx, id) })
}
