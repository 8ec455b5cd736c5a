package casebook_test

import (
	"flag"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/internal/testsupport/prose"
	"github.com/keyheat/keyheat/internal/testsupport/scenario"
)

var update = flag.Bool("update", false, "write the codes and the cards of the stories anew")

// TestCasesHaveStories holds each case to the story in testdata that is named after it: its
// evidence is of this case, with this action for tonight, outlook, lasting fix and card.
func TestCasesHaveStories(t *testing.T) {
	t.Parallel()
	var length prose.Length
	for _, code := range casebook.Codes() {
		s := scenario.ReadStory(t, "testdata", code)
		f := s.Finding(t)
		if f.Case != code {
			t.Errorf("the story of %s is of %s", code, f.Case)
		}
		a, brief := casebook.New(f), say.New(f)
		for _, fault := range length.Alert(string(code), &brief) {
			t.Errorf("%s: %s", code, fault)
		}
		s.Check(t, scenario.StoryCodes, codesOf(&a), *update)
		s.Check(t, scenario.StoryCard, brief.Title+"\n"+say.Text(brief.Lines())+"\n", *update)
	}
	if fault := length.Fault(); fault != "" {
		t.Error(fault)
	}
	if files, err := filepath.Glob("testdata/*"); err != nil || len(files) != len(casebook.Codes()) {
		t.Errorf("%d stories of %d cases: %v", len(files), len(casebook.Codes()), err)
	}
}

// codesOf writes an answer without its figures.
func codesOf(a *casebook.Answer) string {
	text := fmt.Sprintf("tonight %s, heals %s", a.Move.Act, a.Healing.Outlook)
	if a.Healing.Ground != "" {
		text += fmt.Sprintf(" (%s)", a.Healing.Ground)
	}
	if a.Then != nil {
		text += fmt.Sprintf(", then %s", a.Then.Fix)
	}
	return text + "\n"
}
