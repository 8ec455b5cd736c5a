package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/partition"
	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// TestPartitionsOfATable: a table without a map, one with a map, and a misspelt one.
func TestPartitionsOfATable(t *testing.T) {
	t.Parallel()
	url := "sqlite:" + filepath.Join(t.TempDir(), "k.db")
	st, err := store.Open(t.Context(), url, store.Options{Migrate: true})
	must.Succeed(t, err)
	defer st.Close()
	lease, ok, err := st.AcquireLease(t.Context(), "judge", "test", time.Minute)
	if err != nil || !ok {
		t.Fatalf("lease: %t, %v", ok, err)
	}
	m := partition.New(true)
	o := &partition.Observed{}
	o.Add(1 << 60)
	m.Update([]partition.Listed{{Name: "orders/1/shardId-00000001", Stream: "orders/1", Open: true, Observed: o}}, time.Now())
	document, err := json.Marshal(m)
	must.Succeed(t, err)
	walk := detect.Walk{From: time.Now().UTC().Add(-10 * time.Minute).Truncate(time.Second), Through: time.Now().UTC().Truncate(time.Second), Share: 0.6}
	walking, err := json.Marshal(detect.Table{Walk: &walk})
	must.Succeed(t, err)
	if err := st.Judge(t.Context(), lease, store.Judgement{
		Maps:  []store.TargetDocument{{Target: sample.Target{Table: "orders"}, Document: document}},
		Views: []store.TargetDocument{{Target: sample.Target{Table: "orders"}, Document: walking}, {Target: sample.Target{Table: "carts"}, Document: []byte(`{}`)}},
	}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		want int
		args []string
		says string
	}{
		{cli.OK, []string{"orders"}, "orders has one partition"},
		{cli.OK, []string{"orders"}, say.Walk(&walk)},
		{cli.OK, []string{"orders", "-o", "json"}, `"share": 0.6`},
		{cli.OK, []string{"orders", "-o", "json"}, `"state": "one_partition"`},
		{cli.Misconfigured, []string{"carts"}, "a collector has to read its stream"},
		{cli.Misconfigured, []string{"order"}, `did you mean "orders"`},
	} {
		var out, said bytes.Buffer
		if got := cli.Run(t.Context(), command(), append([]string{"partitions", "--store-url", url}, c.args...), cli.Streams{Out: &out, Err: &said}); got != c.want || !strings.Contains(out.String()+said.String(), c.says) {
			t.Errorf("%q exits %d, want %d with %q: %s%s", c.args, got, c.want, c.says, out.String(), said.String())
		}
	}
}
