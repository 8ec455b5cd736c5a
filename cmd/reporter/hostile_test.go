package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/testsupport/hostile"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/store"
)

// TestNoListShowsATextRaw lists incidents of each kind, and their notifications, whose keys,
// tables, indexes and callers are hostile.
func TestNoListShowsATextRaw(t *testing.T) {
	t.Parallel()
	url := "sqlite:" + filepath.Join(t.TempDir(), "keyheat.db")
	s, err := store.Open(t.Context(), url, store.Options{Migrate: true})
	must.Succeed(t, err)
	defer s.Close()
	lease, _, err := s.AcquireLease(t.Context(), "judge", "test", time.Minute)
	must.Succeed(t, err)
	document := func(v any) []byte {
		body, err := json.Marshal(v)
		must.Succeed(t, err)
		return body
	}
	var j store.Judgement
	m := hostile.New(7)
	for _, about := range hostile.Abouts() {
		f := m.Finding(about)
		f.Fingerprint, f.State = fmt.Sprint(about), detect.Firing
		i := m.Incident(&f)
		i.ID, i.Root = f.Fingerprint, f.Fingerprint
		j.Findings = append(j.Findings, store.Finding{
			Fingerprint: f.Fingerprint, Case: string(f.Case), Subject: string(f.Subject), Target: f.Target, Key: f.Key, Severity: string(f.Severity), State: string(f.State), Document: document(f),
		})
		j.Incidents = append(j.Incidents, store.Incident{
			ID: i.ID, Case: string(i.Case), Subject: string(i.Subject), Target: i.Target, Severity: string(i.Severity), State: string(f.State), Root: i.Root, Findings: []string{f.Fingerprint}, Document: document(i),
		})
		j.Notifications = append(j.Notifications, store.Notification{
			Fingerprint: f.Fingerprint, Incident: i.ID, Route: "chat", Event: "firing", Payload: document(detect.Payload{Finding: document(f)}),
		})
	}
	must.Succeed(t, s.Judge(t.Context(), lease, j))
	for _, args := range [][]string{{"incidents", "--top", "1000"}, {"notifications", "list"}} {
		for _, format := range []string{"table", "json"} {
			code, printed := reporter(t, append(args, "--store-url", url, "-o", format)...)
			if code != cli.OK || len(printed) < 1000 {
				t.Fatalf("%q exits with %d: %s", args, code, printed)
			}
			if wrong := hostile.Fault(printed); wrong != "" {
				t.Errorf("%q in %s has %s", args, format, wrong)
			}
		}
	}
}
