package analyze_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/internal/analyze"
)

// TestAReportHasPictures holds the HTML of ten hot keys: a heatmap of their table with the
// busiest others, and none of a calm one, in one small file without scripts.
func TestAReportHasPictures(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	hot := strings.Fields("anna bruno cecil dora emil frida gustav hilde ingo jutta")
	for s := range 600 {
		for n, key := range hot {
			fmt.Fprintf(&text, `{"ts":%d,"table":"orders","pk":"%s","sk":"%d","op":"PutItem","wcu":%d}`+"\n", 1763692032000+1000*s, key, s%7, 1100+200*n-s)
		}
		for key := range 40 {
			fmt.Fprintf(&text, `{"ts":%d,"table":"orders","pk":"k%d","op":"PutItem","wcu":1}`+"\n", 1763692032000+1000*s, s*40+key)
		}
		fmt.Fprintf(&text, `{"ts":%d,"table":"calm","pk":"a","op":"PutItem","wcu":3}`+"\n", 1763692032000+1000*s)
	}
	page := run(t, text.String(), analyze.FormatHTML)
	if n := len(page); n > 100<<10 {
		t.Errorf("a page of %d KB", n>>10)
	}
	if strings.Contains(page, "<script") || strings.Contains(page, " style=") {
		t.Error("the page has a script or a style of an element")
	}
	_, rows, _ := strings.Cut(page, `<div class="heat"><ol>`)
	rows, cells, _ := strings.Cut(rows, "</ol>")
	if strings.Count(rows, "<li") != 12 || !strings.Contains(rows, ">anna<") || strings.Count(page, `<div class="heat">`) != 1 {
		t.Errorf("the heatmaps are not one of twelve keys: %s", rows)
	}
	for _, class := range []string{"heat-4", "heat-5", "heat-6"} {
		shape := regexp.MustCompile(`<path class="` + class + `" d="(M\d+ \dh1v.9h-1z)+"/>`)
		if !shape.MatchString(cells) {
			t.Errorf("no cell has the colour %s", class)
		}
	}
	if !strings.Contains(page, "Highest second of each 6 s. 12 keys") {
		t.Errorf("ten minutes are not drawn in columns of 6 seconds: %s", regexp.MustCompile(`aria-label="Highest[^"]*"`).FindString(page))
	}
}
