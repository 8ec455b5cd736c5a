package manual

import (
	"errors"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
)

// ErrNotFound is the error for a document that the folder does not have.
var ErrNotFound = errors.New("no such document")

// Handler serves a folder below /docs/, as the route's {name...}: documents as pages, and
// the files that they show or link to as they are. The documents are rendered when the
// first is read. show shows one of all documents, or their list where it is nil; fail shows
// an error.
func Handler(files fs.FS, show func(w http.ResponseWriter, r *http.Request, all []Page, one *Page), fail func(http.ResponseWriter, *http.Request, error)) http.HandlerFunc {
	load := sync.OnceValues(func() ([]Page, error) { return Load(files) })
	file := http.StripPrefix("/docs/", http.FileServerFS(files))
	return func(w http.ResponseWriter, r *http.Request) {
		name := r.PathValue("name")
		if info, err := fs.Stat(files, name); path.Ext(name) != ".md" && err == nil && info.Mode().IsRegular() {
			if strings.HasPrefix(name, "instrumenting/") { // to be read, not run
				w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			}
			w.Header().Set("Cache-Control", "max-age=300")
			file.ServeHTTP(w, r)
			return
		}
		all, err := load()
		if err != nil {
			fail(w, r, err)
			return
		}
		if name == "" {
			show(w, r, all, nil)
			return
		}
		for i := range all {
			if all[i].Name == name {
				show(w, r, all, &all[i])
				return
			}
		}
		fail(w, r, ErrNotFound)
	}
}
