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
	"github.com/keyheat/keyheat/internal/web/status"
)

// documents renders all documents once, when the first is read.
var documents = sync.OnceValues(func() ([]manual.Page, error) { return manual.Load(docs.Files) })

// docsPage is the list of documents, or one of them.
type docsPage struct {
	frame
	Documents []manual.Page
	D         *manual.Page
}

// statusWait is how long a document waits for the status in its header.
const statusWait = time.Second

// docsFrame is without the status if the database does not answer: documents are read then,
// too.
func (s *Site) docsFrame(ctx context.Context, title string) frame {
	ctx, cancel := context.WithTimeout(ctx, statusWait)
	defer cancel()
	f, err := s.frame(ctx, title, "docs")
	if err != nil {
		f.Status = status.Status{}
	}
	f.Live = false
	return f
}

func (s *Site) docsList(ctx context.Context, _ *http.Request) (any, error) {
	all, err := documents()
	return docsPage{frame: s.docsFrame(ctx, "Documentation"), Documents: all}, err
}

func (s *Site) document(ctx context.Context, r *http.Request) (any, error) {
	all, err := documents()
	if err != nil {
		return nil, err
	}
	for i := range all {
		if all[i].Name == r.PathValue("name") {
			return docsPage{frame: s.docsFrame(ctx, all[i].Title), D: &all[i]}, nil
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
