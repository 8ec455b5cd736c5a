package scenario

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"go.yaml.in/yaml/v3"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/sample"
)

// The sections of a story's file.
const (
	// StoryEvidence is the finding as YAML, where it differs from a critical one of the table
	// orders that fires since 30 seconds.
	StoryEvidence = "evidence.yaml"
	// StoryCodes is the answer as codes, StoryCard the answer as on-call reads it.
	StoryCodes = "codes"
	StoryCard  = "card"
)

// Story is one of detect/casebook/testdata: the evidence of a case, and what follows from it.
// The text before the first section tells what happened.
type Story struct {
	Code detect.Case
	path string
	file *txtar.Archive
}

// ReadStory reads the story of a case in a folder.
func ReadStory(t *testing.T, folder string, code detect.Case) *Story {
	t.Helper()
	s := &Story{Code: code, path: filepath.Join(folder, string(code)+".txtar")}
	var err error
	if s.file, err = txtar.ParseFile(s.path); err != nil {
		t.Fatal(err)
	}
	if len(bytes.TrimSpace(s.file.Comment)) == 0 {
		t.Errorf("%s does not say what happened", s.path)
	}
	return s
}

// Finding returns the story's evidence, as a finding with its case.
func (s *Story) Finding(t *testing.T) *detect.Finding {
	t.Helper()
	var evidence map[string]any
	if err := yaml.Unmarshal([]byte(s.section(StoryEvidence)), &evidence); err != nil {
		t.Fatal(s.path, err)
	}
	document, err := json.Marshal(evidence)
	if err != nil {
		t.Fatal(s.path, err)
	}
	about := struct {
		Subject           detect.Subject
		Table, Index, Key string
	}{Table: "orders"}
	if casebook.SubjectOf(s.Code).OfPipeline() {
		about.Table = ""
	}
	if err := json.Unmarshal(document, &about); err != nil {
		t.Fatal(s.path, err)
	}
	var f detect.Finding
	target, key := detect.Target{Table: about.Table, Index: about.Index}, sample.KeyString(about.Key)
	if about.Subject != "" {
		f = detect.NewFinding(about.Subject, target, key)
	} else {
		f = casebook.NewFinding(s.Code, target, key)
	}
	f.Severity, f.State = detect.Critical, detect.Firing
	f.FirstSeen = time.Date(2026, 11, 24, 16, 55, 49, 0, time.UTC)
	f.LastSeen = f.FirstSeen.Add(30 * time.Second)
	if err := json.Unmarshal(document, &f); err != nil {
		t.Fatal(s.path, err)
	}
	for i := range f.Advice {
		s := &f.Advice[i]
		known := detect.NewStep(s.Fix)
		s.Action, s.Effort, s.Guide = known.Action, known.Effort, known.Guide
	}
	f.Case = casebook.Diagnose(&f)
	return &f
}

// Check compares a section with what follows from the evidence or, to update it, writes it anew.
func (s *Story) Check(t *testing.T, section, got string, update bool) {
	t.Helper()
	if want := s.section(section); got == want {
		return
	} else if !update {
		t.Errorf("%s: the %s changed (-args -update writes it anew):\n%swas:\n%s", s.path, section, got, want)
		return
	}
	for i := range s.file.Files {
		if s.file.Files[i].Name == section {
			s.file.Files[i].Data = []byte(got)
		}
	}
	if err := os.WriteFile(s.path, txtar.Format(s.file), 0o600); err != nil {
		t.Fatal(err)
	}
}

// section returns the text of a section.
func (s *Story) section(name string) string {
	for i := range s.file.Files {
		if s.file.Files[i].Name == name {
			return string(s.file.Files[i].Data)
		}
	}
	return ""
}
