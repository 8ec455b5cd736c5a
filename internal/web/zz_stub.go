package web

import (
	"context"
	"html/template"
	"net/http"
)

var words = template.FuncMap{}

func (s *Site) showFindings(w http.ResponseWriter, r *http.Request) {}
func (s *Site) showFinding(w http.ResponseWriter, r *http.Request)  {}
func (s *Site) showTables(w http.ResponseWriter, r *http.Request)   {}

func (s *Site) tables(ctx context.Context) (any, error) { return nil, nil }
