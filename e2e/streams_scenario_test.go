//go:build e2e

package e2e_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/testsupport/await"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/streamstest"
	"github.com/keyheat/keyheat/internal/testsupport/streamstest/model"
)

// streamed is the table whose stream is read: orders with a sort key, a global
// index on their status, and a sparse one with two attributes in its key.
var streamed = model.Schema{
	Name: "orders", Key: model.Key{Partition: []string{"pk"}, Sort: []string{"sk"}},
	Indexes: []model.Index{
		{Name: "by-status", Key: model.Key{Partition: []string{"status"}}},
		{Name: "by-day", Key: model.Key{Partition: []string{"day", "shop"}, Sort: []string{"sk"}}, Projection: "KEYS_ONLY"},
	},
}

// newStreamsScenario is a Postgres, a reporter, and so many collectors that are not
// yet started and read the streams of an endpoint.
func newStreamsScenario(t *testing.T, endpoint string, collectors int) *scenario {
	t.Helper()
	w := &scenario{}
	url := w.startReporter(t)
	for i := range collectors {
		name := fmt.Sprint("collector-", i)
		c := newProcess(t, name, "collector run", fmt.Sprintf(`
streams: {tables: [orders], consumer: e2e}
store: {url: %q}
commit: {interval: 500ms}
admin: {listen: "%%listen%%"}
`, url))
		// The fake distinguishes processes by the access key.
		c.env = []string{
			"AWS_ENDPOINT_URL=" + endpoint, "AWS_REGION=eu-west-1", "AWS_ACCESS_KEY_ID=" + name,
			"AWS_SECRET_ACCESS_KEY=secret", "AWS_EC2_METADATA_DISABLED=true",
		}
		w.collectors = append(w.collectors, c)
	}
	return w
}

// serve runs a fake on loopback and returns its address.
func serve(t *testing.T, handler http.Handler) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

// account is what was written to the table or to one index.
type account struct{ requests, units int64 }

// oracle is what a table's writes cost by index and by key and second, computed
// by the fake's prices from what was written.
type oracle struct {
	accounts  map[string]account
	perSecond map[string]map[int64]int64 // by index/key
}

func newOracle(table *streamstest.Table, keep func(model.Write) bool) *oracle {
	o := &oracle{accounts: map[string]account{}, perSecond: map[string]map[int64]int64{}}
	for _, w := range table.Written() {
		if keep != nil && !keep(w) {
			continue
		}
		for _, c := range streamed.Charges(w) {
			a := o.accounts[c.Index]
			o.accounts[c.Index] = account{a.requests + 1, a.units + int64(c.Units)}
			id := c.Index + "/" + keyText(c)
			if o.perSecond[id] == nil {
				o.perSecond[id] = map[int64]int64{}
			}
			o.perSecond[id][w.Time.Unix()] += int64(c.Units)
		}
	}
	return o
}

// keyText is a partition key as Keyheat shows it: the parts of an index's
// joined by bars.
func keyText(c model.Charge) string {
	names := streamed.Key.Partition
	for _, x := range streamed.Indexes {
		if x.Name == c.Index {
			names = x.Key.Partition
		}
	}
	var parts []string
	for _, name := range names {
		parts = append(parts, *c.Key[name].S)
	}
	return strings.Join(parts, "|")
}

// accounts returns the stored totals by index, from the documented view.
func (w *scenario) accounts() (map[string]account, error) {
	rows, err := w.database.Query(`SELECT index_name, requests, write_milli FROM keyheat_totals WHERE table_name = 'orders'`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := map[string]account{}
	for rows.Next() {
		var index string
		var a account
		var milli int64
		if err := rows.Scan(&index, &a.requests, &milli); err != nil {
			return nil, err
		}
		if a.units = milli / 1000; milli%1000 != 0 {
			return nil, fmt.Errorf("index %q: %d thousandths of a unit are no whole number", index, milli)
		}
		all[index] = a
	}
	return all, rows.Err()
}

// matches waits until the store has exactly what the oracle has, for the table
// and for each index, and checks that nothing more is added.
func (w *scenario) matches(t *testing.T, o *oracle, limit time.Duration) {
	t.Helper()
	within(t, limit, "the stored totals are the oracle's", func() error {
		got, err := w.accounts()
		if err == nil && !maps.Equal(got, o.accounts) {
			err = fmt.Errorf("stored %v, written %v", got, o.accounts)
		}
		return err
	})
	time.Sleep(3 * time.Second)
	if got, err := w.accounts(); err != nil || !maps.Equal(got, o.accounts) {
		t.Errorf("after a while the store has %v (%v), written were %v", got, err, o.accounts)
	}
}

// finding waits for the finding about a subject: a key of an index.
func (w *scenario) finding(t *testing.T, subject, index, key string, want func(found) error) (f found) {
	t.Helper()
	within(t, await.Limit, fmt.Sprintf("%s on %s/%s", subject, index, key), func() error {
		for _, f = range w.findings(t) {
			if f.Subject == subject && f.Table == "orders" && f.Index == index && f.Key == key {
				return want(f)
			}
		}
		return fmt.Errorf("not among %+v", w.findings(t))
	})
	return f
}

// hotAs requires a finding to be critical because of seconds over the limit, and
// its peak to be the oracle's.
func (o *oracle) hotAs(index, key string) func(found) error {
	peak := int64(0)
	for _, units := range o.perSecond[index+"/"+key] {
		peak = max(peak, units)
	}
	return func(f found) error {
		switch {
		case f.Severity != "critical" || f.OverSeconds == 0:
			return fmt.Errorf("%s with %d seconds over the limit", f.Severity, f.OverSeconds)
		case f.Peak.WCU.Low > float64(peak) || f.Peak.WCU.High < float64(peak):
			return fmt.Errorf("a peak of %+v, the oracle's is %d", f.Peak.WCU, peak)
		}
		return nil
	}
}

// step is a change of a finding's state.
type step struct{ To, Code string }

func (w *scenario) history(t *testing.T, f found) []step {
	t.Helper()
	body, err := w.reporter.get("/api/v1/findings/" + f.Fingerprint)
	must.Succeed(t, err)
	var answer struct{ History []step }
	must.Succeed(t, json.Unmarshal(body, &answer))
	if len(answer.History) == 0 {
		t.Errorf("%s has no history", f.Key)
	}
	return answer.History
}

// gaps are those that the API lists.
func (w *scenario) gaps(t *testing.T) []gap {
	t.Helper()
	body, err := w.reporter.get("/api/v1/tables")
	must.Succeed(t, err)
	var answer struct{ Gaps []gap }
	must.Succeed(t, json.Unmarshal(body, &answer))
	return answer.Gaps
}

// orderItem is an item with a body of so many bytes; without a status it is not in
// the index.
func orderItem(pk, sk, status string, bytes int) model.Item {
	i := model.Item{"pk": model.S(pk), "sk": model.S(sk), "body": model.S(strings.Repeat("x", bytes))}
	if status != "" {
		i["status"] = model.S(status)
	}
	return i
}
