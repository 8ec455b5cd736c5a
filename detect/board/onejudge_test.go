package board_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/internal/analyze"
	"github.com/keyheat/keyheat/internal/judge/fold"
	reporter "github.com/keyheat/keyheat/internal/judge/verdict"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/scenario"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// TestOneJudge holds the reporter and `reporter analyze` to the same incidents and the same
// words about the same samples, at the end of every world. A file is judged as it stands: the
// reporter looks at a table's keys for some minutes before it says that they are few.
func TestOneJudge(t *testing.T) {
	t.Parallel()
	for _, w := range fieldWorlds(t) {
		t.Run(w.Name, func(t *testing.T) {
			t.Parallel()
			fewValues := w.Expect.Kind == "few values"
			if testing.Short() && (!w.twice || fewValues) {
				t.Skip("make test-full judges this world twice")
			}
			if fewValues {
				w.Seconds = max(w.Seconds, 900) // until the reporter says so, too
			}
			daemon, file := w.stored(t), w.analyzed(t)
			for _, name := range slices.Sorted(maps.Keys(joined(daemon, file))) {
				if daemon[name] != file[name] {
					t.Errorf("%s\n the reporter says  %s\n analyze says       %s", name, daemon[name], file[name])
				}
			}
		})
	}
}

func joined(a, b map[string]string) map[string]string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// described describes what people are told: the incidents, with what is said of their roots,
// and the findings that are a warning or worse.
func (w *fieldWorld) described(found []detect.Finding, incidents []detect.Incident) map[string]string {
	all, roots := make(map[string]string), make(map[string]*detect.Finding)
	for i := range found {
		f := &found[i]
		roots[f.Fingerprint] = f
		say.Tell(f)
		if detect.Rank(f.Severity) >= detect.Rank(detect.Warning) && !w.isYoung(f.Case) {
			all[fmt.Sprintf("finding %s %s %q", f.Name(), f.Subject, f.Key)] = fmt.Sprintf("%s %s: %s", f.Severity, f.State, f.Case)
		}
	}
	for _, i := range incidents {
		root := roots[i.Root]
		brief := say.New(root)
		text := equalValue.ReplaceAllString(say.Text(brief.Lines()), "on one of")
		if detect.Rank(i.Severity) >= detect.Rank(detect.Warning) && !w.isYoung(i.Case) {
			all[fmt.Sprintf("incident %s of %s %s %q", i.Case, root.Name(), root.Subject, root.Key)] = fmt.Sprintf("%s %s: %s\n%s", i.Severity, i.State, brief.Title, text)
		}
	}
	return all
}

// equalValue is which of few values is named. Where they are equally hot it may be any.
var equalValue = regexp.MustCompile("on “[^”]*”, one of")

// isYoung reports whether the reporter does not say yet what the file says: that a table has
// few keys, before it has looked at them for ten minutes.
func (w *fieldWorld) isYoung(c detect.Case) bool { return c == casebook.FewValues && w.Seconds <= 600 }

// stored is what a reporter has stored at the end of the world.
func (w *fieldWorld) stored(t *testing.T) map[string]string {
	t.Helper()
	s := reporter.NewState(reporter.Options{Facts: w.facts, PageWithin: time.Hour, MaxKeys: 1 << 20, ViewDelay: time.Minute}, scenario.Seed, map[string]int64{})
	config := sketch.Config{Seed: scenario.Seed}
	shard := sketch.NewShard(config)
	findings, incidents := map[string]detect.Finding{}, map[string]detect.Incident{}
	seq := int64(0)
	w.Records(7, func(second int64, records []sample.Record) {
		for i := range records {
			must.Succeed(t, shard.Add(&records[i]))
		}
		d := sketch.NewDelta(config)
		shard.Seal(d)
		seq++
		now, h := time.Unix(second+1, 0), fold.Horizon{Complete: second + 1, Over: second + 1}
		deltas := []fold.Delta{fold.NewDelta("collector", seq, d)}
		s.Fold(deltas, now)
		closing := s.Closing(h, now)
		for left, done := closing, false; !done; {
			left, done = s.Observe(left, h, now)
			must.Succeed(t, s.SetIncidents(s.UnknownIncidents(nil), nil))
			must.Succeed(t, s.Compare(now))
		}
		p, err := s.Pending(closing, s.Tables(now), h, now)
		must.Succeed(t, err)
		for i := range p.Findings {
			f, err := detect.ReadFinding(p.Findings[i].Document)
			must.Succeed(t, err)
			findings[f.Fingerprint] = f
		}
		for i := range p.Incidents {
			var in detect.Incident
			must.Succeed(t, json.Unmarshal(p.Incidents[i].Document, &in))
			incidents[in.ID] = in
		}
		s.MarkWritten(p)
	})
	return w.described(slices.Collect(maps.Values(findings)), slices.Collect(maps.Values(incidents)))
}

// analyzed is what `reporter analyze` says of the world's samples.
func (w *fieldWorld) analyzed(t *testing.T) map[string]string {
	t.Helper()
	var r struct {
		Incidents []detect.Incident
		Findings  []detect.Finding
	}
	text := w.analyze(t, analyze.Options{Format: analyze.FormatJSON})
	must.Succeed(t, json.NewDecoder(strings.NewReader(text)).Decode(&r))
	return w.described(r.Findings, r.Incidents)
}
