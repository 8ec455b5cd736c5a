package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// TestIncidentsAreListedAndChosen: the worst first, by table, state and time, and what a
// key's text does to a terminal is nothing.
func TestIncidentsAreListedAndChosen(t *testing.T) {
	t.Parallel()
	url := "sqlite:" + filepath.Join(t.TempDir(), "k.db")
	st, err := store.Open(t.Context(), url, store.Options{Migrate: true})
	must.Succeed(t, err)
	defer st.Close()
	lease, ok, err := st.AcquireLease(t.Context(), "judge", "test", time.Minute)
	if err != nil || !ok {
		t.Fatalf("lease: %t, %v", ok, err)
	}
	now, err := st.Now(t.Context())
	must.Succeed(t, err)
	var j store.Judgement
	for _, i := range []struct {
		id, table, key string
		state          detect.State
		seen           time.Time
		utilization    float64
	}{
		{"old", "orders", "a", detect.Resolved, now.Add(-48 * time.Hour), 9},
		{"mild", "orders", "b", detect.Firing, now, 1.1},
		{"worst", "carts", "\x1b[2Jc", detect.Firing, now, 3},
	} {
		target := detect.Target{Table: i.table}
		j.Findings = append(j.Findings, store.Finding{
			Fingerprint: i.id + "-root", Target: target, Subject: string(detect.KeyWrites), Key: sample.Text(i.key), Severity: "critical", State: string(i.state),
			Utilization: i.utilization, FirstSeen: i.seen, LastSeen: i.seen, Document: []byte(`{}`),
		})
		j.Incidents = append(j.Incidents, store.Incident{
			ID: i.id, Target: target, Case: string(casebook.HotKey), Subject: string(detect.KeyWrites), Severity: "critical", State: string(i.state), OpenedAt: i.seen, LastSeen: i.seen,
			Root: i.id + "-root", Findings: []string{i.id + "-root"}, Document: []byte(`{}`),
		})
	}
	must.Succeed(t, st.Judge(t.Context(), lease, j))
	reporter := func(want int, args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		if code := cli.Run(t.Context(), command(), append([]string{"incidents", "--store-url", url}, args...), cli.Streams{Out: &out, Err: &errs}); code != want {
			t.Fatalf("incidents %q exits with %d: %s", args, code, errs.String())
		}
		if want == cli.OK {
			if warned := errs.String(); warned != "No samples yet: the load is unknown.\n" {
				t.Errorf("%q warns %q", args, warned)
			}
			return out.String()
		}
		return errs.String()
	}
	for _, c := range []struct {
		args string
		want []string
	}{
		{"", []string{"worst", "mild", "old"}},
		{"--top 1", []string{"worst"}},
		{"--table orders", []string{"mild", "old"}},
		{"--since 24h --table orders", []string{"mild"}},
		{"--state resolved", []string{"old"}},
		{"--search B", []string{"mild"}},
		{"--severity warning", nil},
	} {
		var listed []struct{ ID string }
		must.Succeed(t, json.Unmarshal([]byte(reporter(cli.OK, append(strings.Fields(c.args), "-o", "json")...)), &listed))
		var got []string
		for _, i := range listed {
			got = append(got, i.ID)
		}
		if strings.Join(got, " ") != strings.Join(c.want, " ") {
			t.Errorf("%s lists %q", c.args, got)
		}
	}
	if table := reporter(cli.OK); strings.ContainsRune(table, '\x1b') || !strings.Contains(table, "300%") || strings.Count(table, "\n") != 4 {
		t.Errorf("the table is %s", table)
	}
	if none := reporter(cli.OK, "--search=gone"); none != "no incidents\n" {
		t.Errorf("no incidents are %q", none)
	}
	for _, wrong := range []string{"--state=open", "--severity=info", "--top=0", "--since=-1h"} {
		flag, _, _ := strings.Cut(wrong, "=")
		if said := reporter(cli.Misconfigured, wrong); !strings.Contains(said, flag) {
			t.Errorf("%s: %s", wrong, said)
		}
	}
}
