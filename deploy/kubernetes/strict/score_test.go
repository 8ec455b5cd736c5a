package strict

import (
	"bytes"
	"testing"

	"github.com/zegl/kube-score/config"
	ks "github.com/zegl/kube-score/domain"
	"github.com/zegl/kube-score/parser"
	"github.com/zegl/kube-score/score"
	"github.com/zegl/kube-score/scorecard"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// built is the built objects of a folder, as a file.
type built struct {
	*bytes.Reader
	folder string
}

func (b built) Name() string { return b.folder }

// TestScores holds the folders to kube-score without a critical remark.
func TestScores(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{"../base", "../example"} {
		objects, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), folder)
		if err != nil {
			t.Fatalf("%s: %v", folder, err)
		}
		text, err := objects.AsYaml()
		if err != nil {
			t.Fatal(err)
		}
		p, err := parser.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		all, err := p.ParseFiles([]ks.NamedReader{built{bytes.NewReader(text), folder}})
		if err != nil {
			t.Fatalf("%s: %v", folder, err)
		}
		run := &config.RunConfiguration{}
		card, err := score.Score(all, score.RegisterAllChecks(all, nil, run), run)
		if err != nil {
			t.Fatalf("%s: %v", folder, err)
		}
		checks := 0
		for name, object := range *card {
			for _, c := range object.Checks {
				checks++
				if !c.Skipped && c.Grade <= scorecard.GradeCritical {
					t.Errorf("%s: %s: %s: %v", folder, name, c.Check.Name, c.Comments)
				}
			}
		}
		if checks < 50 {
			t.Errorf("%s: %d checks ran", folder, checks)
		}
	}
}
