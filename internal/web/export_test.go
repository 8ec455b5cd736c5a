package web

import (
	"maps"
	"slices"
)

// Routes are the patterns of all pages and the API.
func (s *Site) Routes() []string { return slices.Sorted(maps.Keys(s.routes())) }

// Streams are the streams of pages that are followed.
type Streams = streams

// MaxStreams is how many are open at most.
const MaxStreams = maxStreams

// NewStreams returns no streams yet.
func NewStreams() *Streams { return newStreams() }
