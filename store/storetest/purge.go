package storetest

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

var purging = []obligation{
	{"a purged key is in no table, and its table alone is touched", purged},
	{"a dry run of a purge counts what a purge changes, and changes nothing", purgeDryRun},
	{"a purge that fails gives the lease back, and is finished by another", purgeFails},
	{"a purge ends the judge's lease", purgeEndsLease},
	{"nobody judges during a purge", purgeHoldsLease},
	{"a purge that lost the lease stops", purgeLosesLease},
	{"a purge reaches rows that others write during it", purgeReachesLateRows},
	{"old entries of the audit are pruned", auditPruned},
}

// eraser replaces the key in any bytes.
type eraser struct {
	key  string
	fail bool
}

func (e eraser) Window(body []byte) ([]byte, error) {
	if e.fail {
		return nil, errors.New("cannot be read")
	}
	return e.Text(body)
}

func (e eraser) Rollup(body []byte) ([]byte, error)   { return e.Text(body) }
func (e eraser) Delta(body []byte) ([]byte, error)    { return e.Text(body) }
func (e eraser) Document(text []byte) ([]byte, error) { return e.Text(text) }

func (e eraser) Text(text []byte) ([]byte, error) {
	if !bytes.Contains(text, []byte(e.key)) {
		return nil, nil
	}
	return bytes.ReplaceAll(text, []byte(e.key), []byte("-")), nil
}

const secretKey = "user#canary"

func purge(s *store.Store, t *testing.T, fail bool) (store.Erased, error) {
	t.Helper()
	return s.PurgeKey(t.Context(), store.Purge{
		Table: sample.Target{Table: "orders"}, Eraser: eraser{secretKey, fail}, Who: "ops@host",
	})
}

// fill stores the key wherever one can be, for two tables.
func fill(t *testing.T, s *store.Store) {
	t.Helper()
	about, beside, other := finding("about", 2), finding("beside", 1), finding("other", 1)
	about.Key, about.Document = secretKey, []byte(`{"key":"user#canary"}`)
	beside.Key, beside.Document = "user#7", []byte(`{"keys":["user#canary"]}`)
	other.Table, other.Key, other.Document = "carts", secretKey, []byte(`{"key":"user#canary"}`)
	stands, names := incident("stands"), incident("names")
	stands.Root, stands.Document, names.Document = "about", []byte(`{"id":"stands"}`), []byte(`{"labels":{"team":"user#canary"}}`)
	seconds := window(0)
	seconds.Body = []byte("a window with user#canary")
	at := time.Now().UTC().Truncate(time.Hour)
	judge(t, s, store.Judgement{
		Rollups: []store.Rollup{
			{Target: sample.Target{Table: "orders"}, Level: 10, Begins: at, Body: []byte("ten seconds of user#canary")},
			{Target: sample.Target{Table: "orders"}, Level: 60, Begins: at, Body: []byte("a minute of user#canary")},
			{Target: sample.Target{Table: "orders"}, Level: 60, Begins: at.Add(time.Minute), Body: []byte("a minute")},
			{Target: sample.Target{Table: "carts"}, Level: 60, Begins: at, Body: []byte("a minute of user#canary")},
		},
		Findings: []store.Finding{about, beside, other}, Incidents: []store.Incident{stands, names}, Windows: []store.Window{seconds, window(1)},
		Transitions:         []store.Transition{{Of: "about"}, {Of: "beside"}},
		IncidentTransitions: []store.Transition{{Of: "stands"}, {Of: "names"}},
		Views:               []store.TargetDocument{{Target: sample.Target{Table: "orders"}, Document: []byte(`{"top":["user#canary"]}`)}},
		Checkpoints: []store.Checkpoint{
			{Target: sample.Target{Table: "orders", Index: "by-user"}, Body: []byte("state of user#canary")}, {Target: sample.Target{Table: "carts"}, Body: []byte("state of user#canary")}, {Body: []byte("progress")},
		},
		Notifications: []store.Notification{
			{ID: "1", Fingerprint: "about", Route: "r", Payload: []byte(`{}`)}, {ID: "2", Incident: "stands", Route: "r", Payload: []byte(`{}`)},
			{ID: "3", Incident: "names", Route: "r", Payload: []byte(`{"finding":{"key":"user#canary"}}`)}, {ID: "4", Incident: "names", Route: "r", Payload: []byte(`{}`)},
		},
	})
	must(t, s.Commit(t.Context(), store.Commit{Writer: "a", Seq: 1, Version: 1, Body: []byte("a delta with user#canary")}))
	commit(t, s, "a", 2)
	see(t, s, "daily", "0 9 * * *")
	r := report("daily", 1)
	r.Outline, r.Document = []byte(`{"worst":"user#canary"}`), []byte(`{"hot":["user#canary"]}`)
	put(t, s, r)
	addSilence(t, s, store.Silence{Matchers: []string{`table="orders"`}, EndsAt: at.Add(3 * time.Hour), Author: "ada", Reason: "user#canary is known"})
}

func purged(t *testing.T, s *store.Store) {
	fill(t, s)
	e := value[store.Erased](t)(purge(s, t, false))
	equal(t, "counted", e, store.Erased{Findings: 1, Windows: 1, Rollups: 2, Deltas: 1, Documents: 8})

	all := value[[]store.Finding](t)(s.Findings(t.Context(), store.FindingQuery{}))
	var found []string
	for _, f := range all {
		found = append(found, f.Table+" "+f.Fingerprint+" "+string(f.Key)+" "+string(f.Document))
	}
	slices.Sort(found)
	equal(t, "findings", found, []string{`carts other user#canary {"key":"user#canary"}`, `orders beside user#7 {"keys":["-"]}`})
	equal(t, "its history", len(value[[]store.Transition](t)(s.FindingHistory(t.Context(), "about"))), 0)
	equal(t, "another's history", len(value[[]store.Transition](t)(s.FindingHistory(t.Context(), "beside"))), 1)
	var remembered []string
	for _, c := range value[[]store.Checkpoint](t)(s.Checkpoints(t.Context())) {
		remembered = append(remembered, c.Table)
	}
	equal(t, "checkpoints", remembered, []string{"", "carts"})
	left := value[[]store.Incident](t)(s.Incidents(t.Context(), store.IncidentQuery{}))
	if len(left) != 1 || string(left[0].Document) != `{"labels":{"team":"-"}}` {
		t.Errorf("incidents are %+v", left)
	}
	histories := value[[]store.Transition](t)(s.IncidentTransitions(t.Context(), time.Time{}, store.Infinity, 0))
	if len(histories) != 1 || histories[0].Of != "names" {
		t.Errorf("histories of incidents are %+v", histories)
	}
	var told []string
	for _, n := range value[[]store.Notification](t)(s.RecentNotifications(t.Context(), store.NotificationQuery{Limit: 10})) {
		told = append(told, n.ID+" "+string(n.Payload))
	}
	slices.Sort(told)
	equal(t, "notifications", told, []string{`3 {"finding":{"key":"-"}}`, "4 {}"})
	for _, w := range value[[]store.Window](t)(s.Windows(t.Context(), store.WindowQuery{Target: byStatus})) {
		if bytes.Contains(w.Body, []byte(secretKey)) {
			t.Errorf("a window is %q", w.Body)
		}
	}
	for of, want := range map[store.RollupQuery]string{
		{Target: sample.Target{Table: "orders"}, Level: 10}: "ten seconds of -", {Target: sample.Target{Table: "orders"}, Level: 60}: "a minute of - a minute",
		{Target: sample.Target{Table: "carts"}, Level: 60}: "a minute of user#canary",
	} {
		var bodies []string
		for _, r := range value[[]store.Rollup](t)(s.Rollups(t.Context(), of)) {
			bodies = append(bodies, string(r.Body))
		}
		equal(t, "roll-ups of "+of.Table, strings.Join(bodies, " "), want)
	}
	snap := read(t, s, nil)
	equal(t, "the delta", string(snap.Deltas[0].Body), "a delta with -")
	equal(t, "another delta", string(snap.Deltas[1].Body), string(body("a", 2)))
	views := value[[]store.TargetDocument](t)(s.TableViews(t.Context()))
	equal(t, "the view", string(views[0].Document), `{"top":["-"]}`)
	stored := value[[]store.Report](t)(s.Reports(t.Context(), store.ReportQuery{}))
	equal(t, "the report", value[store.Report](t)(s.Report(t.Context(), stored[0].ID)).Document, []byte(`{"hot":["-"]}`))
	equal(t, "its outline", string(stored[0].Outline), `{"worst":"-"}`)
	equal(t, "a silence's reason", value[[]store.Silence](t)(s.Silences(t.Context(), store.SilenceQuery{}))[0].Reason, "- is known")

	entries := value[[]store.AuditEntry](t)(s.Audit(t.Context(), 0))
	if len(entries) != 3 { // and the silence's
		t.Fatalf("the audit is %+v", entries)
	}
	entries = entries[:2]
	for i := range entries {
		near(t, "the entry", entries[i].At)
		entries[i].At = time.Time{}
	}
	equal(t, "the audit", entries, []store.AuditEntry{{Who: "ops@host", Action: "purge a key", About: "orders",
		Detail: `{"findings":1,"windows":1,"rollups":2,"deltas":1,"documents":8}`},
		{Who: "ops@host", Action: "begin to purge a key", About: "orders"}})
	equal(t, "again", value[store.Erased](t)(purge(s, t, false)), store.Erased{})
}

// purgeDryRun looks for the key while a judge has its lease, and then purges it.
func purgeDryRun(t *testing.T, s *store.Store) {
	fill(t, s)
	held := lead(t, s, "reporter")
	dry := store.Purge{Table: sample.Target{Table: "orders"}, Eraser: eraser{key: secretKey}, Who: "ops@host", DryRun: true}
	would := value[store.Erased](t)(s.PurgeKey(t.Context(), dry))
	equal(t, "counted again", value[store.Erased](t)(s.PurgeKey(t.Context(), dry)), would)
	must(t, s.Judge(t.Context(), held, store.Judgement{}))
	equal(t, "the audit, beside the silence", len(value[[]store.AuditEntry](t)(s.Audit(t.Context(), 0))), 1)
	equal(t, "a purge", value[store.Erased](t)(purge(s, t, false)), would)
	equal(t, "after the purge", value[store.Erased](t)(s.PurgeKey(t.Context(), dry)), store.Erased{})
}

func purgeFails(t *testing.T, s *store.Store) {
	fill(t, s)
	if _, err := purge(s, t, true); err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Errorf("a purge that cannot read a window: %v", err)
	}
	equal(t, "the audit, beside the silence", len(value[[]store.AuditEntry](t)(s.Audit(t.Context(), 0))), 2)
	lead(t, s, "reporter")
	equal(t, "seconds that are left to another", value[store.Erased](t)(purge(s, t, false)).Windows, int64(1))
	equal(t, "nothing is left to a third", value[store.Erased](t)(purge(s, t, false)), store.Erased{})
}

func purgeEndsLease(t *testing.T, s *store.Store) {
	fill(t, s)
	held := lead(t, s, "reporter")
	value[store.Erased](t)(purge(s, t, false))
	if err := s.Judge(t.Context(), held, store.Judgement{}); !errors.Is(err, store.ErrLeaseLost) {
		t.Errorf("the judge that had the lease before writes: %v", err)
	}
	taken, ok, err := s.AcquireLease(t.Context(), "judge", "reporter", time.Minute)
	must(t, err)
	equal(t, "taken at once", ok, true)
	equal(t, "the database did not go back", held.IsBehind(taken), false)
	must(t, s.Judge(t.Context(), taken, store.Judgement{}))
}

func purgeHoldsLease(t *testing.T, s *store.Store) {
	fill(t, s)
	seen := 0
	_, err := s.PurgeKey(t.Context(), store.Purge{Table: sample.Target{Table: "orders"}, Eraser: eraser{key: secretKey}, Progress: func(string, int) {
		seen++
		_, leads, err := s.AcquireLease(t.Context(), store.JudgeLease, "reporter", time.Minute)
		must(t, err)
		equal(t, "a judge leads meanwhile", leads, false)
	}})
	must(t, err)
	equal(t, "progress was reported", seen > 5, true)
	lead(t, s, "reporter")
}

func purgeLosesLease(t *testing.T, s *store.Store) {
	fill(t, s)
	_, err := s.PurgeKey(t.Context(), store.Purge{Table: sample.Target{Table: "orders"}, Eraser: eraser{key: secretKey}, Progress: func(of string, _ int) {
		if of == "windows" { // as another purge does
			value[store.Erased](t)(purge(s, t, false))
		}
	}})
	if !errors.Is(err, store.ErrLeaseLost) {
		t.Errorf("a purge beside another: %v, want %v", err, store.ErrLeaseLost)
	}
	lead(t, s, "reporter")
}

// purgeReachesLateRows writes rows with the key when a purge has listed the rows of every table
// for the first time: only its second look finds them.
func purgeReachesLateRows(t *testing.T, s *store.Store) {
	fill(t, s)
	written := false
	erased, err := s.PurgeKey(t.Context(), store.Purge{Table: sample.Target{Table: "orders"}, Eraser: eraser{key: secretKey}, Progress: func(of string, _ int) {
		if of != "silences" || written { // the last table of the first look
			return
		}
		written = true
		must(t, s.Commit(t.Context(), store.Commit{Writer: "b", Seq: 1, Version: 1, Body: []byte("a late delta with user#canary")}))
		see(t, s, "weekly", "0 9 * * 1")
		r := report("weekly", 2)
		r.Outline, r.Document = []byte(`{"late":"user#canary"}`), []byte(`{"late":["user#canary"]}`)
		_, err := s.PutReport(t.Context(), r, []store.Notification{{ID: "late", Event: "report", Route: "r", Payload: []byte(`{"late":"user#canary"}`)}})
		must(t, err)
		addSilence(t, s, store.Silence{Matchers: []string{`table="orders"`}, EndsAt: time.Now().Add(time.Hour), Author: "ada", Reason: "user#canary is late"})
	}})
	must(t, err)
	equal(t, "rows were written during the purge", written, true)
	equal(t, "counted deltas", erased.Deltas, int64(2))
	equal(t, "counted documents", erased.Documents, int64(12))
	for _, d := range read(t, s, nil).Deltas {
		if bytes.Contains(d.Body, []byte(secretKey)) {
			t.Errorf("delta %d of %s is %q", d.Seq, d.Writer, d.Body)
		}
	}
	for _, r := range value[[]store.Report](t)(s.Reports(t.Context(), store.ReportQuery{})) {
		document := value[store.Report](t)(s.Report(t.Context(), r.ID)).Document
		if bytes.Contains(document, []byte(secretKey)) || bytes.Contains(r.Outline, []byte(secretKey)) {
			t.Errorf("the %s report is %q, its outline %q", r.Schedule, document, r.Outline)
		}
	}
	for _, n := range value[[]store.Notification](t)(s.RecentNotifications(t.Context(), store.NotificationQuery{Limit: 10})) {
		if bytes.Contains(n.Payload, []byte(secretKey)) {
			t.Errorf("notification %s is %q", n.ID, n.Payload)
		}
	}
	for _, silence := range value[[]store.Silence](t)(s.Silences(t.Context(), store.SilenceQuery{})) {
		if strings.Contains(silence.Reason, secretKey) {
			t.Errorf("a silence's reason is %q", silence.Reason)
		}
	}
}

func auditPruned(t *testing.T, s *store.Store) {
	fill(t, s)
	value[store.Erased](t)(purge(s, t, false))
	value[store.Pruned](t)(s.Prune(t.Context(), store.Retention{}))
	equal(t, "kept", len(value[[]store.AuditEntry](t)(s.Audit(t.Context(), 0))), 3)
	time.Sleep(5 * soon)
	value[store.Pruned](t)(s.Prune(t.Context(), store.Retention{Audit: time.Millisecond}))
	equal(t, "pruned", len(value[[]store.AuditEntry](t)(s.Audit(t.Context(), 0))), 0)
}
