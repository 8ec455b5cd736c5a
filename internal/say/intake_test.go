package say_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/intake"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/sample"
)

// TestIntake holds the sentences about samples that were read from files to a golden file.
func TestIntake(t *testing.T) {
	fault := intake.Fault{File: "a.csv", Line: 7, Record: 1200, Reason: sample.RejectNoKey, Text: "2026,orders", Remedy: "it has no partition key (pk)"}
	free := intake.Fault{File: "-", Reason: "request_failed", Remedy: "the request was rejected before it cost anything"}
	var text strings.Builder
	for _, c := range []struct {
		name string
		intake.Reading
	}{
		{"all is sound", intake.Reading{Good: 1200, Judged: true, Share: new(1.0)}},
		{"a part", intake.Reading{Good: 900, Bad: map[sample.RejectReason]int64{"no_key": 100, "bad_time": 2}, Judged: true, Share: new(0.899), Faults: []intake.Fault{fault}}},
		{"no samples", intake.Reading{UnreadFiles: 1, Unread: []string{"-"}}},
		{"no samples in many files", intake.Reading{UnreadFiles: 3, Unread: []string{"a", "b"}}},
		{"one bad line", intake.Reading{Bad: map[sample.RejectReason]int64{"request_failed": 1}, Faults: []intake.Fault{free}}},
		{"too few records", intake.Reading{Good: 3, Bad: map[sample.RejectReason]int64{"no_key": 97}, Noun: "records", Faults: []intake.Fault{fault}, UnreadFiles: 3, Unread: []string{"a", "b"}}},
		{"units are the least", intake.Reading{Good: 1000, Judged: true, Share: new(1.0), Unsized: 500}},
		{"units are computed", intake.Reading{Good: 1000, Judged: true, Share: new(1.0), Sized: 700}},
		{"many repeat an id", intake.Reading{Good: 800, Bad: map[sample.RejectReason]int64{"duplicate": 200}, Judged: true, Share: new(1.0)}},
		{"no rate", intake.Reading{Good: 1000, Judged: true, Share: new(1.0), Unrated: 1000}},
	} {
		r := &c.Reading
		fmt.Fprintf(&text, "%s:\n", c.name)
		sentences := []string{
			say.IntakeCount(r), say.IntakeShare(r), say.IntakeFailure(r), say.RepeatedIDs(r), say.UnsizedSamples(r), say.IntakeBound(r), say.ComputedUnits(r), say.RateWarning(r),
		}
		if !r.Judged {
			sentences = append(sentences, say.IntakeCause(r))
		}
		for _, sentence := range append(sentences, say.Faults(r)...) {
			if sentence != "" {
				fmt.Fprintln(&text, sentence)
			}
		}
	}
	tables := []detect.Table{
		{Target: detect.Target{Table: "orders", Index: "by-day"}, Requests: 900, Throttled: detect.Throttled{Requests: 300}}, {Target: detect.Target{Table: "carts"}, Requests: 9000},
	}
	fmt.Fprintf(&text, "throttled without a finding:\n%s\n", strings.Join(say.OtherKeys(tables, nil), "\n"))
	compareGolden(t, "testdata/intake.txt", text.String())
}
