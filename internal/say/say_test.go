package say_test

import (
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/internal/testsupport/hostile"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/scenario"
	"github.com/keyheat/keyheat/sample"
)

var update = flag.Bool("update", false, "write the golden files anew")

// story is a finding, and what is known of it beside what it is about.
type story struct {
	name string
	kind any // a watched subject, or a case
	key  string
	tell func(*detect.Finding)
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

// storiesFolder has the story of each case, beside the case.
const storiesFolder = "../../detect/casebook/testdata"

// caseFinding returns the evidence of a case's story.
func caseFinding(t *testing.T, code detect.Case) *detect.Finding {
	t.Helper()
	return scenario.ReadStory(t, storiesFolder, code).Finding(t)
}

// present are verbs of what still goes on. The facts about DynamoDB in facts stay true.
var (
	present    = regexp.MustCompile(`\b(is|are|has|have|takes?|needs?|makes?|gets?|carries|comes?|goes|holds|grows?|cannot|stands?|arrives?|pays?)\b|\byet\b|since \d`)
	stillFacts = strings.NewReplacer("may have gone", "", "one partition takes", "", "its partition takes", "", "are never counted", "")
)

// TestPast tells the harm and the cause of each case when it is over: both are in the past.
func TestPast(t *testing.T) {
	t.Parallel()
	for _, code := range casebook.Codes() {
		f := caseFinding(t, code)
		before := say.New(f)
		f.State = detect.Resolved
		brief := say.New(f)
		for _, text := range []string{brief.Harm, brief.Cause} {
			if found := present.FindString(stillFacts.Replace(text)); found != "" {
				t.Errorf("%s: %q in %q, though it is over", code, found, text)
			}
		}
		if brief.Cause == before.Cause && code != casebook.SamplesLost && code != casebook.Ramp { // these tell the past
			t.Errorf("%s: over or not, it says %q", code, brief.Cause)
		}
	}
}

// compareGolden holds a text to a golden file.
func compareGolden(t *testing.T, file, text string) {
	t.Helper()
	if *update {
		must.Succeed(t, os.WriteFile(file, []byte(text), 0o600))
		return
	}
	want, err := os.ReadFile(file)
	must.Succeed(t, err)
	if text != string(want) {
		t.Errorf("the words changed (-args -update writes the golden file anew):\n%s", text)
	}
}

// longestTitle is how many characters a title has at most.
const longestTitle = 80

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
		if utf8.RuneCountInString(brief.Title) > longestTitle {
			t.Fatalf("a title of %d characters: %s", utf8.RuneCountInString(brief.Title), brief.Title)
		}
	}
}
