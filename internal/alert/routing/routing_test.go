package routing_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

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

func receivers(tree routing.Tree, i *detect.Incident, root *detect.Finding) (names []string) {
	for _, d := range tree.Destinations(i, root) {
		names = append(names, d.Receiver)
	}
	return names
}

func TestDestinations(t *testing.T) {
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
		if got := receivers(tree, &c.i, &detect.Finding{Kind: c.kind}); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	if got := (routing.Tree{}).Destinations(&detect.Incident{Severity: detect.Critical}, &detect.Finding{}); got != nil {
		t.Errorf("an empty tree tells %v", got)
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

// TestARouteOfAnyRegionOfAGlobalTable: writes to it load all of its Regions, so that the
// route of each of them is one of the incident, whichever the root is of.
func TestARouteOfAnyRegionOfAGlobalTable(t *testing.T) {
	t.Parallel()
	root := detect.Finding{Kind: detect.HotKeyWrite, Replication: &detect.Replication{Regions: []string{"eu-west-1", "us-east-1"}}}
	for region, want := range map[string]bool{"eu-west-1": true, "us-east-1": true, "us-*": true, "ap-*": false, "": true} {
		for _, of := range root.Replication.Regions {
			i := detect.Incident{Target: detect.Target{Region: of}, Severity: detect.Critical}
			tree := routing.Tree{{Match: routing.Match{Region: region}, Receivers: []string{"pager"}}}
			if got := receivers(tree, &i, &root); (len(got) == 1) != want {
				t.Errorf("with a root of %s the route of %q tells %q", of, region, got)
			}
		}
	}
}

// TestTheFirstRouteSaysHow: a receiver that several routes have groups as the first says.
func TestTheFirstRouteSaysHow(t *testing.T) {
	t.Parallel()
	byTable, faults := routing.NewGrouping([]string{"table", "region", "labels.team", "receiver"}, nil, nil)
	if faults != nil {
		t.Fatal(faults)
	}
	tree := routing.Tree{{Receivers: []string{"chat"}, Group: byTable, Continue: true}, {Receivers: []string{"chat", "pager"}}}
	i := detect.Incident{Target: detect.Target{Table: "orders", Region: "us-east-1"}, Severity: detect.Warning, Labels: map[string]string{"team": "checkout"}}
	root := detect.Finding{Replication: &detect.Replication{Regions: []string{"eu-west-1", "us-east-1"}}}
	got := tree.Destinations(&i, &root)
	if len(got) != 2 || got[0] != (routing.Destination{Receiver: "chat", Group: byTable}) || got[1] != (routing.Destination{Receiver: "pager"}) {
		t.Fatalf("told are %+v", got)
	}
	if labels := fmt.Sprint(got[0].Group.Labels(&i, &root)); labels != "map[labels.team:checkout region:eu-west-1,us-east-1 table:orders]" {
		t.Errorf("grouped by %s", labels)
	}
	if byTable.Wait != 30*time.Second || byTable.Interval != 5*time.Minute {
		t.Errorf("waits for %s and %s", byTable.Wait, byTable.Interval)
	}
}

func TestFaultsOfGroupings(t *testing.T) {
	t.Parallel()
	second, long, negative := time.Second, 25*time.Hour, -time.Second
	for _, c := range []struct {
		by             []string
		wait, interval *time.Duration
		want           string // field and a part of the fault
		apart          bool
	}{
		{by: nil, apart: true},
		{by: []string{"..."}, apart: true},
		{by: []string{"receiver"}},
		{by: []string{"account", "region", "table", "index", "cause", "kind", "severity", "owner", "labels.team"}, wait: new(time.Duration), interval: &second},
		{by: nil, wait: &second, want: "group_wait: nothing is grouped here", apart: true},
		{by: []string{"..."}, interval: &second, want: "group_interval: nothing is grouped here", apart: true},
		{by: []string{"table"}, wait: &negative, want: "group_wait: -1s: give a time from 0s"},
		{by: []string{"table"}, interval: &long, want: "group_interval: 25h0m0s: give"},
		{by: []string{"tabel"}, want: `group_by: there is no "tabel": give account, region`},
		{by: []string{"key"}, want: `group_by: there is no "key"`},
		{by: []string{"labels."}, want: `group_by: there is no "labels."`},
		{by: []string{""}, want: `group_by: there is no ""`},
		{by: []string{"incident"}, want: "group_by: each incident would be a group"},
		{by: []string{"table", "..."}, want: `group_by: "..." stands for all labels`},
		{by: []string{"table", "table"}, want: `group_by: "table" is there twice`},
		{by: []string{"labels.a\nb"}, want: "group_by: \"labels.a\\nb\" is not one short line"},
	} {
		g, faults := routing.NewGrouping(c.by, c.wait, c.interval)
		var got string
		for _, f := range faults {
			got += f.Field + ": " + f.Err.Error()
		}
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) || (g == nil) != c.apart {
			t.Errorf("%q: %+v, %q; want %q", c.by, g, got, c.want)
		}
	}
}
