package main

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/store"
)

// TestShellsCompleteValues: states and severities are known, tables are the database's.
func TestShellsCompleteValues(t *testing.T) {
	t.Parallel()
	url := "sqlite:" + filepath.Join(t.TempDir(), "k.db")
	st, err := store.Open(t.Context(), url, store.Options{Migrate: true})
	must.Succeed(t, err)
	defer st.Close()
	for _, table := range []string{"orders", "carts"} {
		must.Succeed(t, st.PutTableFacts(t.Context(), detect.Target{Table: table}, []byte(`{}`)))
	}
	for line, want := range map[string][]string{
		"incidents --state":                                         {"firing", "pending", "resolved"},
		"incidents --severity":                                      {"critical", "warning"},
		"incidents --store-url " + url + " --table":                 {"carts", "orders"},
		"silences add --store-url " + url + " --table":              {"carts", "orders"},
		"partitions --store-url " + url:                             {"carts", "orders"},
		"notifications list --state":                                {"pending", "delivered", "dead", "cancelled", "summarised"},
		"incidents -o":                                              {"table", "json"},
		"incidents --store-url postgres://127.0.0.1:1/none --table": {}, // not the shell's to report
	} {
		var out, errs bytes.Buffer
		args := append([]string{"__complete"}, strings.Fields(line)...)
		if code := cli.Run(t.Context(), command(), append(args, ""), cli.Streams{Out: &out, Err: &errs}); code != cli.OK {
			t.Errorf("%s: %d %s", line, code, errs.String())
		}
		got := strings.Fields(out.String())
		if got = got[:len(got)-1]; !slices.Equal(got, want) { // the last word is for the shell
			t.Errorf("%s: got %q, want %q", line, got, want)
		}
	}
}
