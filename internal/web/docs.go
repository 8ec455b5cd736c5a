package web

import (
	"context"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/keyheat/keyheat/docs"
	"github.com/keyheat/keyheat/internal/web/manual"
)

// documents renders all documents once, when the first is read.
var documents = sync.OnceValues(func() ([]manual.Page, error) { return manual.Load(docs.Files) })

// docsPage is the list of documents, or one of them.
type docsPage struct {
	frame
	Documents []manual.Page
	D         *manual.Page
}

// docsFrame needs no database: documents are read also while it does not answer.
func (s *Site) docsFrame(title string) frame {
	return frame{Title: title, Page: "docs", Added: s.added, Now: time.Now()}
}

func (s *Site) docsList(context.Context, *http.Request) (any, error) {
	all, err := documents()
	return docsPage{frame: s.docsFrame("Documentation"), Documents: all}, err
}

func (s *Site) document(_ context.Context, r *http.Request) (any, error) {
	all, err := documents()
	if err != nil {
		return nil, err
	}
	for i := range all {
		if all[i].Name == r.PathValue("name") {
			return docsPage{frame: s.docsFrame(all[i].Title), D: &all[i]}, nil
		}
	}
	return nil, errNoDocument
}

// docsFile serves a document as a page, and the files that documents show or link to as
// they are.
func (s *Site) docsFile() http.HandlerFunc {
	page := s.page("document", s.document)
	file := cache(http.StripPrefix("/docs/", http.FileServerFS(docs.Files)))
	return func(w http.ResponseWriter, r *http.Request) {
		name := r.PathValue("name")
		if info, err := fs.Stat(docs.Files, name); path.Ext(name) == ".md" || err != nil || !info.Mode().IsRegular() {
			page(w, r)
			return
		}
		if strings.HasPrefix(name, "instrumenting/") { // is read, not run
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		}
		file.ServeHTTP(w, r)
	}
}
