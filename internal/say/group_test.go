package say_test

import (
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/sample"
)

func TestGroupTitle(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	worst := detect.NewFinding(detect.HotKeyWrite, detect.Target{Table: "orders"}, sample.Key{Text: "merchant#7", Type: "S"})
	worst.Severity, worst.State, worst.FirstSeen, worst.LastSeen = detect.Critical, detect.Firing, at, at.Add(5*time.Second)
	worst.Peak.WCU.Value = 1500
	const key = "orders: writes to one key above the partition limit (“merchant#7”)"
	table := map[string]string{"table": "orders"}
	for _, c := range []struct {
		labels              map[string]string
		firing, over, total int
		unknown             bool
		want                string
	}{
		{table, 3, 0, 3, false, "orders: 3 incidents; worst: " + key},
		{table, 1, 0, 1, false, key},
		{table, 1, 0, 4, false, "orders: 1 incident; worst: " + key},
		{table, 2, 1, 3, false, "orders: 2 incidents, 1 more is over; worst: " + key},
		{table, 1200, 1300, 2500, false, "orders: 1,200 incidents, 1,300 more are over; worst: " + key},
		{table, 0, 2, 40, false, "orders: all 40 incidents are over"},
		{table, 0, 1, 1, false, key},
		{table, 3, 0, 3, true, "orders: 3 incidents"},
		{table, 0, 1, 1, true, "orders: the incident is over"},
		{map[string]string{"owner": "payments", "table": ""}, 3, 0, 3, false, "payments: 3 incidents; worst: " + key},
		{map[string]string{"table": "orders", "region": "eu-west-1"}, 3, 0, 3, false, "eu-west-1, orders: 3 incidents; worst: " + key},
		{nil, 3, 0, 3, false, "3 incidents; worst: " + key},
		{nil, 0, 3, 3, false, "all 3 incidents are over"},
		{map[string]string{"labels.team": "a\nb\u202e"}, 2, 0, 2, true, `a\nb\u202e: 2 incidents`},
	} {
		root := worst
		if c.unknown {
			root = detect.Finding{}
		}
		g := &detect.Group{InGroup: detect.InGroup{Labels: c.labels}, Firing: c.firing, Over: c.over, Total: c.total}
		if got := say.GroupTitle(g, &root); got != c.want || strings.ContainsAny(got, "\n\u202e") {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}
