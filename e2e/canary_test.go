//go:build e2e

package e2e_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/keyheat/keyheat/internal/testsupport/must"
)

// TestCanary has a hot key, its sort key and its caller hidden by hmac, and secrets in the
// configuration, and looks for all of them where daemons leave something: what the store
// has, pages, metrics, logs, the list of processes, and the goroutines of a crash.
func TestCanary(t *testing.T) {
	t.Parallel() // it mostly waits
	const key, sortKey, caller = "canary-key-7f3a91", "canary-sort-51cc02", "canary-caller-91ab44"
	const secret = "Y2FuYXJ5LXNlY3JldC0wMTIzNDU2Nzg5YWJjZGVmZ2hpamts" // base64
	file := filepath.Join(t.TempDir(), "keys.secret")
	must.Succeed(t, os.WriteFile(file, []byte(secret+"\n"), 0o600))
	w := newScenario(t, "canary", fmt.Sprintf("receivers: {hook: {type: webhook, url: \"http://127.0.0.1:1/canary-token-0c1d\", secret: whsec_%s}}", secret))
	for _, c := range w.collectors {
		c.rewrite(t, "store:", fmt.Sprintf("policy: {keys: hmac}\nkeys: {secret_file: %q}\nstore:", file))
	}
	w.startCollectors(t)
	client := w.producer(t, "canary")
	for second := range 15 {
		now := time.Now()
		body := fmt.Appendf(nil, `{"ts":%d,"table":"orders","pk":%q,"sk":%q,"op":"UpdateItem","wcu":1,"n":3000,"caller":%q}`, now.UnixMilli(), key, sortKey, caller)
		body = fmt.Appendf(body, "\n{\"ts\":%d,\"table\":\"orders\",\"pk\":%q,\"op\":\"UpdateItem\",\"wcu\":-1}\n", now.UnixMilli(), key)
		client.Produce(t.Context(), &kgo.Record{Partition: int32(second % partitions), Timestamp: now, Value: body}, nil)
		time.Sleep(time.Until(now.Add(time.Second)))
	}
	must.Succeed(t, client.Flush(t.Context()))
	var hidden string
	within(t, time.Minute, "the key is found", func() error {
		for _, f := range w.findings(t) {
			if f.Subject == "key_writes" {
				hidden = f.Key
				return nil
			}
		}
		return fmt.Errorf("%d findings, none of a key", len(w.findings(t)))
	})
	heard := map[string][]byte{}
	daemons := append([]*process{w.reporter}, w.collectors...)
	pages := []string{
		"/metrics", "/", "/tables", "/api/v1/findings", "/api/v1/incidents", "/api/v1/tables", "/api/v1/collectors",
	}
	for _, p := range daemons {
		for _, path := range pages {
			body, err := p.get(path)
			if err != nil {
				body = []byte(err.Error())
			}
			heard[p.name+path] = body
		}
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.cmd.Process.Pid))
		must.Succeed(t, err)
		heard[p.name+"'s command line"] = line
	}
	w.rows(t, heard)
	for _, p := range daemons {
		p.signal(t, syscall.SIGQUIT)
		_ = p.cmd.Wait() // the error is that it crashed
		log, err := os.ReadFile(p.log)
		must.Succeed(t, err)
		if !bytes.Contains(log, []byte("goroutine ")) {
			t.Errorf("%s wrote no goroutines", p.name)
		}
		heard[p.name+"'s log and crash"] = log
	}
	found := 0
	for place, what := range heard {
		for _, word := range []string{key, sortKey, caller, secret, "canary-token"} {
			if bytes.Contains(what, []byte(word)) {
				t.Errorf("%q is in %s", word, place)
			}
		}
		if bytes.Contains(what, []byte(hidden)) {
			found++
		}
	}
	if found == 0 || !strings.HasPrefix(hidden, "~") {
		t.Errorf("the hidden key %q is in %d places: the test shows nothing", hidden, found)
	}
	t.Logf("looked in %d places, the hidden key is in %d of them", len(heard), found)
}

// rows adds every row of every table of the store.
func (w *scenario) rows(t *testing.T, into map[string][]byte) {
	t.Helper()
	for _, table := range w.texts(t, `SELECT tablename::text FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`) {
		into["table "+table] = []byte(strings.Join(w.texts(t, `SELECT row::text FROM "`+table+`" AS row`), "\n"))
	}
}

func (w *scenario) texts(t *testing.T, query string) (all []string) {
	t.Helper()
	rows, err := w.database.Query(query)
	must.Succeed(t, err)
	defer rows.Close()
	for rows.Next() {
		var text string
		must.Succeed(t, rows.Scan(&text))
		all = append(all, text)
	}
	must.Succeed(t, rows.Err())
	return all
}
