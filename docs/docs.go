// Package docs holds the documents, for the programs that print or serve them.
package docs

import (
	"embed"
)

// Form is the page about the form of samples, as Markdown.
//
//go:embed FORM.md
var Form string

// Findings is the JSON Schema of findings, and of what stands beside them.
//
//go:embed findings.schema.json
var Findings []byte

// Files are the documents, their pictures, and the files that they link to.
//
//go:embed *.md *.png *.json
var Files embed.FS
