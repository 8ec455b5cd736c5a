package receiver_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/alert/receiver"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// drawn returns what a notice says of loads, each in a thousandth of a limit of 1,000;
// -1 stands for a second that was not seen.
func drawn(t *testing.T, loads ...float64) string {
	t.Helper()
	f := detect.NewFinding(detect.KeyWrites, detect.Target{Table: "orders"}, sample.Key{Text: "k", Type: "S"})
	r := &detect.Recent{From: time.Date(2026, 11, 22, 8, 59, 58, 0, time.UTC), Unit: "wcu", Limit: 1000}
	for _, load := range loads {
		if load < 0 {
			r.Loads = append(r.Loads, nil)
		} else {
			r.Loads = append(r.Loads, &load)
		}
	}
	finding, err := json.Marshal(f)
	must.Succeed(t, err)
	p, err := detect.NewPayload(&detect.Incident{ID: f.Incident, Target: f.Target}, finding)
	must.Succeed(t, err)
	p.Recent = r
	payload, err := json.Marshal(p)
	must.Succeed(t, err)
	n := receiver.NewNotice(store.Notification{ID: "n", Event: "firing", Incident: f.Incident, Fingerprint: f.Fingerprint, Payload: payload}, "", nil)
	for _, fact := range n.Facts() {
		if fact.Name == "Load" {
			if !strings.Contains(n.Text(), "\nLoad: "+fact.Value+"\n") {
				t.Errorf("%+v is not in a line of its own of %s", fact, n.Text())
			}
			return fact.Value
		}
	}
	return ""
}

// TestSparklines: the full height is the highest second or the limit, an unseen second
// is a gap and not a low one, and nothing is drawn of nothing.
func TestSparklines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		loads []float64
		want  string
	}{
		{[]float64{0, 125, 126, 500, 875, 1000}, "▁▁▂▄▇█ from 08:59:58 to 09:00:03 UTC; █ is the limit, 1,000 WCU/s"},
		{[]float64{-1, 250, -1, 2000}, "·▁·█ from 08:59:58 to 09:00:01 UTC; █ is 2,000 WCU/s, the limit of 1,000 is ▄, · was not seen"},
		{[]float64{0.001, 1500}, "▁█ from 08:59:58 to 08:59:59 UTC; █ is 1,500 WCU/s, the limit of 1,000 is ▆"},
		{[]float64{1}, "▁ from 08:59:58 to 08:59:58 UTC; █ is the limit, 1,000 WCU/s"},
		{[]float64{-1, -1}, ""},
		{nil, ""},
	} {
		if got := drawn(t, c.loads...); got != c.want {
			t.Errorf("%v: got  %s\nwant %s", c.loads, got, c.want)
		}
	}
}
