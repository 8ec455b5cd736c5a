package web

import (
	"maps"
	"slices"
)

// Routes are the patterns of all pages and the API.
func (s *Site) Routes() []string { return slices.Sorted(maps.Keys(s.routes())) }
