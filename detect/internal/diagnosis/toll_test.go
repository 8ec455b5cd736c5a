package diagnosis_test

import (
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/internal/diagnosis"
)

func exact(v float64) detect.Figure { return detect.Figure{Value: v, Low: v, High: v} }

func TestToll(t *testing.T) {
	t.Parallel()
	from := time.Date(2026, 3, 10, 9, 0, 0, 0, time.UTC)
	callers := []detect.CallerRetries{{Caller: "lambda/reindex", Waited: 37, Failed: 312}, {Caller: "svc-a", Waited: 4}}
	for _, c := range []struct {
		retries *detect.Retries
		want    string
	}{
		{nil, ""},
		{&detect.Retries{From: from, To: from.Add(time.Minute)}, ""},
		{
			&detect.Retries{From: from, To: from.Add(time.Minute), Waited: exact(41), Failed: exact(312), Callers: callers},
			"In the last minute callers waited 41 s in retries (90% of that time by “lambda/reindex”) and 312 requests failed for good.",
		},
		{
			&detect.Retries{From: from, To: from.Add(20 * time.Second), Waited: exact(41), Callers: callers[1:]},
			"In the last 20 seconds callers waited 41 s in retries.",
		},
		{
			&detect.Retries{From: from, To: from.Add(time.Minute), Failed: exact(312), Callers: callers},
			"In the last minute 312 requests failed for good (all of these by “lambda/reindex”).",
		},
		{
			&detect.Retries{From: from, To: from.Add(time.Minute), Estimated: true, Waited: detect.Figure{Value: 41, Low: 33, High: 52}, Failed: detect.Figure{Value: 300, Low: 210, High: 410}},
			"In the last minute callers waited about 41 s (33 to 52) in retries and about 300 requests (210 to 410) failed for good.",
		},
		{
			&detect.Retries{From: from, To: from.Add(time.Minute), Partial: true, Waited: exact(41)},
			"In the last minute callers waited at least 41 s in retries.",
		},
	} {
		f := detect.Finding{Evidence: &detect.Evidence{Retries: c.retries}}
		if got := diagnosis.Toll(&f); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
	if got := diagnosis.Toll(&detect.Finding{}); got != "" {
		t.Errorf("of nothing: %s", got)
	}
}
