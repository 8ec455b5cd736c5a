// Package docs holds the pages that a program prints.
package docs

import _ "embed" // the pages

// Form is the page about the form of samples, as Markdown.
//
//go:embed FORM.md
var Form string
