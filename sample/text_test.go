package sample_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"text/template"
	"unicode/utf8"

	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/sample"
)

// keyed is a value with a text in it.
type keyed struct{ Key sample.Text }

// TestTextIsWrittenEscaped by every verb, logger and template, and is itself in JSON.
func TestTextIsWrittenEscaped(t *testing.T) {
	t.Parallel()
	const text = sample.Text("a\x1b[2J\n\u202eb\x80")
	var written strings.Builder
	for _, verb := range []string{"%s", "%v", "%+v", "%#v", "%q", "%x", "%d", "%20.40s"} {
		fmt.Fprintf(&written, verb, text)
	}
	fmt.Fprint(&written, text, []sample.Text{text}, map[sample.Text]*keyed{text: {Key: text}}, keyed{Key: text})
	slog.New(slog.NewTextHandler(&written, nil)).Info("key", "key", text)
	must.Succeed(t, template.Must(template.New("").Parse("{{.Key}} {{.}} {{printf `%s` .Key}}")).Execute(&written, keyed{Key: text}))
	if got := written.String(); strings.Count(got, "\n") != 1 || strings.ContainsAny(got, "\x1b\u202e") || !utf8.ValidString(got) { // the line of the log ends
		t.Errorf("%q", got)
	}
	if got := fmt.Sprintf("%s|%q|%-12s|", text, sample.Text("“a\"\\”"), sample.Text("user#1")); got != `a\x1b[2J\n\u202eb\x80|"“a\"\\\\”"|user#1      |` {
		t.Error(got)
	}
	var read keyed
	document, err := json.Marshal(keyed{Key: text[:len(text)-1]})
	if err != nil || json.Unmarshal(document, &read) != nil || read.Key != text[:len(text)-1] {
		t.Errorf("%s %v", document, err)
	}
}
