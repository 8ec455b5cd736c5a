package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/store"
)

// TestASilenceIsListedAndExpires: what others wrote in one does nothing to a terminal.
func TestASilenceIsListedAndExpires(t *testing.T) {
	t.Parallel()
	url := "sqlite:" + filepath.Join(t.TempDir(), "k.db")
	st, err := store.Open(t.Context(), url, store.Options{Migrate: true})
	must.Succeed(t, err)
	defer st.Close()
	reporter := func(args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		if code := cli.Run(t.Context(), command(), append([]string{"silences"}, args...), cli.Streams{Out: &out, Err: &errs}); code != cli.OK {
			t.Fatalf("silences %q exits with %d: %s", args, code, errs.String())
		}
		return out.String()
	}
	_, err = st.AddSilence(t.Context(), store.Silence{
		Matchers: []string{"table=\"a\x1b[2J\""}, EndsAt: time.Now().Add(time.Hour), Author: "\x1b]0;eve\a", Reason: "\u202enothing\n\n",
	})
	must.Succeed(t, err)
	id, _, _ := strings.Cut(reporter("add", "--store-url", url, "--match", "table=orders", "--for", "2h", "--reason", "load test"), " ")
	listed := reporter("list", "--store-url", url)
	if strings.ContainsAny(listed, "\x1b\a\u202e") || strings.Count(listed, "\n") != 3 || strings.Count(listed, "active") != 2 {
		t.Errorf("listed is %q", listed)
	}
	if got := reporter("expire", "--store-url", url, id); got != id+" is expired\n" {
		t.Errorf("expire prints %q", got)
	}
	if listed = reporter("list", "--store-url", url, "--state", "expired"); !strings.Contains(listed, id) || strings.Count(listed, "\n") != 2 {
		t.Errorf("listed is %q", listed)
	}
	audit, err := st.Audit(t.Context(), 0)
	if err != nil || len(audit) != 3 || audit[0].Action != "expire a silence" || audit[0].About != id || audit[0].Who != operatorName() || audit[1].Who != operatorName() {
		t.Errorf("the audit is %+v, %v", audit, err)
	}
}

// TestASilenceOfAMisspeltName: it would hold back nothing, so it is an error with the nearest
// name.
func TestASilenceOfAMisspeltName(t *testing.T) {
	t.Parallel()
	url := "sqlite:" + filepath.Join(t.TempDir(), "k.db")
	st, err := store.Open(t.Context(), url, store.Options{Migrate: true})
	must.Succeed(t, err)
	defer st.Close()
	lease, _, err := st.AcquireLease(t.Context(), "judge", "test", time.Minute)
	must.Succeed(t, err)
	seen := time.Now()
	if err := st.Judge(t.Context(), lease, store.Judgement{Findings: []store.Finding{{
		Fingerprint: "f", Target: detect.Target{Table: "orders", Index: "by-status"}, Subject: string(detect.KeyWrites), Severity: "critical", State: string(detect.Firing),
		FirstSeen: seen, LastSeen: seen, Document: []byte(`{}`),
	}}}); err != nil {
		t.Fatal(err)
	}
	for flag, want := range map[string]string{
		"--table=oders":            `did you mean "orders"? (if it is yet to come, match table=~"oders")`,
		"--index=by-states":        `did you mean "by-status"? (if it is yet to come, match index=~"by-states")`,
		"--index=by-status":        "",
		"--match=table=oders":      `did you mean "orders"?`,
		"--match=table=~\"oders\"": "",
	} {
		var errs bytes.Buffer
		code := cli.Run(t.Context(), command(), []string{"silences", "add", "--store-url", url, "--for", "2h", "--reason", "load test", flag}, cli.Streams{Out: &errs, Err: &errs})
		if !strings.Contains(errs.String(), want) || (code == cli.OK) != (want == "") {
			t.Errorf("%s exits with %d: %s", flag, code, errs.String())
		}
	}
}
