package board_test

import (
	"bufio"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"go.yaml.in/yaml/v3"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/board"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/detect/keydesign"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/internal/testsupport/scenario"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// worldsDir is where TestWorlds writes the samples of each world, for a look at what
// `reporter analyze --explain` says of them; empty writes none.
var worldsDir = flag.String("worlds", "", "write each field world's samples into this `directory`, as NDJSON")

// fieldWorld is one of testdata/worlds*.yaml: what a specialist expects of traffic.
type fieldWorld struct {
	Name, Says, AWS string
	scenario.World  `yaml:",inline"`
	Tables          map[string]struct {
		Billing     string
		WCU, RCU    float64
		LSI, Global bool
		Warm        struct{ WCU, RCU float64 }
		Items       map[string]detect.Shape
	}
	Expect struct {
		Key, Kind, Severity, State, Fix string
		Pages, Children                 int
		Refused                         []string
		Share, Quiet                    bool
		// Act is the action for tonight, Caller whom it concerns first, To the most units a
		// second that it leaves the caller. Steps come in this order, Without not at all.
		Act    casebook.Act
		Caller string
		To     float64
		// No finding of the world has a step of Never, and no text about it a phrase of Unsaid:
		// figures, names and answers that no code has.
		Steps, Without, Never []detect.Fix
		Unsaid                []string
		// Figures are the count, lower bound, Region and seconds of a finding's step with a
		// code.
		Figures map[detect.Fix]detect.Arguments
		Cause   detect.Case
		Outlook casebook.Outlook
		Ground  detect.Ground
		// Harm is the refused share of the load, and the time of the first refusal.
		Harm struct {
			Share float64
			Since string
		}
		// Healed is the time from which the key was served after a split, 09:04:00 or its
		// beginning. Unhealed is that no finding claims a split.
		Healed   string
		Unhealed bool
		// Serves is the most that a table serves at once, Strong the part of strongly
		// consistent reads.
		Serves, Strong float64
	}
	// Open says why the verdict is another one; empty where it agrees.
	Open string
	// long leaves the world to make test-full, which also judges all in other ways. With -short
	// only some are judged twice.
	long, twice bool
}

func fieldWorlds(t *testing.T) (all []fieldWorld) {
	t.Helper()
	files, err := filepath.Glob("testdata/worlds*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("testdata has no worlds", err)
	}
	for _, file := range files {
		read := readWorlds(t, file)
		for i := range read {
			every := 12
			if filepath.Base(file) == "worlds.yaml" {
				every = 3
			}
			read[i].twice = i%every == 0 && (len(all)+i)%4 == 0 && read[i].Seconds <= 900
		}
		all = append(all, read...)
	}
	chooseShort(all, readVerdicts(t))
	return all
}

// chooseShort chooses what -short judges: some of the worlds of an hour at most, so that each
// case, step, ground and other code of the recorded verdicts is in one of them, and each
// operation, order of sort keys, source and severity.
func chooseShort(all []fieldWorld, verdicts map[string]string) {
	has, left := make([][]string, len(all)), map[string]bool{}
	for i := range all {
		w := &all[i]
		if w.long = true; w.Seconds > 3600 {
			continue
		}
		has[i] = strings.FieldsFunc(worldNames.ReplaceAllString(verdicts[w.Name], " $1 "), func(r rune) bool { return strings.ContainsRune(" ;,{}:\n", r) })
		has[i] = append(has[i], w.Expect.Kind, w.Expect.Severity, w.Expect.State, w.Source, w.Sampling.How)
		for k := range w.Load {
			has[i] = append(has[i], w.Load[k].Op, w.Load[k].Sort)
		}
		has[i] = slices.DeleteFunc(has[i], func(word string) bool { return !isCode.MatchString(word) })
		for _, code := range has[i] {
			left[code] = true
		}
	}
	for len(left) > 0 {
		worth := func(i int) (found float64) {
			seen := map[string]bool{}
			for _, code := range has[i] {
				if left[code] && !seen[code] {
					seen[code], found = true, found+1
				}
			}
			return found / float64(60+all[i].Seconds)
		}
		best, most := 0, 0.0
		for i := range all {
			if is := worth(i); is > most {
				best, most = i, is
			}
		}
		all[best].long = false
		for _, code := range has[best] {
			delete(left, code)
		}
	}
}

// worldNames are the names of a world, its tables, keys and callers in a recorded verdict, isCode
// is what its codes look like.
var (
	worldNames = regexp.MustCompile(`(?m)^\S+(?: first)?:| of (\w+) \S+|"(\\.|[^"\\])*"`)
	isCode     = regexp.MustCompile(`^[A-Za-z_]+$`)
)

func readWorlds(t *testing.T, name string) []fieldWorld {
	t.Helper()
	body, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = body.Close() }() // it was only read
	var file struct {
		Defaults struct {
			Seconds            int
			Start              time.Time
			scenario.WorldLoad `yaml:",inline"`
		}
		Worlds []fieldWorld
	}
	read := yaml.NewDecoder(body)
	read.KnownFields(true) // what nobody reads, nobody checks
	if err := read.Decode(&file); err != nil {
		t.Fatal(name, err)
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
			l.Sort, l.Caller, l.Reason = cmp.Or(l.Sort, d.Sort), cmp.Or(l.Caller, d.Caller), cmp.Or(l.Reason, d.Reason)
		}
	}
	return file.Worlds
}

// facts returns what is known of a table of the world.
func (w *fieldWorld) facts(of detect.Target) *detect.TableFacts {
	known := w.Tables[of.Table]
	f := &detect.TableFacts{LSIs: []string{}, KeySchema: sample.Keys("pk")}
	if known.LSI {
		f.LSIs = []string{"by-date"}
	}
	f.WarmWCU, f.WarmRCU = known.Warm.WCU, known.Warm.RCU
	f.Billing, f.RCU = map[string]string{"on-demand": detect.BillingOnDemand, "provisioned": detect.BillingProvisioned}[known.Billing], known.RCU
	f.WCU, f.Items = known.WCU, known.Items
	for _, l := range w.Load {
		if l.Table != of.Table {
			continue
		}
		if l.Index == "" && l.Sort != "none" {
			f.KeySchema = sample.Keys("pk", "sk")
		}
		if known.Global && l.Region != of.Region && !slices.Contains(f.Replicas, l.Region) {
			f.Replicas = append(f.Replicas, l.Region)
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
	// first is the root of the first incident that fired within the first seconds, as it was
	// then.
	first *detect.Finding
	// members are what the findings of each incident were ever about, by its ID.
	members map[string]map[detect.KeyRef]bool
}

// checkSeconds is how often the findings are looked at, as a judge does.
const checkSeconds = 30

// verdictsFile holds the codes and figures of each world's incidents: of the first that fires,
// and of all at the end. updateVerdicts writes it anew.
const verdictsFile = "testdata/verdicts.txt"

var updateVerdicts = flag.Bool("verdicts", false, "write "+verdictsFile+" anew")

// verdicts returns the incidents of the world, one a line.
func (w *fieldWorld) verdicts(t *testing.T, j *judged) (text string) {
	t.Helper()
	if j.first != nil {
		text = fmt.Sprintf("%s first: %s\n", w.Name, verdictLine(t, j.first))
	}
	for _, group := range casebook.Roots(j.found) {
		text += fmt.Sprintf("%s: %s; %d findings\n", w.Name, verdictLine(t, group[0]), len(group))
	}
	return text
}

// readVerdicts returns the lines of verdictsFile by the names of their worlds.
func readVerdicts(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(verdictsFile)
	if err != nil && !*updateVerdicts {
		t.Fatal(err)
	}
	all := map[string]string{}
	for line := range strings.Lines(string(text)) {
		world, _, _ := strings.Cut(line, ":")
		all[strings.TrimSuffix(world, " first")] += line
	}
	return all
}

// firstSeconds is how many seconds of a world an alert is looked for in each second.
const firstSeconds = 10

// firing returns the root of the worst incident that fires; nil if none does.
func firing(found []detect.Finding) *detect.Finding {
	for _, i := range casebook.Incidents(found) {
		if i.State != detect.Firing {
			continue
		}
		for k := range found {
			if found[k].Fingerprint == i.Root {
				return &found[k]
			}
		}
	}
	return nil
}

// judge lets a board observe the world second by second.
func (w *fieldWorld) judge() (j judged) {
	b := board.New(board.Options{Facts: w.facts})
	b.Settle(w.Start.Unix()-1, true)
	census, targets := keydesign.NewCensus(), map[detect.Target]bool{}
	told := map[string]bool{} // incidents and their findings that were told of
	j.members = map[string]map[detect.KeyRef]bool{}
	check := func() {
		for of := range targets {
			b.SetView(of, census.View(of, detect.DefaultPolicy()))
		}
		j.found = b.Findings()
		j.incidents = casebook.Incidents(j.found)
		for i := range j.found {
			f := &j.found[i]
			if j.members[f.Incident] == nil {
				j.members[f.Incident] = map[detect.KeyRef]bool{}
			}
			j.members[f.Incident][f.KeyRef] = true
		}
		for _, i := range j.incidents {
			if i.State != detect.Firing || !isSent(&i, j.found) {
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
			targets[all[i].Target] = true
			census.Observe(&all[i])
			b.Observe(&all[i])
		}
		b.Settle(second, true)
		if j.first == nil && second-w.Start.Unix() < firstSeconds {
			j.first = firing(b.Findings())
		}
		if second%checkSeconds == 0 {
			check()
		}
	})
	check()
	return j
}

// isSent reports whether the default policy sends an incident that fires: hot keys need
// lasting harm. It sets the severity to the lasting one, as internal/judge/verdict does.
func isSent(i *detect.Incident, found []detect.Finding) bool {
	lasting, ofKeys := detect.Severity(""), false
	for k := range found {
		f := &found[k]
		if f.Incident != i.ID || f.State == detect.Pending {
			continue
		}
		ofKeys, lasting = ofKeys || f.Subject.OfKey(), detect.WorstSeverity(lasting, f.Lasting)
	}
	if ofKeys && detect.Rank(lasting) < detect.Rank(i.Severity) {
		i.Severity = lasting
	}
	return !ofKeys || lasting != ""
}

// kinds are the specialist's words in those of the verdict.
func hasKind(word string, root *detect.Finding, i *detect.Incident, all []*detect.Finding) bool {
	switch word {
	case "":
		return true
	case "hot item":
		return slices.ContainsFunc(all, func(f *detect.Finding) bool { return f.Ground == detect.GroundItem })
	case "hot partition":
		return slices.Contains([]detect.Case{casebook.HotKey, casebook.OneCaller, casebook.RetryStorm}, casebook.Form(i.Case)) && root.Ground != detect.GroundItem
	case "starvation":
		return i.Subject == detect.SubjectTable
	case "collection growth":
		return slices.ContainsFunc(all, func(f *detect.Finding) bool { return f.Case == casebook.LargeCollection })
	}
	return casebook.Form(i.Case) == map[string]detect.Case{
		"few values": casebook.FewValues, "rolling key": casebook.TimeKey, "moving hot spot": casebook.MovingSpot,
		"sharded key": casebook.TooFewShards, "single caller": casebook.OneCaller, "retry storm": casebook.RetryStorm,
		"warm keys": casebook.SharedPartition,
	}[word]
}

// fixes are the specialist's words for a first fix. To shard is to divide an item, where
// that is all there is of the key, and to put a shard or something else beside the time,
// where the key is one.
var fixes = map[string][]detect.Fix{
	"shard":          {detect.FixShardedKey, detect.FixShardedIndex, detect.FixDividedCounter, detect.FixTimeKey},
	"more shards":    {detect.FixMoreShards},
	"hash":           {detect.FixEvenShards},
	"split for heat": {detect.FixWaitForSplit},
	"cache":          {detect.FixCache},
	"eventual":       {detect.FixEventualRead},
	"smaller":        {detect.FixChangingItem, detect.FixReadItem, detect.FixWrittenItem},
	"transact":       {detect.FixConditionalWrite},
	"caller":         {detect.FixMendCaller, detect.FixStopTest, detect.FixBoundedRate},
	"key":            {detect.FixMoreValues},
	"warm":           {detect.FixPrewarmNewTable},
	"pre-warm":       {detect.FixPrewarmNewTable, detect.FixPrewarm, detect.FixPrewarmForRamp},
	"back":           {detect.FixCalmRetries},
	"shuffle":        {detect.FixShuffleInput},
	"capacity":       {detect.FixProvisionedCapacity, detect.FixIndexCapacity},
	"quota":          {detect.FixAccountQuota},
	"maximum":        {detect.FixOwnMaximum},
}

// isFix reports whether the finding's first fix is the one that the specialist calls so.
func isFix(root *detect.Finding, word string) bool {
	return len(root.Advice) > 0 && (slices.Contains(fixes[word], root.Advice[0].Fix) || string(root.Advice[0].Fix) == word)
}

// firstStep returns what is read of the first step; empty without one.
func firstStep(f *detect.Finding) string {
	if len(f.Advice) == 0 {
		return ""
	}
	return say.Imperative(f, &f.Advice[0]) + ". " + say.StepWhy(f, &f.Advice[0])
}

// disagreements returns what the verdict says otherwise than the specialist.
func (w *fieldWorld) disagreements(j *judged) (all []string) {
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	e := &w.Expect
	if j.pages != e.Pages {
		add("%d pages", j.pages)
	}
	for _, text := range j.texts() {
		all = append(all, w.unspeakable(text)...)
	}
	for i := range j.found {
		for _, s := range j.found[i].Advice {
			if slices.Contains(e.Never, s.Fix) {
				add("%s has the step %s", j.found[i].Case, s.Fix)
			}
		}
	}
	if e.Unhealed && slices.ContainsFunc(j.found, func(f detect.Finding) bool { return f.Healed != nil }) {
		add("claims a split")
	}
	if e.Quiet && len(j.found) > 0 {
		add("says %s", j.found[0].Case)
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
		add("is a %s (%s)", incident.Case, root.Ground)
	}
	if e.Fix != "" && !isFix(root, e.Fix) {
		add("first fix %q", firstStep(root))
	}
	if refused := namesOfRefused(root); !slices.Equal(refused[:min(len(refused), len(e.Refused))], e.Refused) {
		add("names %q as refused", refused)
	}
	if e.Share {
		w.shared(j, root, group, add)
	}
	w.acts(j, root, add)
	return all
}

// namesOfRefused returns the refused keys that a finding names.
func namesOfRefused(f *detect.Finding) (all []string) {
	var shown struct {
		Keys []struct{ Key string } `json:"refused_keys"`
	}
	document, err := json.Marshal(f)
	if err != nil || json.Unmarshal(document, &shown) != nil {
		panic(document)
	}
	for _, k := range shown.Keys {
		all = append(all, k.Key)
	}
	return all
}

// acts adds what is wrong with tonight's action and the steps.
func (w *fieldWorld) acts(j *judged, root *detect.Finding, add func(string, ...any)) {
	e, a := &w.Expect, casebook.New(root)
	if e.Act != "" && a.Move.Act != e.Act {
		add("now: %s", a.Move.Act)
	}
	if e.Caller != "" && (len(a.Move.Callers) == 0 || string(a.Move.Callers[0].Text) != e.Caller) {
		add("the callers are %v", a.Move.Callers)
	}
	if e.To > 0 && math.Abs(a.Move.To-e.To) > 0.15*e.To {
		add("to %.0f units", a.Move.To)
	}
	next := 0
	for _, s := range root.Advice {
		if next < len(e.Steps) && s.Fix == e.Steps[next] {
			next++
		}
		if slices.Contains(e.Without, s.Fix) {
			add("has the step %s", s.Fix)
		}
	}
	if next < len(e.Steps) {
		add("lacks the step %s in %s", e.Steps[next], root.Advice)
	}
	for fix, want := range e.Figures {
		if !slices.ContainsFunc(j.found, func(f detect.Finding) bool {
			return slices.ContainsFunc(f.Advice, func(s detect.Step) bool {
				got := s.Arguments
				return s.Fix == fix && (want.Count == 0 || got.Count == want.Count) && got.AtLeast == want.AtLeast && got.Region == want.Region &&
					math.Abs(float64(got.Seconds-want.Seconds)) <= 0.15*float64(got.Seconds)
			})
		}) {
			add("no step %s has the figures %+v", fix, want)
		}
	}
	if e.Cause != "" && a.Code != e.Cause {
		add("the cause is %s", a.Code)
	}
	if e.Outlook != "" && a.Healing.Outlook != e.Outlook {
		add("heals: %s", a.Healing.Outlook)
	}
	if e.Ground != "" && root.Ground != e.Ground {
		add("the ground is %s", root.Ground)
	}
	if h := &a.Harm; e.Harm.Since != "" && (!strings.HasPrefix(h.From.UTC().Format(time.TimeOnly), e.Harm.Since) || math.Abs(h.Refused-e.Harm.Share) > 0.005) {
		add("%.3f of the load is refused since %s", h.Refused, h.From.UTC().Format(time.TimeOnly))
	}
	if e.Healed != "" && (root.Healed == nil || !strings.HasPrefix(root.Healed.Since.UTC().Format(time.TimeOnly), e.Healed)) {
		add("healed: %+v", root.Healed)
	}
	if e.Serves > 0 && (root.Ramp == nil || root.Ramp.Serves != e.Serves) {
		add("the ramp is %+v", root.Ramp)
	}
	if e.Strong > 0 && math.Abs(root.Evidence.StrongReads-e.Strong) > 0.01 {
		add("%.2f of the reads are strong", root.Evidence.StrongReads)
	}
}

// shared adds what is beside the one incident, and that it has too few children.
func (w *fieldWorld) shared(j *judged, root *detect.Finding, group []*detect.Finding, add func(string, ...any)) {
	for i := range j.found {
		if f := &j.found[i]; f.Incident != root.Incident && f.Severity != detect.Info {
			add("%s of %s %q is an incident of its own", f.Subject, f.Name(), f.Key)
		}
	}
	if len(group) < 2 {
		add("the incident has one finding")
	}
	children := 0
	for of := range j.members[root.Incident] {
		if of != root.KeyRef && (of.Key != "" || of.Target != root.Target) {
			children++
		}
	}
	if w.Expect.Children > 0 && children != w.Expect.Children {
		add("%d children", children)
	}
}

// incident returns the one that the world is about: that of the named key, or of the
// target where that is named, and otherwise the first.
func (w *fieldWorld) incident(j *judged) (root *detect.Finding, incident *detect.Incident, group []*detect.Finding) {
	for _, g := range casebook.Roots(j.found) {
		of := slices.ContainsFunc(g, func(f *detect.Finding) bool {
			return w.Expect.Key == "" || string(f.Key) == w.Expect.Key || f.Key == "" && (f.Table == w.Expect.Key || f.Index == w.Expect.Key) ||
				f.Rolling != nil && strings.HasPrefix(string(f.Rolling.Template), w.Expect.Key) || f.Sharding != nil && string(f.Sharding.Base) == w.Expect.Key
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
	rows, verdicts, golden := make([]table.Row, len(all)), make([]string, len(all)), readVerdicts(t)
	var words worldWords
	t.Cleanup(func() {
		if *updateVerdicts {
			if err := os.WriteFile(verdictsFile, []byte(strings.Join(verdicts, "")), 0o600); err != nil {
				t.Error(err)
			}
		}
		words.report(t)
		view := table.NewWriter()
		view.AppendHeader(table.Row{"world", "expected", "got", "agree"})
		view.AppendRows(rows)
		t.Logf("\n%s", view.Render())
	})
	for n := range all {
		w := &all[n]
		t.Run(w.Name, func(t *testing.T) {
			t.Parallel()
			if testing.Short() && w.long && !*updateVerdicts {
				t.Skip("make test-full judges it")
			}
			if *worldsDir != "" {
				w.save(t, filepath.Join(*worldsDir, w.Name+".ndjson"))
			}
			j := w.judge()
			checkSteps(t, j.found)
			words.checkAlerts(t, w, &j)
			verdicts[n] = w.verdicts(t, &j)
			if !*updateVerdicts && verdicts[n] != golden[w.Name] {
				t.Errorf("its verdicts changed (-args -verdicts writes them anew):\n%swere:\n%s", verdicts[n], golden[w.Name])
			}
			wrong := w.disagreements(&j)
			read := func(turn int) bool { return !*updateVerdicts && (!testing.Short() || n%4 == turn) } // make test-full reads the pages of all
			if read(2) || *printProse {
				words.checkPage(t, w, &j)
			}
			if read(0) || w.Open != "" {
				wrong = append(wrong, w.explanations(t, &j)...)
			}
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

// checkSteps holds that every step is a fix with an effort, and that a key has one number of
// key shards, and one rate for each caller. An incident has one redesign of a table's key: more values,
// or key shards.
func checkSteps(t *testing.T, found []detect.Finding) {
	t.Helper()
	for _, group := range casebook.Roots(found) {
		values, shards := false, false
		for _, f := range group {
			for _, s := range f.Advice {
				values, shards = values || f.Index == "" && s.Fix == detect.FixMoreValues, shards || f.Index == "" && s.Action == detect.ActionShard
			}
		}
		if values && shards {
			t.Errorf("the incident of %s advises more values, and key shards", group[0].Case)
		}
	}
	for i := range found {
		for _, s := range found[i].Advice {
			if n := s.Arguments.Count; s.Action == detect.ActionShard && s.Fix != detect.FixEvenShards && n > 0 && n != found[i].Shards {
				t.Errorf("%s of %q has %d shards, and the step %+v", found[i].Case, found[i].Key, found[i].Shards, s)
			}
			if m := casebook.New(&found[i]).Move; s.Fix == detect.FixBoundedRate && m.To > 0 && m.Callers[0].Text == s.Arguments.Caller && m.To != s.Arguments.Units {
				t.Errorf("%s of %q is to be limited to %v, and the step is %+v", found[i].Case, found[i].Key, m.To, s)
			}
			if s.Action == "" || s.Effort == "" {
				t.Errorf("%s has the step %+v", found[i].Case, s)
			}
		}
	}
}

// save writes the world's samples into a file.
func (w *fieldWorld) save(t *testing.T, path string) {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := cmp.Or(w.write(file), file.Close()); err != nil {
		t.Fatal(err)
	}
}

// write writes the world's samples as NDJSON.
func (w *fieldWorld) write(to io.Writer) error {
	out := bufio.NewWriterSize(to, 1<<20)
	w.Records(7, func(_ int64, all []sample.Record) {
		for i := range all {
			_, _ = out.Write(append(all[i].AppendJSON(nil), '\n')) // Flush returns the error
		}
	})
	return out.Flush()
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
		text = fmt.Sprintf("%s %s, %s", j.incidents[0].Severity, j.incidents[0].Case, text)
	}
	return text
}
