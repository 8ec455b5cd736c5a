package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/cli"
	collector "github.com/keyheat/keyheat/internal/collect"
	"github.com/keyheat/keyheat/internal/settings/config"
	"github.com/keyheat/keyheat/internal/settings/tables"
	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/internal/testsupport/await"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/pgtest"
	"github.com/keyheat/keyheat/internal/testsupport/port"
	"github.com/keyheat/keyheat/rollup"
	"github.com/keyheat/keyheat/sample/format"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

// canary is a partition key, and beside is in every other part of a sample that may
// name somebody.
const canary, beside = "canary-7f3a91", "beside-91ab44"

// heard is what came out of a run, by where.
type heard struct {
	mu  sync.Mutex
	all map[string]*bytes.Buffer
}

// Writer returns where a place is written to.
func (h *heard) at(place string) io.Writer {
	return writerFunc(func(p []byte) (int, error) {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.all[place] == nil {
			h.all[place] = &bytes.Buffer{}
		}
		return h.all[place].Write(p)
	})
}

// with returns the places in which a text is.
func (h *heard) with(text string) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var places []string
	for _, place := range slices.Sorted(maps.Keys(h.all)) {
		if bytes.Contains(h.all[place].Bytes(), []byte(text)) {
			places = append(places, place)
		}
	}
	return places
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// TestCanaryStaysInTheCollector runs a collector, its database, the judge, pages and a
// webhook, with a canary in each sample and each secret, and looks for them in every
// row, page, message, metric and log. With plain keys the canary is found where people
// are to find it, which shows that the looking works.
func TestCanaryStaysInTheCollector(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		policy string
		found  []string
	}{
		{"hmac", nil},
		{"prefix(3)", nil},
		{"plain", []string{"page /", "page /heat?table=orders", "summaries", "table findings", "webhook"}},
	} {
		t.Run(c.policy, func(t *testing.T) {
			t.Parallel()
			secrets := map[string]string{
				"hash secret": base64.StdEncoding.EncodeToString([]byte("hash-secret-canary-0123456789")),
				"signing":     base64.StdEncoding.EncodeToString([]byte("signing-secret-canary-0123456789")),
				"token":       "token-canary-5e1d",
			}
			url := pgtest.Database(t)
			heard := runWhole(t, url, c.policy, secrets)
			found := append(heard.with(canary), heard.with(beside)...)
			for _, place := range c.found {
				if !slices.Contains(found, place) {
					t.Errorf("the key is not in %s, only in %v", place, found)
				}
			}
			if c.found == nil && len(found) > 0 {
				t.Errorf("the hidden key is in %v", found)
			}
			for name, secret := range secrets {
				if places := heard.with(secret); len(places) > 0 {
					t.Errorf("%s is in %v", name, places)
				}
			}
			if c.policy != "plain" && len(heard.with("~")) == 0 {
				t.Error("no hash is anywhere: nothing was found at all")
			}
			if c.policy == "plain" {
				purgeCanary(t, url)
			}
		})
	}
}

// purgeCanary purges the key and looks for it in the database.
func purgeCanary(t *testing.T, url string) {
	t.Helper()
	var out, errs bytes.Buffer
	args := []string{"keys", "purge", canary, "--table", "orders", "--store-url", url}
	if code := cli.Run(t.Context(), command(), args, cli.Streams{Out: &out, Err: &errs}); code != cli.OK {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	left := &heard{all: map[string]*bytes.Buffer{}}
	dump(t, url, left)
	if places := left.with(canary); len(places) > 0 {
		t.Errorf("after %q the key is still in %v", out.String(), places)
	}
	if !slices.Contains(left.with("purge a key"), "table audit") {
		t.Error("the purge is not in the audit")
	}
}

// runWhole collects samples of one hot key, judges them, and serves and sends what was
// found.
func runWhole(t *testing.T, url, policy string, secrets map[string]string) *heard {
	ctx, stop := context.WithCancel(t.Context())
	out := &heard{all: map[string]*bytes.Buffer{}}

	var once sync.Once
	delivered := make(chan struct{})
	var attempts atomic.Int32
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(out.at("webhook"), "%s\n", body)
		if attempts.Add(1) == 1 { // it fails, and echoes what it was asked
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprintf(w, "%s %s %s", r.URL, canary, body)
			return
		}
		once.Do(func() { close(delivered) })
	}))
	defer receiver.Close()

	conf := defaults()
	conf.Store.URL, conf.Listen, conf.Log.Level = config.Secret(url), port.HoldAddress(t), slog.LevelDebug
	conf.Receivers = Receivers{"hook": {
		Type: "webhook", URL: config.Secret(receiver.URL + "/hook/" + secrets["token"]), Secret: config.Secret("whsec_" + secrets["signing"]),
	}}
	if _, err := store.Migrate(ctx, url); err != nil {
		t.Fatal(err)
	}
	collectCanary(t, url, policy, secrets["hash secret"], out)
	served := make(chan error, 1)
	go func() { served <- serve(ctx, conf, nil, out.at("log")) }()
	select {
	case <-delivered:
	case err := <-served:
		t.Fatalf("the reporter ended: %v", err)
	case <-time.After(await.Limit):
		t.Error("nothing was delivered")
	}
	lookAtPages(t, "http://"+conf.Listen, out)
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
	dump(t, url, out)
	return out
}

// collectCanary counts 20 seconds in which one key is hot, and some samples that cannot be
// read.
func collectCanary(t *testing.T, url, policy, secret string, out *heard) {
	t.Helper()
	start := time.Now().Add(-40 * time.Second).Truncate(time.Second)
	collectAll(t, url, policy, secret, out, "1", start.Add(20*time.Second), samples(start))
}

// collect counts samples up to a position and a time.
func collectAll(t *testing.T, url, policy, secret string, out *heard, next string, end time.Time, messages iter.Seq[source.Message]) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tables.yaml")
	must.Succeed(t, os.WriteFile(path, []byte("policy: {keys: "+policy+"}\n"), 0o600))
	section, err := tables.Read(path)
	must.Succeed(t, err)
	st, err := store.Open(t.Context(), url, store.Options{})
	must.Succeed(t, err)
	defer st.Close()
	seed, err := st.HashSeed(t.Context())
	must.Succeed(t, err)
	settings := collector.Config{
		Source: "kafka:canary", Shards: 1, CommitInterval: 50 * time.Millisecond,
		Decoder: func(string) collector.Decoder { return format.NewDetectingDecoder(nil) },
		Hider:   section.Hider(tables.Hashing{Secret: config.Secret(secret)}),
	}
	c := collector.New(settings, st, seed, slog.New(slog.NewJSONHandler(out.at("log"), &slog.HandlerOptions{Level: slog.LevelDebug})))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	p, err := c.Claim(t.Context(), source.Claim{Partition: "samples/0", First: "0"})
	must.Succeed(t, err)
	batch := source.Batch{Next: next, Time: end.UnixMilli(), End: true, Final: true, Messages: messages}
	must.Succeed(t, p.Fold(t.Context(), batch))
	must.Succeed(t, p.Release(t.Context()))
	stop()
	must.Succeed(t, <-ended)
	for _, reason := range c.Ready() {
		fmt.Fprintln(out.at("log"), reason)
	}
}

func samples(start time.Time) iter.Seq[source.Message] {
	return func(yield func(source.Message) bool) {
		for i := range 20 {
			at := start.Add(time.Duration(i) * time.Second)
			message := fmt.Sprintf(`{"ts":%d,"table":"orders","pk":"%s","sk":"item#%s#%d","op":"PutItem","wcu":1,"n":1500,"caller":"%[3]s","id":"%[3]s-%[4]d","attrs":{"email":"%[3]s"},"call":"%[3]s-%[4]d"}`+"\n", at.UnixMilli(), canary, beside, i) +
				fmt.Sprintf(`{"ts":%d,"table":"orders","pk":"user#%d","op":"PutItem","wcu":1,"n":10}`+"\n", at.UnixMilli(), i) +
				fmt.Sprintf(`{"ts":%d,"table":"orders","pk":{"S":"%s","X":1},"op":"PutItem"}`+"\n", at.UnixMilli(), canary) +
				`{"ts":1,"table":"orders","pk":"` + canary + `"` + "\n" + canary + "\n"
			if !yield(source.Message{Value: []byte(message), Time: at.UnixMilli()}) {
				return
			}
		}
	}
}

// lookAtPages reads every page, answer of the API, metric and state.
func lookAtPages(t *testing.T, base string, out *heard) {
	t.Helper()
	client := &http.Client{Timeout: await.Limit, Transport: &http.Transport{DisableKeepAlives: true}}
	get := func(path string) []byte {
		answer, err := client.Get(base + path)
		if err != nil {
			t.Error(err)
			return nil
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode >= 500 && path != "/-/ready" {
			t.Errorf("%s: %s %v", path, answer.Status, err)
		}
		fmt.Fprintf(out.at("page "+path), "%v %s", answer.Header, body)
		return body
	}
	for _, path := range []string{"/", "/tables", "/table?table=orders", "/reports", "/metrics", "/-/ready", "/-/healthy",
		"/api/v1/incidents", "/api/v1/collectors", "/api/v1/tables", "/api/v1/gaps", "/api/v1/bad-samples", "/findings/unknown", "/heat?table=orders", "/api/v1/heat?table=orders"} {
		get(path)
	}
	var listed struct {
		Findings []struct {
			Fingerprint string `json:"fingerprint"`
		} `json:"findings"`
	}
	if err := json.Unmarshal(get("/api/v1/findings"), &listed); err != nil || len(listed.Findings) == 0 {
		t.Errorf("no finding: %v", err)
	}
	for _, f := range listed.Findings {
		get("/findings/" + f.Fingerprint)
		get("/api/v1/findings/" + f.Fingerprint)
	}
}

// dump reads every row of every table, and what summaries hold.
func dump(t *testing.T, url string, out *heard) {
	t.Helper()
	db := openSQL(t, url)
	defer db.Close()
	column := func(query string, scan func(*sql.Rows) error) {
		rows, err := db.QueryContext(context.Background(), query)
		must.Succeed(t, err)
		defer rows.Close()
		for rows.Next() {
			must.Succeed(t, scan(rows))
		}
		if rows.Err() != nil {
			t.Fatal(rows.Err())
		}
	}
	var names []string
	tables := `SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'`
	if strings.HasPrefix(url, "sqlite:") {
		tables = `SELECT name FROM sqlite_master WHERE type = 'table'`
	}
	column(tables, func(r *sql.Rows) error {
		names = append(names, "")
		return r.Scan(&names[len(names)-1])
	})
	if len(names) < 20 {
		t.Errorf("only the tables %v", names)
	}
	for _, name := range names {
		column(`SELECT * FROM `+name, func(r *sql.Rows) error {
			columns, err := r.Columns()
			if err != nil {
				return err
			}
			values, into := make([]any, len(columns)), make([]any, len(columns))
			for i := range values {
				into[i] = &values[i]
			}
			err = r.Scan(into...)
			for i, v := range values {
				if raw, is := v.([]byte); is {
					values[i] = string(raw)
				}
			}
			fmt.Fprintf(out.at("table "+name), "%v\n", values)
			return err
		})
	}
	// Summaries are compressed.
	column(`SELECT body FROM windows`, func(r *sql.Rows) error {
		var body []byte
		var w sketch.Window
		if err := r.Scan(&body); err != nil {
			return err
		}
		if err := w.UnmarshalBinary(body); err != nil {
			return err
		}
		return json.NewEncoder(out.at("summaries")).Encode(w)
	})
	column(`SELECT body FROM rollups`, func(r *sql.Rows) error {
		var body []byte
		var of rollup.Rollup
		if err := r.Scan(&body); err != nil {
			return err
		}
		if err := of.UnmarshalBinary(body); err != nil {
			return err
		}
		return json.NewEncoder(out.at("roll-ups")).Encode(of)
	})
	column(`SELECT body FROM deltas`, func(r *sql.Rows) error {
		var body []byte
		var d sketch.Delta
		if err := r.Scan(&body); err != nil {
			return err
		}
		if err := d.UnmarshalBinary(body); err != nil {
			return err
		}
		return json.NewEncoder(out.at("summaries")).Encode(d)
	})
}
