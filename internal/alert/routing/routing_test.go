package routing_test

import (
	"fmt"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/alert/routing"
)

var tree = routing.Tree{
	{Match: routing.Match{Table: "audit"}, Receivers: nil},
	{Match: routing.Match{Owner: "payments", Severities: []string{"critical"}}, Receivers: []string{"payments-pager"}, Continue: true},
	{Match: routing.Match{Severities: []string{"critical"}, Region: "eu-*"}, Receivers: []string{"pager", "chat"}},
	{Match: routing.Match{Labels: map[string]string{"team": "check*"}}, Receivers: []string{"checkout"}},
	{Match: routing.Match{Kind: "hot_partition"}, Receivers: []string{"capacity"}},
	{Receivers: []string{"chat"}},
}

func TestReceivers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		i    detect.Incident
		kind detect.Kind
		want []string
	}{
		{"a route without receivers ends it", detect.Incident{Target: detect.Target{Table: "audit"}, Severity: detect.Critical}, "", nil},
		{"goes on, and each is told once", detect.Incident{Target: detect.Target{Region: "eu-west-1"}, Owner: "payments", Severity: detect.Critical}, "", []string{"payments-pager", "pager", "chat"}},
		{"an unknown Region is no Region in Europe", detect.Incident{Severity: detect.Critical}, "", []string{"chat"}},
		{"a label", detect.Incident{Severity: detect.Warning, Labels: map[string]string{"team": "checkout"}}, "", []string{"checkout"}},
		{"a kind", detect.Incident{Severity: detect.Warning}, detect.HotPartition, []string{"capacity"}},
		{"anything else", detect.Incident{Severity: detect.Warning}, detect.HotKeyWrite, []string{"chat"}},
		{"nobody is told of what is worth knowing only", detect.Incident{Severity: detect.Info}, detect.HotKeyWrite, nil},
	} {
		if got := tree.Receivers(&c.i, c.kind); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	if got := (routing.Tree{}).Receivers(&detect.Incident{Severity: detect.Critical}, ""); got != nil {
		t.Errorf("an empty tree tells %q", got)
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	m := routing.Match{Table: "[", Severities: []string{"info"}}
	var fields []string
	for _, f := range m.Faults() {
		fields = append(fields, f.Field)
	}
	if fmt.Sprint(fields) != "[table severity]" {
		t.Errorf("faults in %q", fields)
	}
}
