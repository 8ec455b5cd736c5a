package analyze_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/analyze"
)

// TestUnreadRefusals: lines that name an error of refused requests, and cannot be counted, leave
// open which keys were refused. No key is then calm for want of a refusal.
func TestUnreadRefusals(t *testing.T) {
	t.Parallel()
	const (
		failed   = `{"errorType":"ProvisionedThroughputExceededException","errorMessage":"The level of configured provisioned throughput for the table was exceeded"}`
		inText   = `2026-11-28T12:00:00Z ERROR loadExecution: ThrottlingException: Throughput exceeds the current capacity`
		other    = `{"errorType":"ValidationException","errorMessage":"One or more parameter values were invalid"}`
		reads    = `"op":"GetItem","rcu":360`
		few      = `"op":"GetItem","rcu":10`
		byTenths = `"op":"GetItem","rcu":3,"rate":0.1,"calls":1`
	)
	for _, c := range []struct {
		name, request, line string
		unread, critical    bool
	}{
		{"reads above the limit", reads, failed, true, true},
		{"reads above the limit, seen at 10%", byTenths, failed, true, true},
		{"reads above the limit, and errors in a text", reads, inText, true, true},
		{"reads above the limit, and other errors", reads, other, false, false},
		{"reads below the limit", few, failed, true, false},
	} {
		var text strings.Builder
		for s := range 30 {
			n := 10
			if c.request == byTenths {
				n = 120
			}
			for i := range n {
				fmt.Fprintf(&text, `{"ts":%d,"table":"wf-exec","pk":"EXEC#7",%s}`+"\n", noon.UnixMilli()+1000*int64(s)+8*int64(i), c.request)
			}
			text.WriteString(c.line + "\n")
		}
		var out bytes.Buffer
		err := analyze.Run(t.Context(), analyze.Options{Paths: []string{"-"}, In: strings.NewReader(text.String()), Out: &out, FailOn: detect.Critical})
		page := strings.Join(strings.Fields(out.String()), " ")
		if errors.Is(err, analyze.ErrFound) != c.critical || c.unread && err == nil || strings.Contains(page, "Nothing tonight") != (c.request == reads && !c.unread) {
			t.Errorf("%s: %v\n%s", c.name, err, out.String())
		}
		if strings.Contains(page, "30 lines that could not be counted name an error of refused requests: which keys they hit is unknown.") != c.unread {
			t.Errorf("%s: the page is\n%s", c.name, out.String())
		}
		var explained bytes.Buffer
		o := analyze.Options{Paths: []string{"-"}, In: strings.NewReader(text.String()), Out: &explained, Explain: []string{"EXEC#7"}}
		must(t, analyze.Run(t.Context(), o))
		answer := strings.Join(strings.Fields(explained.String()), " ")
		if c.unread && (strings.Contains(answer, "No refusals") || strings.Contains(answer, "eventually consistent")) || c.critical && !strings.Contains(answer, "Unknown: the samples do not show refusals.") {
			t.Errorf("%s: %s", c.name, explained.String())
		}
	}
}
