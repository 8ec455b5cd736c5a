package main

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/alert/receiver"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/store"
)

// TestATestIsOfADocumentedForm: a program that takes what reporter alert test sends takes
// what a real incident is told in.
func TestATestIsOfADocumentedForm(t *testing.T) {
	t.Parallel()
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	schema, err := compiler.Compile("../../docs/findings.schema.json#/$defs/message")
	must.Succeed(t, err)
	arrived := make(chan struct{}, 2)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		document, err := jsonschema.UnmarshalJSON(r.Body)
		if err == nil {
			err = schema.Validate(document)
		}
		if err != nil {
			t.Error(err)
		}
		arrived <- struct{}{}
	}))
	t.Cleanup(server.Close)
	hook, err := receiver.New(receiver.Settings{Type: receiver.Webhook, URL: server.URL})
	must.Succeed(t, err)
	i, f := testIncident(detect.Critical, func(detect.Target) detect.Policy {
		return detect.Policy{RunbookURL: "https://wiki.example.com/{case}"}
	})
	for _, event := range []detect.Event{detect.EventFiring, detect.EventResolved} {
		payload, err := testPayload(i, f, event)
		must.Succeed(t, err)
		n := receiver.NewNotice(store.Notification{ID: "n", Event: string(event), Incident: i.ID, Fingerprint: f.Fingerprint, Created: time.Now(), Payload: payload}, "", nil)
		if r := hook.Notify(t.Context(), n); r.Err != nil {
			t.Fatal(r.Err)
		}
		if n.RunbookURL != "https://wiki.example.com/hot_key" || (n.Recent != nil) != (event == detect.EventFiring) || len(arrived) == 0 {
			t.Errorf("%s: %+v", event, n)
		}
	}
}
