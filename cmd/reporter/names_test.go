package main

import (
	"bytes"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/settings/tables"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/reference"
	"github.com/keyheat/keyheat/store"
)

// storeWithNames returns a store with samples of the index by-status of the table orders, and its URL.
func storeWithNames(t *testing.T) (st *store.Store, url string) {
	t.Helper()
	url = "sqlite:" + filepath.Join(t.TempDir(), "k.db")
	st, err := store.Open(t.Context(), url, store.Options{Migrate: true})
	must.Succeed(t, err)
	t.Cleanup(func() { _ = st.Close() })
	for _, of := range []detect.Target{{Table: "orders"}, {Table: "orders", Index: "by-status"}, {Table: "carts", Index: "by-date"}} {
		must.Succeed(t, st.PutTableFacts(t.Context(), of, []byte(`{}`)))
	}
	return st, url
}

// TestCommandsRefuseMisspeltNames: a misspelt name finds nothing, and nothing looks calm. So
// each flag or argument that takes a table, an index or a key refuses one that was never seen,
// with the nearest one, or has a reason to take any.
func TestCommandsRefuseMisspeltNames(t *testing.T) {
	t.Parallel()
	_, url := storeWithNames(t)
	samples := filepath.Join(t.TempDir(), "samples")
	must.Succeed(t, os.WriteFile(samples, []byte(requests(3)), 0o600))
	settings := filepath.Join(t.TempDir(), "reporter.yaml")
	must.Succeed(t, os.WriteFile(settings, []byte("receivers: {pagers: {type: teams, url: 'https://teams.example/x'}}\n"), 0o600))
	misspelt := map[string]struct{ line, want string }{
		"reporter incidents --table":             {"incidents --table oders", `--table: no sample has the table "oders": did you mean "orders"?`},
		"reporter keys hash --table":             {"keys hash a --table oders", `did you mean "orders"? (if it is yet to come, name it under tables in the settings)`},
		"reporter keys purge --table":            {"keys purge a --table oders", `--table: no sample has the table "oders": did you mean "orders"?`},
		"reporter partitions TABLE":              {"partitions oders", `TABLE: no sample has the table "oders": did you mean "orders"?`},
		"reporter report --tables":               {"report --tables carts,oders", `--tables: no sample has the table "oders": did you mean "orders"?`},
		"reporter silences add --table":          {"silences add --for 1h --reason x --table oders", `did you mean "orders"? (if it is yet to come, match table=~"oders")`},
		"reporter silences add --index":          {"silences add --for 1h --reason x --index by-states", `did you mean "by-status"? (if it is yet to come, match index=~"by-states")`},
		"reporter alert test --receiver":         {"alert test --receiver pager", `--receiver "pager": the configuration has pagers`},
		"reporter notifications list --receiver": {"notifications list --receiver pager", `--receiver: there is no receiver "pager": did you mean "pagers"?`},
		"reporter silences add --subject":        {"silences add --for 1h --reason x --subject key_write", `there is no subject "key_write": did you mean "key_writes"?`},
		"reporter silences add --case":           {"silences add --for 1h --reason x --case hot-key", `there is no case "hot-key": did you mean "hot_key"?`},
		"reporter silences add --match":          {"silences add --for 1h --reason x --match table=orders --match index=by-date", `no sample of orders has the index "by-date"; known are by-status`},
		"reporter analyze --explain":             {"analyze --explain kk0 " + samples, `did you mean "k0"?`},
		"reporter analyze --what-if":             {"analyze --what-if kk0=2 " + samples, `did you mean "k0"?`},
	}
	free := map[string]string{
		"reporter analyze --candidate":            "attributes, and a sentence says if no sample has every part",
		"reporter analyze --contributor-insights": "DynamoDB refuses an unknown table",
		"reporter analyze --index":                "DynamoDB refuses an unknown index",
		"reporter analyze --keys-secret-file":     "a file",
		"reporter analyze --stream":               "DynamoDB refuses an unknown table",
		"reporter analyze --table":                "the table of samples that name none",
		"reporter analyze --tables":               "a file; TestAnalyzeWarnsOfTables has the names in it",
		"reporter keys hash --keys-secret-file":   "a file",
		"reporter keys hash VALUE":                "any key has a hash",
		"reporter keys purge --keys-secret-file":  "a file",
		"reporter keys purge VALUE":               "a purge of a key that is gone ends well, and says that no row names it",
		"reporter partitions check TABLE":         "DynamoDB refuses an unknown table",
	}
	if got, want := reference.NamingFlags(command()), slices.Sorted(maps.Keys(misspelt)); !slices.Equal(got, slices.Sorted(slices.Values(append(want, slices.Collect(maps.Keys(free))...)))) {
		t.Errorf("the flags that take names are %q: give each a misspelt name here, or the reason why it takes any", got)
	}
	for flag, c := range misspelt {
		args := strings.Fields(c.line)
		if args[0] != "analyze" {
			args = append(args, "--store-url", url, "--config", settings)
		}
		var out, errs bytes.Buffer
		code := cli.Run(t.Context(), command(), args, cli.Streams{Out: &out, Err: &errs})
		if code != cli.Misconfigured || !strings.Contains(errs.String(), c.want) {
			t.Errorf("%s: %q exits with %d, want %s:\n%s%s", flag, c.line, code, c.want, out.String(), errs.String())
		}
	}
}

// TestCommandsTakeSeenNames, and names that the settings have; without a database a command
// that needs none says that it checked nothing.
func TestCommandsTakeSeenNames(t *testing.T) {
	t.Parallel()
	_, url := storeWithNames(t)
	settings := filepath.Join(t.TempDir(), "reporter.yaml")
	must.Succeed(t, os.WriteFile(settings, []byte("tables: {audit: {owner: platform}, eu-west-1/refunds: {}}\n"), 0o600))
	for line, want := range map[string]string{
		"keys hash a --table audit": "",
		"silences add --for 1h --reason x --match table=~oders --severity critical": "",
		"silences add --for 1h --reason x --match table=orders --index by-status":   "",
		"keys hash a --table oders --store-url postgres://keyheat@127.0.0.1:1/k":    "the names of the table and index were not checked: ",
		"incidents --table orders":     "No samples yet: the load is unknown",
		"report --tables orders,carts": "",
		"silences add --for 1h --reason x --match table=~oders --index by-status":     "",
		"silences add --for 1h --reason x --match table!=oders --match index=by-date": "",
	} {
		args := append(strings.Fields(line), "--config", settings)
		if !strings.Contains(line, "--store-url") {
			args = append(args, "--store-url", url)
		}
		var out, errs bytes.Buffer
		if code := cli.Run(t.Context(), command(), args, cli.Streams{Out: &out, Err: &errs}); code != cli.OK || (want == "") != (errs.Len() == 0) || !strings.Contains(errs.String(), want) {
			t.Errorf("%q exits with %d, want stderr with %q: %s", line, code, want, errs.String())
		}
	}
}

// TestSettingsThatNameTables: each setting that takes a table, an index or a key warns at the
// start about one that was never seen, or has a reason to take any.
func TestSettingsThatNameTables(t *testing.T) {
	t.Parallel()
	st, _ := storeWithNames(t)
	settings := Config{
		Section: tables.Section{Tables: tables.Tables{
			"oders": {}, "orders": {Indexes: map[string]tables.Index{"by-statuses": {}, "by-status": {}, "idle": {}}, LSIs: []string{"by-state"}, Vectors: []string{"by-status2"}},
		}},
		Reports:    Reports{"weekly": {Tables: []string{"eu-west-1/orders", "orderz"}}},
		Receivers:  Receivers{"chat": {Tables: []string{"orders", "ord?rs", "order", "audit-*"}}},
		CloudWatch: CloudWatch{Tables: []string{"carts", "cartz", "unsampled-table"}},
	}
	want := map[string][]string{
		"tables":                     {`tables.oders: no sample has the table \"oders\": did you mean \"orders\"?`},
		"tables.NAME.indexes":        {`tables.orders.indexes: no sample of orders has the index \"by-statuses\": did you mean \"by-status\"?`},
		"tables.NAME.lsis":           {`tables.orders.lsis: no sample of orders has the index \"by-state\": did you mean \"by-status\"?`},
		"tables.NAME.vector_indexes": {`tables.orders.vector_indexes: no sample of orders has the index \"by-status2\": did you mean \"by-status\"?`},
		"reports.NAME.tables": {
			`reports.weekly.tables: no sample of orders has the region \"eu-west-1\", or any region: leave it out`,
			`reports.weekly.tables: no sample has the table \"orderz\": did you mean \"orders\"?`,
		},
		"receivers.NAME.tables": {`receivers.chat.tables: no sample has the table \"order\": did you mean \"orders\"?`, `receivers.chat.tables: no sample has the table \"audit-*\"; known are carts, orders`},
		"cloudwatch.tables":     {`cloudwatch.tables: no sample has the table \"cartz\": did you mean \"carts\"?`},
	}
	refused := map[string]string{
		"reports.NAME.receivers": `reports.weekly.receivers: no receiver "pager"`,
	}
	free := []string{
		"receivers",                       // it gives the names
		"policy.keys", "tables.NAME.keys", // how keys are kept
		"tables.NAME.partition_key", "tables.NAME.sort_key", "tables.NAME.item_collection_keys", "tables.NAME.indexes.NAME.partition_key", "tables.NAME.indexes.NAME.sort_key", // attributes
	}
	if got := reference.NamingKeys(defaults()); !slices.Equal(got, slices.Sorted(slices.Values(slices.Concat(slices.Collect(maps.Keys(want)), slices.Collect(maps.Keys(refused)), free)))) {
		t.Errorf("the settings that take names are %q: give each a misspelt name here, or the reason why it takes any", got)
	}
	file := filepath.Join(t.TempDir(), "reporter.yaml")
	must.Succeed(t, os.WriteFile(file, []byte("store: {url: 'sqlite::memory:'}\nreports: {weekly: {cron: 0 8 * * MON, receivers: [pager]}}\n"), 0o600))
	var out, errs bytes.Buffer
	code := cli.Run(t.Context(), command(), []string{"check", "--config", file}, cli.Streams{Out: &out, Err: &errs})
	for setting, sentence := range refused {
		if code != cli.Misconfigured || strings.Count(out.String(), "no receiver ") != len(refused) || !strings.Contains(out.String(), sentence) {
			t.Errorf("%s: exits with %d, want %s: %s", setting, code, sentence, out.String())
		}
	}
	warn := func(st *store.Store) string {
		var logged bytes.Buffer
		d := cli.Daemon{Store: st, Log: slog.New(slog.NewTextHandler(&logged, nil))}
		d.WarnOfNames(t.Context(), settings.namedSettings(), st.Targets)
		return logged.String()
	}
	logged, warnings := warn(st), 0
	for _, sentences := range want {
		for _, sentence := range sentences {
			if warnings++; !strings.Contains(logged, sentence) {
				t.Errorf("no warning %s", sentence)
			}
		}
	}
	if strings.Count(logged, "WARN") != warnings || t.Failed() {
		t.Errorf("want %d warnings:\n%s", warnings, logged)
	}
	empty, err := store.Open(t.Context(), "sqlite::memory:", store.Options{})
	must.Succeed(t, err)
	defer empty.Close()
	if logged := warn(empty); logged != "" {
		t.Errorf("before the first sample: %s", logged)
	}
}

// TestAnalyzeWarnsOfTables: a setting of --tables whose table no sample has gets a warning.
func TestAnalyzeWarnsOfTables(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"tables.yaml":    "tables: {ordesr: {owner: platform}, orders: {owner: payments}}",
		"samples.ndjson": `{"ts":1773133200000,"table":"orders","pk":"a","op":"PutItem","wcu":1}`,
	} {
		must.Succeed(t, os.WriteFile(dir+"/"+name, []byte(text), 0o600))
	}
	var out, errs bytes.Buffer
	code := cli.Run(t.Context(), command(), []string{"analyze", "--tables", dir + "/tables.yaml", dir + "/samples.ndjson"}, cli.Streams{Out: &out, Err: &errs})
	want := `warning: --tables: tables.ordesr: no sample has the table "ordesr": did you mean "orders"?` + "\n"
	if code != cli.OK || errs.String() != want {
		t.Errorf("exits with %d and %q, want %q", code, errs.String(), want)
	}
}
