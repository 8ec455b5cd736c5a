package say_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/internal/testsupport/hostile"
	"github.com/keyheat/keyheat/internal/testsupport/scenario"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/position"
)

var update = flag.Bool("update", false, "write the golden files anew")

// story is a finding, and what is known of it beside what it is about.
type story struct {
	name string
	kind any // a watched subject, or a case
	key  string
	tell func(*detect.Finding)
}

// ownStories are the stories in files of their own, as a new case has one, and ownWords what
// on-call reads, by their names.
var (
	ownStories []story
	ownWords   = map[string]string{}
)

func add(s story, words string) bool {
	ownStories, ownWords[s.name] = append(ownStories, s), words
	return true
}

// hot is a key with a load, of which a part is served.
func hot(wcu, served float64, ground detect.Ground) func(*detect.Finding) {
	return func(f *detect.Finding) {
		f.Peak.WCU, f.Consumed.WCU = detect.Figure{Value: wcu, Low: wcu, High: wcu}, served
		if served < wcu {
			f.Throttling = &detect.Throttling{From: f.FirstSeen, To: f.LastSeen, Units: 30 * (wcu - served), Share: 1 - served/wcu}
		}
		f.Ground, f.Utilization, f.Shards, f.OverSeconds = ground, wcu/1000, 3, new(20)
		f.Evidence = &detect.Evidence{Records: 400, Seconds: 16, Callers: []detect.Part{{Text: "web", Low: 0.48, High: 0.52}, {Text: "app", Low: 0.28, High: 0.32}}, SortKeys: &detect.SortKeys{Known: 1}}
		f.Advice = []detect.Step{step(detect.FixShardedKey, detect.NewAfter(f.Subject, wcu/3, wcu/3))}
	}
}

// stories are all stories, those of the golden files first.
func stories() []story { return append(goldenStories(), ownStories...) }

func goldenStories() []story {
	refused := func(r sample.ThrottleReason, n int64) func(*detect.Finding) {
		return func(f *detect.Finding) {
			f.Evidence = &detect.Evidence{Records: 4 * n, Seconds: 60, Refused: map[string]int64{r.String(): n}}
			f.Throttling = &detect.Throttling{From: f.FirstSeen, To: f.LastSeen, Units: float64(n), Share: 0.25}
			f.Ground = map[sample.ThrottleReason]detect.Ground{sample.KeyRange: detect.GroundNotSeen, sample.OfIndex: detect.GroundIndex}[r]
			if f.Subject == detect.SubjectTable {
				f.Ground = casebook.Lack(f)
			}
		}
	}
	young := func(f *detect.Finding) {
		hot(1680, 1000, detect.GroundNoSortKeys)(f)
		f.Ground, f.Evidence.Split = detect.GroundYoung, &detect.Split{Verdict: detect.SplitUnknown, Seconds: 3}
	}
	old := func(f *detect.Finding) {
		hot(1680, 1000, detect.GroundSplit)(f)
		f.LastSeen = f.FirstSeen.Add(20 * time.Minute)
		f.Evidence.Refused = map[string]int64{sample.KeyRange.String(): 900}
	}
	resolved := func(f *detect.Finding) {
		hot(1680, 1000, detect.GroundSplit)(f)
		f.State = detect.Resolved
	}
	blind := func(f *detect.Finding) {
		hot(1100, 1100, detect.GroundItem)(f)
		f.Quality = detect.NewQuality(detect.SourceChanges)
	}
	storm := func(f *detect.Finding) {
		hot(900, 900, detect.GroundSplit)(f)
		f.Evidence.Retries = &detect.Retries{SentCalls: detect.SentCalls{Calls: 100}, Failed: detect.Figure{Value: 18}, Callers: []detect.CallerRetries{{Caller: "job", Share: 0.77, SentCalls: detect.SentCalls{Amplification: 4.2}}}}
	}
	rolling := func(f *detect.Finding) {
		hot(1680, 1000, detect.GroundPeriod)(f)
		f.Rolling = &detect.Rolling{Period: "hour", Template: "log#<hour>", Keys: []sample.Text{"log#2026-11-24T06"}}
		f.Advice[0] = step(detect.FixTimeKey, f.Advice[0].After)
	}
	sharded := func(f *detect.Finding) {
		hot(1680, 1680, detect.GroundNoSortKeys)(f)
		f.Sharding = &detect.Sharded{Base: "total", Shards: 4, Needed: 14, Deviation: 0.4, Hottest: "total#SHARD_3"}
		fixes := map[any]detect.Fix{casebook.TooFewShards: detect.FixMoreShards, casebook.TooManyShards: detect.FixFewerShards, casebook.UnevenShards: detect.FixEvenShards}
		f.Advice[0] = step(fixes[f.Case], f.Advice[0].After)
		f.Advice[0].Arguments.Count = 14
	}
	healed := func(f *detect.Finding) {
		resolved(f)
		f.Healed = &detect.Healed{Since: f.LastSeen}
	}
	refusedKey := func(f *detect.Finding) {
		refused(sample.KeyRange, 700)(f)
		load := detect.Figure{Value: 32, Low: 32, High: 32}
		f.RefusedKeys = []detect.RefusedKey{{Key: "cust#4711", WCU: load, Share: 1}}
	}
	refusedKeys := func(f *detect.Finding) {
		refusedKey(f)
		f.Ground, f.RefusedKeys[0].Share, f.LastSeen = detect.GroundKeys, 0.6, f.FirstSeen
		f.RefusedKeys = append(f.RefusedKeys, f.RefusedKeys[0], detect.RefusedKey{Key: "cust#1", WCU: detect.Figure{Value: 0.1}, Share: 0.001})
	}
	ramp := func(f *detect.Finding) {
		refused(sample.KeyRange, 700)(f)
		f.Ground, f.Ramp = detect.GroundPreviousPeak, &detect.Ramp{Unit: "wcu", Requested: 9100, Previous: 2270, Serves: 4540}
	}
	walks := func(f *detect.Finding) {
		refused(sample.KeyRange, 700)(f)
		f.Ground, f.Advice = detect.GroundPositions, []detect.Step{detect.NewStep(detect.FixShuffleInput)}
	}
	shown := func(f *detect.Finding) {
		refused(sample.KeyRange, 700)(f)
		f.Ground = detect.GroundKeys
		f.Partition = &detect.PartitionLoad{
			PartitionRange: detect.PartitionRange{Shard: "orders/1/shardId-0001", Keys: true, From: 0x4a0 << 52, Low: 0x4a2 << 52, High: 0x5f3 << 52, To: 0x5f4 << 52},
			WCU:            detect.Figure{Value: 1240, Low: 1240, High: 1310}, KeyCount: 812,
			Busiest: []detect.BusyKey{{KeyRef: detect.KeyRef{Key: "a"}, Share: 0.31}, {KeyRef: detect.KeyRef{Key: "b"}, Share: 0.28}, {KeyRef: detect.KeyRef{Key: "c"}, Share: 0.04}},
			Cuts:    []detect.PartitionCut{{Rule: detect.CutMedian, At: 0x550 << 52, Fuller: 0.51}, {Rule: detect.CutMiddle, At: 0x54b << 52, Fuller: 0.63}},
		}
	}
	traced := func(f *detect.Finding) {
		blind(f)
		f.Evidence.Callers = nil
		f.TableCallers = []detect.Part{{Text: "web", Low: 0.6, High: 0.6}, {Text: "batch", Low: 0.35, High: 0.35}, {Text: "cron", Low: 0.05, High: 0.05}}
	}
	return []story{
		{"a key that DynamoDB split", detect.KeyWrites, "merchant#4711", healed},
		{"a third of sampled requests is refused", detect.KeyWrites, "merchant#4711", func(f *detect.Finding) {
			hot(1500, 1000, detect.GroundSplit)(f)
			f.Throttling.ShareLow, f.Throttling.ShareHigh = 0.242, 0.433
		}},
		{"one partition, one key", detect.SubjectPartition, "", refusedKey},
		{"one partition, several keys", detect.SubjectPartition, "", refusedKeys},
		{"one partition, attempts without units", detect.SubjectPartition, "", func(f *detect.Finding) {
			refused(sample.KeyRange, 700)(f)
			f.Ground, f.RefusedKeys = detect.GroundNotSeen, []detect.RefusedKey{{Key: "cust#4711", Requests: 25, Share: 1}}
		}},
		{"one partition, over", detect.SubjectPartition, "", func(f *detect.Finding) { refusedKey(f); f.State = detect.Resolved }},
		{"a table that grew too fast", detect.SubjectPartition, "", ramp},
		{"a copy in the order of a Scan", detect.SubjectPartition, "", walks},
		{"a key in its first seconds", detect.KeyWrites, "merchant#4711", young},
		{"a key of one second", detect.KeyWrites, "merchant#4711", func(f *detect.Finding) { f.LastSeen = f.FirstSeen; young(f) }},
		{"a key that DynamoDB did not split", detect.KeyWrites, "merchant#4711", old},
		{"a key that is over", detect.KeyWrites, "merchant#4711", resolved},
		{"an item of a stream", detect.KeyWrites, "counter", blind},
		{"an item of a stream, of a table whose callers are traced", detect.KeyWrites, "counter", traced},
		{"a key of an index", casebook.IndexKey, "OPEN", hot(1350, 1000, detect.GroundLocalIndex)},
		{"one partition", detect.SubjectPartition, "", refused(sample.KeyRange, 700)},
		{"a partition that its stream shows", detect.SubjectPartition, "", shown},
		{"a partition that may heal", detect.SubjectPartition, "", func(f *detect.Finding) { shown(f); f.Severity = detect.Warning }},
		{"a partition above its limit without a refusal", detect.SubjectPartition, "", func(f *detect.Finding) {
			shown(f)
			f.Throttling, f.Evidence.Refused, f.Partition.From, f.Partition.To = nil, nil, 0, ^position.Position(0)
		}},
		{"a partition that was split", detect.SubjectPartition, "", func(f *detect.Finding) {
			shown(f)
			f.State = detect.Resolved
			f.Partition.Split = &detect.PartitionSplit{At: f.LastSeen.Add(time.Minute), CutLow: 0x550 << 52, CutHigh: 0x551 << 52}
		}},
		{"an index that holds writes back", detect.SubjectPartition, "", refused(sample.OfIndex, 700)},
		{"provisioned capacity", detect.SubjectTable, "", refused(sample.Provisioned, 700)},
		{"the account's quota", detect.SubjectTable, "", refused(sample.AccountLimit, 700)},
		{"the owner's maximum", detect.SubjectTable, "", refused(sample.MaxOnDemand, 700)},
		{"capacity of an index", detect.SubjectTable, "", refused(sample.OfIndexCapacity, 700)},
		{"no reason", detect.SubjectTable, "", func(f *detect.Finding) { refused(sample.ThrottleUnknown, 700)(f); f.Utilization = 1 }},
		{"a key named after its hour", casebook.TimeKey, "log#<hour>", rolling},
		{"a key that may be above the limit", detect.KeyWrites, "merchant#4711", func(f *detect.Finding) {
			hot(1100, 1100, detect.GroundFewSamples)(f)
			f.Severity, f.OverSeconds, f.PossibleSeconds, f.Peak.WCU = detect.Warning, new(0), 9, detect.Figure{Value: 1100, Low: 900, High: 1300}
			f.Evidence.Callers = f.Evidence.Callers[:1]
		}},
		{"a key near the limit", detect.KeyWrites, "merchant#4711", func(f *detect.Finding) {
			hot(900, 900, detect.GroundSplit)(f)
			f.Severity, f.OverSeconds = detect.Warning, new(0)
		}},
		{"a key that stays flat at the limit", detect.KeyWrites, "merchant#4711", func(f *detect.Finding) {
			hot(1000, 1000, detect.GroundSplit)(f)
			f.OverSeconds, f.SaturatedSeconds, f.Quality = new(0), 9, detect.NewQuality(detect.SourceChanges)
		}},
		{"reads that DynamoDB may serve", detect.KeyReads, "flags", func(f *detect.Finding) {
			hot(0, 0, detect.GroundItem)(f)
			f.Severity, f.Peak.RCU, f.Consumed.RCU, f.Utilization = detect.Warning, detect.Figure{Value: 3600, Low: 3600, High: 3600}, 3600, 1.2
			f.Evidence.Operations, f.Advice = []detect.Operation{{Op: "GetItem", Share: 1}}, nil
		}},
		{"a Scan that fills a partition", detect.SubjectPartition, "", func(f *detect.Finding) {
			refused(sample.KeyRange, 700)(f)
			f.Ground = detect.GroundScan
		}},
		{"a sorted import", casebook.MovingSpot, "", hot(1300, 1000, detect.GroundMoving)},
		{"few values", casebook.FewValues, "", hot(1200, 1200, detect.GroundNoSortKeys)},
		{"too few shards", casebook.TooFewShards, "total*", sharded},
		{"too many shards", casebook.TooManyShards, "total*", sharded},
		{"uneven shards", casebook.UnevenShards, "total*", sharded},
		{"large items", casebook.LargeItem, "doc#1", func(f *detect.Finding) { hot(1200, 1200, detect.GroundItem)(f); f.Evidence.ItemBytes = 300 << 10 }},
		{"a collection", casebook.LargeCollection, "tenant#a", func(f *detect.Finding) { f.Severity = detect.Info }},
		{"one caller", casebook.OneCaller, "tenant#a", hot(1200, 1200, detect.GroundSplit)},
		{"a test", casebook.TestKey, "loadtest", hot(1200, 1200, detect.GroundSplit)},
		{"a retry storm", casebook.RetryStorm, "tenant#a", storm},
		{"a retry storm with short waits", casebook.RetryStorm, "tenant#a", func(f *detect.Finding) {
			storm(f)
			f.Evidence.Retries.Callers[0].Waited = 16
		}},
		{"too many hot keys", casebook.TooManyHotKeys, "", nil},
		{"unseen keys", casebook.UnseenKeys, "", nil},
		{"coverage", casebook.CoverageFell, "", nil},
		{"no collector", casebook.CollectionStopped, "", nil},
		{"a lag", casebook.CollectionLags, "", nil},
		{"bad samples", casebook.BadSamples, "", nil},
		{"no room", casebook.TablesRefused, "", nil},
		{"a gap", casebook.SamplesLost, "", nil},
		{"no samples", casebook.SamplesStopped, "", nil},
		{"no samples of a table", casebook.SamplesStopped, "", func(f *detect.Finding) { f.Target = detect.Target{Table: "orders"} }},
		{"samples that came again", casebook.SamplesStopped, "", func(f *detect.Finding) { f.State = detect.Resolved }},
	}
}

// step returns the step of a fix that makes three shards or parts.
func step(fix detect.Fix, after *detect.After) detect.Step {
	s := detect.NewStep(fix)
	s.Arguments.Count, s.After = 3, after
	return s
}

func (s *story) finding() *detect.Finding {
	target := detect.Target{Table: "orders"}
	about := s.kind
	if s.kind == casebook.IndexKey {
		about, target.Index = detect.KeyWrites, "by-status"
	}
	if c, is := s.kind.(detect.Case); is && casebook.SubjectOf(c).OfPipeline() {
		target = detect.Target{}
	}
	f := scenario.NewFinding(about, target, sample.KeyString(s.key))
	f.Severity, f.State = detect.Critical, detect.Firing
	f.FirstSeen = time.Date(2026, 11, 24, 16, 55, 49, 0, time.UTC)
	f.LastSeen = f.FirstSeen.Add(30 * time.Second)
	if s.tell != nil {
		s.tell(&f)
	}
	return &f
}

// TestStories holds what on-call reads of each case to a golden file.
func TestStories(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	told := map[detect.Case]bool{}
	for _, s := range stories() {
		brief := say.New(s.finding())
		code := casebook.Diagnose(s.finding())
		told[code] = true
		if brief.Why == "" {
			t.Errorf("%s: nothing says why", s.name)
		}
		if strings.Contains(brief.Title, "_") {
			t.Errorf("the title of %s is only its code: %s", s.name, brief.Title)
		}
		words := brief.Title + "\n" + say.Text(brief.Lines()) + "\n"
		own, has := ownWords[s.name]
		if !has {
			fmt.Fprintf(&text, "=== %s (%s)\n%s", s.name, s.kind, words)
		} else if words != own {
			t.Errorf("%s is told as\n%s", s.name, words)
		}
	}
	for _, code := range casebook.Codes() {
		if !told[code] {
			t.Errorf("no story is about %s", code)
		}
	}
	compareGolden(t, "testdata/stories.txt", text.String())
}

// TestPast holds the harm and the cause of what is over to a golden file: both are in the
// past.
func TestPast(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for _, s := range goldenStories() {
		f := s.finding()
		f.State = detect.Resolved
		brief := say.New(f)
		fmt.Fprintf(&text, "%s: %s %s\n", s.name, brief.Harm, brief.Cause)
	}
	compareGolden(t, "testdata/past.txt", text.String())
}

// compareGolden holds a text to a golden file.
func compareGolden(t *testing.T, file, text string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if text != string(want) {
		t.Errorf("the words changed (-args -update writes the golden file anew):\n%s", text)
	}
}

// TestHostileText gives every text field of findings an attack, through every kind.
func TestHostileText(t *testing.T) {
	t.Parallel()
	m := hostile.New(3)
	for n := range 3000 {
		f := m.Finding(hostile.Abouts()[n%len(hostile.Abouts())])
		brief := say.New(&f)
		texts := []string{brief.Title}
		for _, l := range brief.Lines() {
			texts = append(texts, l.Text)
		}
		for _, text := range texts {
			if wrong := hostile.FaultOfSentence(text); wrong != "" {
				t.Fatalf("%s lets %s through: %q", f.About(), wrong, text)
			}
		}
		if utf8.RuneCountInString(brief.Title) > 80 {
			t.Fatalf("a title of %d characters: %s", utf8.RuneCountInString(brief.Title), brief.Title)
		}
	}
}

// The budgets of an alert: the words of its answers without their labels, and of their
// sentences; the characters of its title.
const (
	mostWords    = 63 // three of them for the interval of a sampled share
	longestSaid  = 28
	longestMean  = 16
	longestTitle = 80
)

// goldens are the files with what on-call reads.
var goldens = []string{"testdata/stories.txt", "../../detect/board/testdata/briefs.txt"}

// vague are constructs without a noun, of which no alert has one.
var vague = regexp.MustCompile(`(?i)\b(what is|that of|those of|of which|which is|which are|the one that|is told|are told|told of|says|asked for|given up)\b`)

// prose is one alert of a golden file.
type prose struct {
	place, title string
	sentences    []string
	words        int
}

// cutLabel returns the text of an answer's line.
func cutLabel(line string) (text string, isAnswer bool) {
	for _, name := range []string{say.LineHarm, say.LineWhy, say.LineNow, say.LineHeals, say.LineThen} {
		if text, isAnswer = strings.CutPrefix(line, say.Line{Name: name}.Label()+" "); isAnswer {
			return text, true
		}
	}
	return "", false
}

func readProse(t *testing.T) (all []prose) {
	t.Helper()
	for _, file := range goldens {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		place := ""
		var alert *prose
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSpace(line)
			answer, isAnswer := cutLabel(line)
			switch {
			case strings.HasPrefix(line, "=== "):
				place = strings.TrimPrefix(line, "=== ")
			case isAnswer:
				alert.words += len(strings.Fields(answer))
				alert.sentences = append(alert.sentences, strings.SplitAfter(answer, ". ")...)
			case strings.HasPrefix(line, "["), file == goldens[0]:
				_, title, bracketed := strings.Cut(line, "] ")
				if !bracketed {
					title = line
				}
				all = append(all, prose{place: place, title: title})
				alert = &all[len(all)-1]
			}
		}
	}
	return all
}

// sentenceLength sums up the words of sentences.
type sentenceLength struct{ sentences, words int }

// add holds sentences to their longest and to words that name things.
func (l *sentenceLength) add(t *testing.T, place string, sentences []string) {
	t.Helper()
	for _, s := range sentences {
		n := len(strings.Fields(s))
		l.sentences, l.words = l.sentences+1, l.words+n
		if n > longestSaid {
			t.Errorf("%s: a sentence of %d words: %s", place, n, s)
		}
		if found := vague.FindString(s); found != "" {
			t.Errorf("%s: %q names nothing: %s", place, found, s)
		}
	}
}

// mean holds the mean of all sentences to its budget, and returns it.
func (l *sentenceLength) mean(t *testing.T) float64 {
	t.Helper()
	mean := float64(l.words) / float64(l.sentences)
	if mean > longestMean {
		t.Errorf("sentences have %.1f words on average, more than %d", mean, longestMean)
	}
	return mean
}

// TestBudgets holds every alert of the worlds and stories to the budgets. With -v it
// prints the figures and the longest alerts.
func TestBudgets(t *testing.T) {
	t.Parallel()
	all := readProse(t)
	if len(all) < 100 {
		t.Fatalf("%d alerts, want at least 100", len(all))
	}
	var length sentenceLength
	for _, a := range all {
		if n := utf8.RuneCountInString(a.title); n > longestTitle {
			t.Errorf("%s: a title of %d characters: %s", a.place, n, a.title)
		}
		if a.words > mostWords {
			t.Errorf("%s: answers of %d words, more than %d: %s\n%s", a.place, a.words, mostWords, a.title, strings.Join(a.sentences, "\n"))
		}
		length.add(t, a.place, a.sentences)
	}
	mean := length.mean(t)
	slices.SortFunc(all, func(a, b prose) int { return b.words - a.words })
	t.Logf("%d alerts: %d words in the longest, %d in the median; %.1f words in a sentence", len(all), all[0].words, all[len(all)/2].words, mean)
	for _, a := range all[:10] {
		t.Logf("%d words, %s: %s", a.words, a.place, a.title)
	}
}
