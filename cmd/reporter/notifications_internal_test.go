package main

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/store"
)

// TestListedNotificationsSayWhatTheyAreOf: one incident, or those of a group, without what
// the message says.
func TestListedNotificationsSayWhatTheyAreOf(t *testing.T) {
	t.Parallel()
	payload, err := json.Marshal(detect.Payload{Finding: json.RawMessage(`{"key":"secret"}`), Group: &detect.Group{
		InGroup: detect.InGroup{Labels: map[string]string{"table": "orders"}}, Firing: 3, Over: 1, Members: []detect.GroupMember{{Incident: "secret"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	all := []store.Notification{
		{ID: "a", Incident: "g", Route: "chat", Event: "updated", State: store.Pending, Payload: payload},
		{ID: "b", Incident: "i", Route: "chat", Event: "firing", State: store.Delivered, Payload: []byte(`{"incident":{},"finding":{}}`)},
		{ID: "c", Route: "chat", Event: store.EventReport, State: store.Delivered, Payload: []byte(`{}`)},
	}
	for format, want := range map[cli.Format][]string{
		cli.Table: {"updated +pending +0 +4 of table=\"orders\" +a", "firing +delivered +0 +1 +b", "report +delivered +0 +c"},
		cli.JSON:  {`"incident": "g",\s+"group": {\s+"labels": {\s+"table": "orders"\s+},\s+"incidents": 4`, `"incident": "i",\s+"group": null`},
	} {
		var out strings.Builder
		if err := writeNotifications(&out, all, format); err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !regexp.MustCompile(w).MatchString(out.String()) || strings.Contains(out.String(), "secret") {
				t.Errorf("%s has no %s: %s", format, w, out.String())
			}
		}
	}
}
