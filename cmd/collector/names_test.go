package main

import (
	"bytes"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/settings/tables"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/reference"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// TestNamesOfTables: each flag or setting that takes a table, an index or a key warns about one
// that was never seen, or has a reason to take any.
func TestNamesOfTables(t *testing.T) {
	t.Parallel()
	free := map[string]string{
		"collector generate --hot": "makes traffic", "collector generate --keys": "makes traffic", "collector generate --rolling": "makes traffic", "collector generate --tables": "makes traffic",
	}
	if got := reference.NamingFlags(command()); !slices.Equal(got, slices.Sorted(maps.Keys(free))) {
		t.Errorf("the flags that take names are %q: check each, or write the reason why it takes any", got)
	}
	freeSettings := map[string]string{
		"collect.tables": "a number",
		"streams.tables": "DynamoDB refuses an unknown table, and readiness says so",
		"keys":           "a secret", "policy.keys": "how keys are kept", "tables.NAME.keys": "how keys are kept",
		"kafka.tls.key_file":        "a file",
		"tables.NAME.partition_key": "an attribute", "tables.NAME.sort_key": "an attribute", "tables.NAME.item_collection_keys": "no name",
		"tables.NAME.indexes.NAME.partition_key": "attributes", "tables.NAME.indexes.NAME.sort_key": "attributes",
	}
	want := map[string]string{
		"tables":                     `tables.oders: no sample has the table \"oders\": did you mean \"orders\"?`,
		"tables.NAME.indexes":        `tables.orders.indexes: no sample of orders has the index \"by-state\": did you mean \"by-status\"?`,
		"tables.NAME.lsis":           `tables.orders.lsis: no sample of orders has the index \"by-statsu\": did you mean \"by-status\"?`,
		"tables.NAME.vector_indexes": `tables.orders.vector_indexes: no sample of orders has the index \"by-status2\": did you mean \"by-status\"?`,
	}
	all := slices.Concat(slices.Collect(maps.Keys(want)), slices.Collect(maps.Keys(freeSettings)))
	if got := reference.NamingKeys(defaults()); !slices.Equal(got, slices.Sorted(slices.Values(all))) {
		t.Errorf("the settings that take names are %q: check each, or write the reason why it takes any", got)
	}
	st, err := store.Open(t.Context(), "sqlite::memory:", store.Options{})
	must.Succeed(t, err)
	defer st.Close()
	must.Succeed(t, st.PutTableFacts(t.Context(), sample.Target{Table: "orders", Index: "by-status"}, []byte(`{}`)))
	settings := tables.Tables{"oders": {}, "orders": {Indexes: map[string]tables.Index{"by-state": {}}, LSIs: []string{"by-statsu"}, Vectors: []string{"by-status2"}}}
	var logged bytes.Buffer
	d := cli.Daemon{Store: st, Log: slog.New(slog.NewTextHandler(&logged, nil))}
	d.WarnOfNames(t.Context(), settings.Names(), st.AllTargets)
	for setting, sentence := range want {
		if !strings.Contains(logged.String(), sentence) {
			t.Errorf("%s: no warning %s in\n%s", setting, sentence, logged.String())
		}
	}
}
