package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/internal/alert/receiver"
	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/daemon"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

func alertCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "alert",
		Short:   "Test the receivers",
		Example: "  reporter alert test --config reporter.yaml --receiver pagers",
	}
	test := &cobra.Command{
		Use:   "test",
		Short: "Send a test incident to receivers, and then its end",
		Long: "Puts a marked test incident into the outbox, waits until a running reporter has delivered\n" +
			"it, and then does the same with its end.",
		Example: "  reporter alert test --config reporter.yaml\n  reporter alert test --config reporter.yaml --receiver pagers --severity critical",
		Args:    cobra.NoArgs,
	}
	config := defaults()
	only := test.Flags().StringSlice("receiver", nil, "the `names` of the receivers; all when empty")
	severity := detect.Warning
	cli.Choice(test, &severity, "severity", "", "critical or warning", detect.Critical, detect.Warning)
	timeout := test.Flags().Duration("timeout", time.Minute, "how long to wait for the delivery")
	c.AddCommand(cli.WithConfig(test, config, func(c *cobra.Command) error {
		known := config.receiverNames()
		for _, name := range *only {
			if !slices.Contains(known, name) {
				return cli.Wrong(fmt.Errorf("--receiver %q: the configuration has %s", name, strings.Join(known, ", ")))
			}
		}
		if *only == nil {
			*only = known
		}
		if len(*only) == 0 {
			return cli.Wrong(errors.New("the configuration has no receivers: give some under receivers"))
		}
		return config.Store.Use(c.Context(), func(db *store.Store) error {
			return testAlert(c.Context(), db, *only, severity, config.DetectPolicy, *timeout, c.OutOrStdout())
		})
	}))
	return c
}

// testAlert sends a made-up incident, and its end, by the outbox. The end follows even if
// the beginning was not delivered in time: a late delivery must not leave a test open in
// a pager.
func testAlert(ctx context.Context, db *store.Store, to []string, severity detect.Severity, policy func(detect.Target) detect.Policy, timeout time.Duration, out io.Writer) error {
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	i, f := testIncident(severity, policy)
	put := func(event detect.Event) error {
		payload, err := testPayload(i, f, event)
		if err != nil {
			return err
		}
		for _, name := range to {
			err := db.PutNotification(context.WithoutCancel(ctx), store.Notification{
				ID: i.ID + "-" + string(event) + "-" + name, Fingerprint: f.Fingerprint, Incident: i.ID, Event: string(event), Route: name, Payload: payload,
			})
			if err != nil {
				return err
			}
		}
		return nil
	}
	if err := put(detect.EventFiring); err != nil {
		return err
	}
	told := awaitDelivery(limited, db, f.Fingerprint, detect.EventFiring, to, out)
	if err := errors.Join(told, put(detect.EventResolved)); err != nil {
		return err
	}
	return awaitDelivery(limited, db, f.Fingerprint, detect.EventResolved, to, out)
}

// awaitDelivery prints the progress of an event's notifications, until all are delivered
// or ctx ends.
func awaitDelivery(ctx context.Context, db *store.Store, fingerprint string, event detect.Event, to []string, out io.Writer) error {
	left := make(map[string]string) // by receiver, why it is not told yet
	for _, name := range to {
		left[name] = "nobody has tried: is a reporter running with this store and these receivers?"
	}
	for {
		all, err := db.Notifications(ctx, fingerprint)
		if err != nil && ctx.Err() == nil {
			return err
		}
		for _, n := range all {
			if why, waits := left[n.Route]; waits && n.Event == string(event) {
				switch {
				case n.State == store.Delivered:
					fmt.Fprintf(out, "%s: %s delivered\n", n.Route, event)
					delete(left, n.Route)
				case n.State == store.Dead, n.State == store.Cancelled:
					return fmt.Errorf("%s: %s %s: %s", n.Route, event, n.State, n.LastError)
				case n.LastError != "" && n.LastError != why:
					fmt.Fprintf(out, "%s: %s fails and is tried again: %s\n", n.Route, event, n.LastError)
					left[n.Route] = n.LastError
				}
			}
		}
		if len(left) == 0 {
			return nil
		}
		if ctx.Err() != nil {
			var lines strings.Builder
			for _, name := range slices.Sorted(maps.Keys(left)) {
				fmt.Fprintf(&lines, "\n  %s: %s", name, left[name])
			}
			return fmt.Errorf("%s was not delivered in time:%s", event, lines.String())
		}
		daemon.Pause(ctx, 200*time.Millisecond)
	}
}

// testIncident is an incident whose text marks it as a test.
func testIncident(severity detect.Severity, policy func(detect.Target) detect.Policy) (detect.Incident, detect.Finding) {
	now := time.Now().UTC().Truncate(time.Second)
	f := detect.NewFinding(detect.KeyWrites, detect.Target{Table: "keyheat-test"}, sample.Key{Text: "test-" + rand.Text()[:8], Type: "S"})
	f.Severity, f.State, f.FirstSeen, f.LastSeen = severity, detect.Firing, now, now
	peak := 1.5 * detect.Units(detect.Limit(detect.KeyWrites))
	f.Peak.WCU = detect.Figure{Value: peak, Low: peak, High: peak}
	f.Peak.At, f.Through = now, now
	f.Shards = 1
	f.Advice = []detect.Step{detect.NewStep(detect.FixKeepKey)}
	f.Case = casebook.Diagnose(&f)
	i := casebook.Incidents([]detect.Finding{f})[0]
	i.FiredAt, i.Labels, i.RunbookURL = &now, map[string]string{receiver.TestLabel: "true"}, policy(f.Target).Runbook(f.Case)
	return i, f
}

func testPayload(i detect.Incident, f detect.Finding, event detect.Event) ([]byte, error) {
	if event == detect.EventResolved {
		now := time.Now().UTC()
		i.State, i.ResolvedAt, f.State = detect.Resolved, &now, detect.Resolved
	}
	document, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	p, err := detect.NewPayload(&i, document)
	if err != nil {
		return nil, err
	}
	if event != detect.EventResolved {
		p.Recent = testLoad(&f)
	}
	return json.Marshal(p)
}

// testLoad is the load of a test's key: it rises for half of the time, to the peak.
func testLoad(f *detect.Finding) *detect.Recent {
	r := &detect.Recent{
		From: f.LastSeen.Add(-(detect.RecentSeconds - 1) * time.Second), Unit: "wcu",
		Limit: detect.Units(f.Limit()), Loads: make([]*float64, detect.RecentSeconds),
	}
	for i := range r.Loads {
		r.Loads[i] = new(f.Peak.WCU.Value * min(1, float64(i+1)/(detect.RecentSeconds/2)))
	}
	return r
}
