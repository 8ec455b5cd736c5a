package report_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/report"
	attack "github.com/keyheat/keyheat/internal/testsupport/hostile"
	"github.com/keyheat/keyheat/sample"
)

// TestNoReportShowsATextRaw writes a report of every kind of finding, of which every text is
// an attack, in each format.
func TestNoReportShowsATextRaw(t *testing.T) {
	t.Parallel()
	m := attack.New(6)
	found := report.Found{Made: time.Now(), Gaps: []sample.Gap{{Source: m.Text(), Partition: m.Text(), Reason: m.Text()}}}
	for _, about := range attack.Abouts() {
		for _, state := range []detect.State{detect.Pending, detect.Firing, detect.Resolved} {
			f := m.Finding(about)
			f.State = state
			f.Fingerprint = fmt.Sprint(about) + string(state)
			f.Incident = f.Fingerprint
			found.Findings = append(found.Findings, f)
			found.Incidents = append(found.Incidents, m.Incident(&f))
		}
		found.Tables = append(found.Tables, m.Table(detect.Target{Account: m.Text(), Region: m.Text(), Table: m.Text(), Index: m.Text()}))
	}
	p := report.OfFiles(found)
	for _, f := range report.Formats() {
		text := written(t, p, f)
		if f != report.JSON { // of which the texts are for programs, and the bytes are checked below
			if wrong := attack.Fault(text); wrong != "" {
				t.Errorf("%s has %s", f, wrong)
			}
		}
	}
	for line := range strings.Lines(written(t, p, report.Markdown)) {
		if bare := withoutCode(line); strings.ContainsAny(bare, "<[`@") || strings.Contains(bare, "://") {
			t.Errorf("markdown holds %.200q", bare)
		}
	}
	if page := written(t, p, report.HTML); strings.Contains(page, "<script>alert") {
		t.Error("the page has a script")
	}
}
