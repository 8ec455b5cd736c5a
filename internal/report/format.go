package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/keyheat/keyheat/internal/say/wording"
)

// Format is how a report is written.
type Format string

// The formats.
const (
	HTML     Format = "html"
	Markdown Format = "markdown"
	JSON     Format = "json"
)

// Formats lists every format.
func Formats() []Format { return []Format{HTML, Markdown, JSON} }

// FormatNames lists every format's name.
func FormatNames() []string { return wording.Names(Formats()) }

// Extension returns the ending of a file's name, with its dot.
func (f Format) Extension() string {
	if f == Markdown {
		return ".md"
	}
	return "." + string(f)
}

// MediaType returns the type that a server gives.
func (f Format) MediaType() string {
	switch f {
	case Markdown:
		return "text/markdown; charset=utf-8"
	case JSON:
		return "application/json; charset=utf-8"
	}
	return "text/html; charset=utf-8"
}

// Write writes the report.
func (p *Report) Write(out io.Writer, f Format) (err error) {
	var body []byte
	p = p.Render()
	switch f {
	case HTML:
		body, err = p.html()
	case Markdown:
		body, err = p.markdown()
	case JSON:
		body, err = p.json()
	default:
		return fmt.Errorf("format %q: give one of %s", f, strings.Join(FormatNames(), ", "))
	}
	if err != nil {
		return fmt.Errorf("write the report as %s: %w", f, err)
	}
	_, err = out.Write(body)
	return err
}

// Read reads the JSON form.
func Read(document []byte) (*Report, error) {
	var p Report
	if err := json.Unmarshal(document, &p); err != nil {
		return nil, fmt.Errorf("read a report: %w", err)
	}
	if p.Version > jsonVersion {
		return nil, fmt.Errorf("read a report: it has version %d and this program knows %d: use the program that made it", p.Version, jsonVersion)
	}
	return &p, nil
}

func (p *Report) json() ([]byte, error) {
	text, err := wording.JSON(p)
	return []byte(text), err
}
