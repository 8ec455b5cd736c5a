package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the template and its style
	"encoding/base64"
	"html/template"
)

//go:embed report.css
var style string

//go:embed report.html
var markup string

var layout = template.Must(template.New("report").Funcs(functions).Parse(markup))

// ContentSecurityPolicy limits the HTML form in a browser, if a server sends it: the one
// style in it is allowed, and nothing else. The document contains it too, for a browser
// that opens a file.
var ContentSecurityPolicy = func() string {
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"
}()

// html returns the report as one file that needs no other, with no script.
func (p *Report) html() ([]byte, error) {
	var out bytes.Buffer
	err := layout.Execute(&out, struct {
		page
		Style  template.CSS
		Policy string
	}{p.page(), template.CSS(style), ContentSecurityPolicy}) //nolint:gosec // style is a file of this package
	return out.Bytes(), err
}
