// Package docs holds the pages and the schema that a program prints.
package docs

import _ "embed" // what is printed

// Form is the page about the form of samples, as Markdown.
//
//go:embed FORM.md
var Form string

// Findings is the JSON Schema of findings, and of what stands beside them.
//
//go:embed findings.schema.json
var Findings []byte
