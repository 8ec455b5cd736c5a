package analyze

import (
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/detect/whatif"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// TestExplanationsDoNotMislead holds words to what they stand beside.
func TestExplanationsDoNotMislead(t *testing.T) {
	t.Parallel()
	p, e := &page{}, &explanation{}
	e.finding(p, &detect.Finding{
		Case: casebook.TooFewShards, Subject: detect.SubjectKeys, KeyRef: detect.KeyRef{Target: detect.Target{Table: "orders"}, Key: "celebrity#SHARD_*"}, Severity: detect.Info,
		Peak: detect.Peak{Loads: detect.Loads{WCU: detect.Figure{Value: 9000, Low: 9000, High: 9000}}},
	})
	for _, wrong := range []string{"share", "proven above the limit", "by itself"} {
		if strings.Contains(p.String(), wrong) {
			t.Errorf("a page about a sharded key says %q:\n%s", wrong, p)
		}
	}
	estimated := true
	p = &page{}
	e = &explanation{verbose: true, computed: "The loads are lower bounds."}
	e.finding(p, &detect.Finding{Quality: detect.Quality{Sampling: detect.SamplingNone, Estimated: &estimated}})
	if !strings.Contains(p.String(), "units       "+e.computed) {
		t.Errorf("a page about units that are lower bounds: %s", p)
	}
	second := func(at int64, wcu float64) whatif.Second {
		return whatif.Second{At: at, Low: sketch.Load{Write: detect.Milli(wcu)}}
	}
	for exact, highest := range map[bool]float64{true: 1323, false: 1348} {
		seen := &explanation{verbose: true, seconds: []keySeconds{{key: sample.KeyString("k"), seconds: []whatif.Second{second(99, 5000), second(100, 1323), second(101, highest)}}}}
		f := detect.Finding{KeyRef: detect.KeyRef{Key: "k"}, Quality: detect.Quality{Sampling: detect.SamplingNone}, FirstSeen: time.Unix(100, 0), LastSeen: time.Unix(101, 0),
			Peak: detect.Peak{Loads: detect.Loads{WCU: detect.Figure{Value: 1323, Low: 1323, High: 1323}}}}
		p = &page{}
		seen.finding(p, &f)
		if strings.Contains(p.String(), "exact") != exact {
			t.Errorf("a peak of 1,323 of which the samples show %v: %s", highest, p)
		}
	}
	e = &explanation{policy: func(detect.Target) detect.Policy { return detect.DefaultPolicy() }, ofMany: []*detect.Finding{{KeyRef: detect.KeyRef{Target: detect.Target{Table: "orders"}}, Subject: detect.SubjectPartition}}}
	for table, refused := range map[string]bool{"orders": true, "carts": false} {
		p = &page{}
		e.calm(p, keySeconds{target: detect.Target{Table: table}, seconds: []whatif.Second{second(100, 300)}})
		if strings.Contains(p.String(), "--explain orders") != refused {
			t.Errorf("a key of %s without a finding is told:\n%s", table, p)
		}
	}
	batches := detect.Finding{Subject: detect.KeyWrites, Severity: detect.Warning, Evidence: &detect.Evidence{Records: 30, Seconds: 9, SortKeys: &detect.SortKeys{Distinct: 20}}, Quality: detect.Quality{CannotSee: []string{detect.BlindSeconds}}, Peak: detect.Peak{Loads: detect.Loads{WCU: detect.Figure{Value: 900, Low: 900, High: 900}}}}
	p = &page{}
	(&explanation{verbose: true}).finding(p, &batches)
	for _, l := range append(say.Figures(&batches), say.Requests(&batches)...) {
		if !strings.Contains(p.String(), l.Text) {
			t.Errorf("it does not say %q:\n%s", l.Text, p)
		}
	}
	p = &page{}
	draw(p, []float64{1100, 900}, 1100, 1000)
	if got := p.String(); !strings.Contains(got, "1,100 ▄\n") || !strings.Contains(got, "1,000┄█▄\n") {
		t.Errorf("what is above the limit has no row above its line:\n%s", p)
	}
}

// TestCellsThatSayNothing: a table as a whole is not held to one partition's limit, and
// shards are told only where they are an answer.
func TestCellsThatSayNothing(t *testing.T) {
	t.Parallel()
	steps := func(actions ...string) (all []detect.Step) {
		for _, a := range actions {
			all = append(all, detect.Step{Action: a, Effort: detect.EffortKeys})
		}
		return all
	}
	whole := &detect.Finding{Subject: detect.SubjectPartition, Utilization: 1, Shards: 1, Advice: steps(detect.ActionWait)}
	item := &detect.Finding{Subject: detect.KeyReads, Ground: detect.GroundItem, Utilization: 1.2, Shards: 2, Advice: steps(detect.ActionCache, detect.ActionCopies)}
	large := &detect.Finding{Subject: detect.KeyWrites, Utilization: 1.2, Shards: 2, Advice: steps(detect.ActionCompress, detect.ActionObject)}
	few := &detect.Finding{Case: casebook.FewValues, Subject: detect.SubjectKeys, Utilization: 1.2, Shards: 2, Advice: steps(detect.ActionRename)}
	day := &detect.Finding{Case: casebook.TimeKey, Subject: detect.SubjectKeys, Utilization: 1.2, Shards: 2, Advice: steps(detect.ActionRename)}
	sharded := &detect.Finding{Case: casebook.TooFewShards, Subject: detect.SubjectKeys, Sharding: &detect.Sharded{}, Utilization: 1.2, Shards: 9, Advice: steps(detect.ActionShard)}
	shard := &detect.Finding{Subject: detect.KeyWrites, Utilization: 1.2, Shards: 2, Advice: steps(detect.ActionShard)}
	for _, c := range []struct {
		f, root *detect.Finding
		limit   string
		shards  string
	}{{whole, whole, "", ""}, {item, item, "120%", ""}, {large, large, "120%", ""}, {few, few, "120%", ""}, {day, day, "120%", "2"}, {sharded, sharded, "fullest 120%", "9"}, {shard, sharded, "120%", ""}, {shard, shard, "120%", "2"}} {
		_, limit, _ := peakCells(c.f)
		if shards := shardsCell(c.f, c.root); limit != c.limit || shards != c.shards {
			t.Errorf("%s under %s: %q of the limit, %q shards, want %q and %q", c.f.About(), c.root.About(), limit, shards, c.limit, c.shards)
		}
	}
}
