package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/store"
)

// TestListedNotificationsSayWhatTheyAreOf: an incident, without what the message says.
func TestListedNotificationsSayWhatTheyAreOf(t *testing.T) {
	t.Parallel()
	all := []store.Notification{
		{ID: "a", Incident: "h", Route: "chat", Event: "updated", State: store.Pending, Payload: []byte(`{"finding":{"key":"secret"}}`)},
		{ID: "b", Incident: "i", Route: "chat", Event: "firing", State: store.Delivered, Payload: []byte(`{"incident":{},"finding":{}}`)},
		{ID: "c", Route: "chat", Event: store.EventReport, State: store.Delivered, Payload: []byte(`{}`)},
	}
	for format, want := range map[cli.Format][]string{
		cli.Table: {"updated +pending +0 +a", "firing +delivered +0 +b", "report +delivered +0 +c"},
		cli.JSON:  {`"incident": "h",\s+"state": "pending"`, `"incident": "i",\s+"state": "delivered"`},
	} {
		var out strings.Builder
		must.Succeed(t, writeNotifications(&out, all, format))
		for _, w := range want {
			if !regexp.MustCompile(w).MatchString(out.String()) || strings.Contains(out.String(), "secret") {
				t.Errorf("%s has no %s: %s", format, w, out.String())
			}
		}
	}
}
