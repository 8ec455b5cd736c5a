package corroboration_test

import (
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/corroboration"
	"github.com/keyheat/keyheat/sample"
)

func TestAKeyScaledByCoverage(t *testing.T) {
	t.Parallel()
	f := hot(10, 15, 300)
	f.Peak.WCU = detect.Figure{Value: 400, Low: 380, High: 420}
	table := detect.NewFinding(detect.SubjectTable, orders, sample.Key{})
	for _, c := range []struct {
		story    string
		finding  *detect.Finding
		coverage *detect.Figure
		want     *detect.Figure
	}{
		{"a third is shown", &f, &detect.Figure{Value: 0.4, Low: 0.3, High: 0.5}, &detect.Figure{Value: 1000, Low: 380, High: 1400}},
		{"all may be shown", &f, &detect.Figure{Value: 0.98, Low: 0.95, High: 1.01}, nil},
		{"nothing tells", &f, nil, nil},
		{"of a table", &table, &detect.Figure{Value: 0.4, Low: 0.3, High: 0.5}, nil},
	} {
		said := detect.CloudWatch{Coverage: c.coverage}
		corroboration.Scale(&said, c.finding)
		if (said.Scaled == nil) != (c.want == nil) || c.want != nil && *said.Scaled != *c.want {
			t.Errorf("%s: %+v", c.story, said.Scaled)
		}
	}
}
