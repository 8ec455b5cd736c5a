package board_test

import (
	"bufio"
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"go.yaml.in/yaml/v3"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/board"
	"github.com/keyheat/keyheat/detect/internal/scenario"
	"github.com/keyheat/keyheat/detect/keydesign"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// worldsDir is where TestWorlds writes the samples of each world, for a look at what
// `reporter analyze --explain` says of them; empty writes none.
var worldsDir = flag.String("worlds", "", "write each field world's samples into this `directory`, as NDJSON")

// fieldWorld is one of testdata/worlds.yaml: what a specialist expects of traffic.
type fieldWorld struct {
	Name, Says, AWS string
	scenario.World  `yaml:",inline"`
	Tables          map[string]struct {
		Billing            string
		LSI, Fresh, Global bool
	}
	Expect struct {
		Key, Kind, Severity, State, Because, Fix string
		Pages                                    int
		Never                                    []string
		Share, Quiet                             bool
	}
	// Open says why the verdict is another one; empty where it agrees.
	Open string
}

func fieldWorlds(t *testing.T) []fieldWorld {
	t.Helper()
	body, err := os.ReadFile("testdata/worlds.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Defaults struct {
			Seconds            int
			Start              time.Time
			scenario.WorldLoad `yaml:",inline"`
		}
		Worlds []fieldWorld
	}
	if err := yaml.Unmarshal(body, &file); err != nil {
		t.Fatal(err)
	}
	d := file.Defaults
	for i := range file.Worlds {
		w := &file.Worlds[i]
		w.Seconds = cmp.Or(w.Seconds, d.Seconds)
		if w.Start.IsZero() {
			w.Start = d.Start
		}
		for j := range w.Load {
			l := &w.Load[j]
			l.Op, l.Size = cmp.Or(l.Op, d.Op), cmp.Or(l.Size, d.Size)
			l.Sort, l.Caller = cmp.Or(l.Sort, d.Sort), cmp.Or(l.Caller, d.Caller)
		}
	}
	return file.Worlds
}

// facts returns what is known of the world's tables.
func (w *fieldWorld) facts(name string) *detect.TableFacts {
	known := w.Tables[name]
	f := &detect.TableFacts{LSIs: []string{}, KeySchema: sample.Keys("pk")}
	if known.LSI {
		f.LSIs = []string{"by-date"}
	}
	for _, l := range w.Load {
		if known.Global && l.Table == name {
			f.Replicas = append(f.Replicas, l.Region)
		}
	}
	f.Billing = map[string]string{"on-demand": detect.BillingOnDemand, "provisioned": detect.BillingProvisioned}[known.Billing]
	for _, l := range w.Load {
		if l.Table == name && l.Index == "" && l.Sort != "none" {
			f.KeySchema = sample.Keys("pk", "sk")
		}
	}
	return f
}

// judged is what the board said of a world.
type judged struct {
	found     []detect.Finding
	incidents []detect.Incident
	// pages are the incidents that fired, each with what became of it.
	pages int
	// fired is the worst severity of an incident while it fired.
	fired detect.Severity
}

// checkSeconds is how often the findings are looked at, as a judge does.
const checkSeconds = 30

// judge lets a board observe the world second by second.
func (w *fieldWorld) judge() (j judged) {
	b := board.New(board.Options{Facts: func(of detect.Target) *detect.TableFacts { return w.facts(of.Table) }})
	b.Settle(w.Start.Unix()-1, true)
	census, targets := keydesign.NewCensus(), map[detect.Target]bool{}
	told := map[string]bool{} // incidents and their findings that were told of
	check := func() {
		for of := range targets {
			b.SetView(of, census.View(of, detect.DefaultPolicy()))
		}
		j.found = b.Findings()
		j.incidents = detect.Incidents(j.found)
		for _, i := range j.incidents {
			if i.State != detect.Firing {
				continue
			}
			if !told[i.ID] && !slices.ContainsFunc(i.Findings, func(f string) bool { return told[f] }) {
				j.pages++
			}
			if detect.Rank(i.Severity) > detect.Rank(j.fired) {
				j.fired = i.Severity
			}
			told[i.ID] = true
			for _, f := range i.Findings {
				told[f] = true
			}
		}
	}
	w.Windows(7, func(second int64, all []sketch.Window) {
		for i := range all {
			targets[detect.Target{Table: all[i].Table, Index: all[i].Index}] = true
			census.Observe(&all[i])
			b.Observe(&all[i])
		}
		b.Settle(second, true)
		if second%checkSeconds == 0 {
			check()
		}
	})
	check()
	return j
}

// kinds are the specialist's words in those of the verdict.
func hasKind(word string, root *detect.Finding, i *detect.Incident, all []*detect.Finding) bool {
	switch word {
	case "":
		return true
	case "hot item":
		return slices.ContainsFunc(all, func(f *detect.Finding) bool { return f.Reason == detect.HotItem })
	case "hot partition":
		return (i.Cause == detect.CauseHotKey || i.Cause == detect.CauseIndexBackPressure || i.Cause == detect.CauseSingleCaller || i.Cause == detect.CauseRetryStorm) && root.Reason != detect.HotItem
	case "collection growth":
		return slices.ContainsFunc(all, func(f *detect.Finding) bool { return f.Kind == detect.LargeCollection })
	}
	return i.Cause == map[string]detect.Cause{
		"few values": detect.CauseFewValues, "rolling key": detect.CauseRollingKey, "moving hot spot": detect.CauseMovingHotSpot,
		"sharded key": detect.CauseShardedKey, "single caller": detect.CauseSingleCaller, "starvation": detect.CauseStarvation, "retry storm": detect.CauseRetryStorm,
		"warm keys": detect.CauseHotPartition,
	}[word]
}

// fixes are the words by which a first fix is known.
var fixes = map[string][]string{
	"shard": {"shard", "spread", "divide"}, "split for heat": {"adaptive capacity", "splits it"}, "cache": {"cache"},
	"eventual": {"eventually"}, "smaller": {"smaller", "vertical", "KB"}, "transact": {"transact"}, "caller": {"caller", "it makes"},
	"key": {"key of", "values"}, "more shards": {"number of shards"}, "hash": {"hash"}, "warm": {"warm"}, "back": {"back off"},
}

// firstFix returns the first step that is something to do: that capacity does not help
// is none.
func firstFix(root *detect.Finding) string {
	for _, s := range root.Advice {
		if s.Action != detect.ActionCapacity || !strings.Contains(s.Text, "will not help") {
			return s.Action + ": " + s.Text
		}
	}
	return ""
}

func containsAny(text string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(strings.ToLower(text), strings.ToLower(w)) })
}

// disagreements returns what the verdict says otherwise than the specialist.
func (w *fieldWorld) disagreements(j *judged) (all []string) {
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	e := &w.Expect
	if j.pages != e.Pages {
		add("%d pages", j.pages)
	}
	for i := range j.found {
		f := &j.found[i]
		text := f.Why
		for _, s := range f.Advice {
			text += " " + s.Text
		}
		for _, word := range e.Never {
			if containsAny(text, []string{word}) {
				add("says %q of %s", word, f.Kind)
			}
		}
		if e.Quiet {
			add("says %s", f.Kind)
		}
	}
	switch e.Severity {
	case "none", "not critical":
		if j.fired == detect.Critical || e.Severity == "none" && j.fired != "" {
			add("is %s", j.fired)
		}
		return all
	}
	root, incident, group := w.incident(j)
	if root == nil {
		add("nothing is found of %s", cmp.Or(e.Key, e.Kind))
		return all
	}
	if string(incident.Severity) != e.Severity {
		add("is %s", incident.Severity)
	}
	if e.State != "" && string(incident.State) != e.State {
		add("is %s", incident.State)
	}
	if !hasKind(e.Kind, root, incident, group) {
		add("is a %s (%s)", incident.Cause, root.Reason)
	}
	why := ""
	for _, f := range group {
		why += f.Why + " "
		for _, s := range f.Advice {
			why += s.Text + " "
		}
	}
	if !containsAny(why, []string{e.Because}) {
		add("does not say %q", e.Because)
	}
	if fix := firstFix(root); e.Fix != "" && !containsAny(fix, append(fixes[e.Fix], e.Fix)) {
		add("first fix %.40q", fix)
	}
	return all
}

// incident returns the one that the world is about: that of the named key, or of the
// target where that is named, and otherwise the first.
func (w *fieldWorld) incident(j *judged) (root *detect.Finding, incident *detect.Incident, group []*detect.Finding) {
	for _, g := range detect.Roots(j.found) {
		of := slices.ContainsFunc(g, func(f *detect.Finding) bool {
			return w.Expect.Key == "" || f.Key == w.Expect.Key || f.Key == "" && (f.Table == w.Expect.Key || f.Index == w.Expect.Key) ||
				f.Rolling != nil && strings.HasPrefix(f.Rolling.Template, w.Expect.Key) || f.Sharding != nil && f.Sharding.Base == w.Expect.Key
		})
		if !of {
			continue
		}
		i := slices.IndexFunc(j.incidents, func(i detect.Incident) bool { return i.ID == g[0].Incident })
		if incident == nil || detect.Rank(j.incidents[i].Severity) > detect.Rank(incident.Severity) {
			root, incident, group = g[0], &j.incidents[i], g
		}
	}
	return root, incident, group
}

// TestWorlds holds the verdict to what a specialist expects of traffic as it is in the
// field. A world that is open must disagree: one that does not is to be closed.
func TestWorlds(t *testing.T) {
	t.Parallel()
	all := fieldWorlds(t)
	if len(all) < 60 {
		t.Fatalf("%d worlds, want at least 60", len(all))
	}
	rows := make([]table.Row, len(all))
	t.Cleanup(func() {
		view := table.NewWriter()
		view.AppendHeader(table.Row{"world", "expected", "got", "agree"})
		view.AppendRows(rows)
		t.Logf("\n%s", view.Render())
	})
	for n := range all {
		w := &all[n]
		t.Run(w.Name, func(t *testing.T) {
			t.Parallel()
			if *worldsDir != "" {
				w.write(t, filepath.Join(*worldsDir, w.Name+".ndjson"))
			}
			j := w.judge()
			checkSteps(t, j.found)
			wrong := w.disagreements(&j)
			rows[n] = table.Row{w.Name, w.expected(), j.summary(), agreement(wrong, w.Open)}
			switch {
			case len(wrong) > 0 && w.Open == "":
				t.Errorf("%s\nthe verdict: %s", w.Says, strings.Join(wrong, "; "))
			case len(wrong) == 0 && w.Open != "":
				t.Errorf("it agrees, but is open: %s", w.Open)
			}
		})
	}
}

// checkSteps holds that every fix says what it takes, and what load it leaves or why that
// cannot be told.
func checkSteps(t *testing.T, found []detect.Finding) {
	t.Helper()
	for i := range found {
		for _, s := range found[i].Advice {
			isRemark := s.Action == detect.ActionCapacity || s.Action == detect.ActionIndex || s.Action == detect.ActionWait
			if s.Effort == "" && !isRemark || s.Effort != "" && s.After == nil && s.Basis == "" && s.Action != detect.ActionPipeline {
				t.Errorf("%s has the step %+v", found[i].Kind, s)
			}
		}
	}
}

// write writes the world's samples.
func (w *fieldWorld) write(t *testing.T, path string) {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	out := bufio.NewWriter(file)
	w.Records(7, func(_ int64, all []sample.Record) {
		for i := range all {
			_, _ = out.Write(append(all[i].AppendJSON(nil), '\n')) // Flush returns the error
		}
	})
	if err := cmp.Or(out.Flush(), file.Close()); err != nil {
		t.Fatal(err)
	}
}

func agreement(wrong []string, open string) string {
	switch {
	case len(wrong) == 0:
		return "yes"
	case open == "":
		return "NO: " + strings.Join(wrong, "; ")
	}
	return "open: " + open
}

func (w *fieldWorld) expected() string {
	return strings.Join(slices.DeleteFunc([]string{w.Expect.Severity, w.Expect.Kind, w.Expect.Fix, fmt.Sprintf("%d pages", w.Expect.Pages)}, func(s string) bool { return s == "" }), ", ")
}

// summary returns the worst incident and the pages.
func (j *judged) summary() string {
	text := fmt.Sprintf("%d pages", j.pages)
	if len(j.incidents) > 0 {
		text = fmt.Sprintf("%s %s, %s", j.incidents[0].Severity, j.incidents[0].Cause, text)
	}
	return text
}
