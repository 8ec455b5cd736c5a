package board_test

import (
	"strings"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/board"
	"github.com/keyheat/keyheat/detect/internal/scenario"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// TestAGlobalTableSaysWhatIsReplicated has one key hot by writes and one by reads:
// writes load the other Regions too, reads only their own.
func TestAGlobalTableSaysWhatIsReplicated(t *testing.T) {
	t.Parallel()
	here := detect.Target{Region: "eu-west-1", Table: "orders"}
	const replicated = "This is a global table"
	for _, c := range []struct {
		says     string
		replicas []string
		change   bool
		write    string
	}{
		{"requests", []string{"us-west-2"}, false, replicated + ", with a replica in us-west-2: every write also consumes write units of the same key there. A partition's limits hold in each Region by itself, so loads of several Regions are not added up. Samples of requests show the writes that are made here, not those that are replicated to here"},
		{"changes", []string{"ap-south-1", "us-west-2"}, true, "with replicas in ap-south-1, us-west-2: every write also consumes write units of the same key there. A partition's limits hold in each Region by itself, so loads of several Regions are not added up. The stream shows the writes that are replicated to here, too."},
		{"no global table", []string{}, false, ""},
		{"not known", nil, false, ""},
	} {
		shard := sketch.NewShard(sketch.Config{})
		for second := range int64(10) {
			record := sample.Record{
				Time: (scenario.Began + second) * 1000, Region: here.Region, Table: here.Table, PK: sample.KeyString("written"),
				Op: sample.UpdateItem, WCU: 1_500_000, Rate: 1, N: 1, Change: c.change,
			}
			if err := shard.Add(&record); err != nil {
				t.Fatal(err)
			}
			if c.change {
				continue // a stream shows no reads
			}
			record.PK, record.Op, record.WCU, record.RCU = sample.KeyString("read"), sample.Query, 0, 4_000_000
			if err := shard.Add(&record); err != nil {
				t.Fatal(err)
			}
		}
		b := board.New(board.Options{Facts: func(of detect.Target) *detect.TableFacts {
			if of != here {
				t.Errorf("%s: asked for the facts of %s", c.says, of.Name())
			}
			return &detect.TableFacts{Replicas: c.replicas}
		}})
		for _, w := range scenario.Sealed(shard) {
			b.Observe(&w)
		}
		written, read := "", ""
		for _, f := range b.Findings() {
			switch f.Kind {
			case detect.HotKeyWrite:
				written = f.Why
			case detect.HotKeyRead:
				read = f.Why
			}
		}
		if written == "" || (read == "") != c.change || strings.Contains(read, replicated) {
			t.Errorf("%s: the reads: %q", c.says, read)
		}
		if c.write == "" && strings.Contains(written, replicated) || !strings.Contains(written, c.write) {
			t.Errorf("%s: the writes: %q", c.says, written)
		}
	}
}
