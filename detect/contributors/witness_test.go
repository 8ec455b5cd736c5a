package contributors_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/contributors"
	"github.com/keyheat/keyheat/detect/corroboration"
	"github.com/keyheat/keyheat/sample"
)

// hidden is a key of which a policy leaves a hash.
const hidden = "~AAAAAAAAAAAAAAAAAAAAAA"

// minute returns the beginning of a minute after noon.
func minute(n int) time.Time { return noon.Add(time.Duration(n) * time.Minute) }

// shows is what the samples show of a key in some minutes: units written, at a peak.
func shows(r *contributors.Reading, key string, write, peak float64, minutes ...int) {
	if r.Sampled == nil {
		r.Sampled = map[int64]map[string]contributors.Sampled{}
	}
	for _, n := range minutes {
		at := minute(n).Unix()
		if r.Sampled[at] == nil {
			r.Sampled[at] = map[string]contributors.Sampled{}
		}
		r.Sampled[at][key] = contributors.Sampled{Served: corroboration.Units{Write: write}, Peak: peak}
	}
}

// hotKey is a finding of a key that was hot from one minute to another, and known to
// within 10%.
func hotKey(key string, from, to int) *detect.Finding {
	f := detect.NewFinding(detect.HotKeyWrite, detect.Target{Table: "orders"}, sample.KeyString(key))
	f.FirstSeen, f.LastSeen = minute(from), minute(to).Add(-time.Second)
	f.Mean.WCU = detect.Figure{Value: 1000, Low: 900, High: 1100}
	return &f
}

// written66 are minutes in which the table wrote 66,000 units, and throttled.
func written66(n int) (all []corroboration.Minute) {
	return minutesOf(slices.Repeat([]metrics{{written: 66_000, full: 10}}, n)...)
}

// TestAssess: what Contributor Insights says of a finding's key, beside the samples.
func TestAssess(t *testing.T) {
	t.Parallel()
	hot, calm := series("hot", 0, 0, 198_000, 198_000, 198_000, 198_000, 0, 0), series("calm", 600, 600, 600, 600, 600, 600, 600, 600)
	for _, c := range []struct {
		story   string
		reading func(*contributors.Reading)
		finding *detect.Finding
		verdict detect.Counted
		says    []string
	}{
		{"a key that it proves over", func(r *contributors.Reading) { shows(r, "hot", 66_000, 1.2, 2, 3, 4, 5) }, hotKey("hot", 2, 6),
			detect.CountedOver, []string{"counts the key. Over the limit: 1,100 WCU/s", "not among the throttled keys that are listed"}},
		{"only the finding's own minutes count", func(*contributors.Reading) {}, hotKey("hot", 0, 2),
			detect.CountedNotListed, []string{"does not list the key for 2026-11-21T12:00:00Z to 2026-11-21T12:02:00Z", "lists 2 keys, all that it counted"}},
		{"a key whose requests were throttled", func(r *contributors.Reading) { r.Throttled.Series = []contributors.Series{series("calm", 0, 0, 7)} }, hotKey("calm", 2, 6),
			detect.CountedThrottled, []string{"7 requests, retries among them, were throttled"}},
		{"throttled keys only", func(r *contributors.Reading) {
			r.Accessed, r.Throttled.Series = contributors.Counts{}, []contributors.Series{series("hot", 0, 0, 7)}
			shows(r, "hot", 66_000, 1.2, 2)
		}, hotKey("hot", 2, 6), detect.CountedThrottled, []string{"among the throttled. Its load was not reported. 7 requests"}},
		{"throttled keys only, and another one", func(r *contributors.Reading) {
			r.Accessed, r.Throttled.Series = contributors.Counts{}, []contributors.Series{series("calm", 0, 0, 7)}
		}, hotKey("hot", 2, 6), detect.CountedNotListed, []string{"says nothing of the key's load"}},
		{"a key that is listed, and not over", func(*contributors.Reading) {}, hotKey("calm", 2, 6),
			detect.CountedListed, []string{"Not over a limit in the mean", "single seconds are not seen"}},
		{"the samples show more than it counts", func(r *contributors.Reading) { shows(r, "calm", 2200, 0.9, 1, 2, 3, 4, 5, 6) }, hotKey("calm", 1, 7),
			detect.CountedLess, []string{"contradicts the samples: they show at least 11,880 write units", "it counts at most 1,600", "PartiQL", "counts the key. Not over"}},
		{"what sampling leaves open contradicts nothing", func(r *contributors.Reading) { shows(r, "calm", 316, 0.9, 1, 2, 3, 4, 5, 6) }, hotKey("calm", 1, 7),
			detect.CountedListed, nil},
		{"a request at a minute's edge contradicts nothing", func(r *contributors.Reading) { shows(r, "hot", 60_000, 1.2, 1) }, hotKey("hot", 1, 2),
			detect.CountedNotListed, nil},
		{"the minutes at the edge of what was read are not compared", func(r *contributors.Reading) { shows(r, "calm", 60_000, 1.2, 0, 7) }, hotKey("calm", 0, 8),
			detect.CountedListed, nil},
		{"a key that is not listed had less than those that are", func(r *contributors.Reading) {
			r.Accessed.Unlisted = 600
			shows(r, "acme", 60_000, 1.2, 2, 3, 4, 5)
		}, hotKey("acme", 2, 6), detect.CountedLess, []string{"contradicts", "it counts at most 1,200.", "any other had at most 600 ConsumedThroughputUnits in a minute, 0.4% of"}},
		{"nothing is known to be the same key", func(r *contributors.Reading) {
			r.Sampled = nil
			shows(r, "acme", 60_000, 1.2, 2, 3, 4, 5)
		}, hotKey("acme", 2, 6), detect.CountedNotAssessed, []string{"none of the 2 keys that it lists"}},
		{"enabled and empty", func(r *contributors.Reading) { r.Accessed.Series = nil }, hotKey("hot", 2, 6),
			detect.CountedNotAssessed, []string{"enabled and empty", "neither zero nor health"}},
		{"not read", func(r *contributors.Reading) { *r = contributors.Reading{Unread: "it is not enabled"} }, hotKey("hot", 2, 6),
			detect.CountedNotAssessed, []string{"was not assessed: it is not enabled."}},
		{"minutes that are not there yet", func(*contributors.Reading) {}, hotKey("hot", 8, 10),
			detect.CountedNotAssessed, []string{"none of these minutes yet"}},
		{"a hidden key without the secret", func(*contributors.Reading) {}, hotKey(hidden, 2, 6),
			detect.CountedNotAssessed, []string{"hidden by a policy", "cloudwatch.keys_secret_file"}},
		{"a hidden key with it", func(r *contributors.Reading) {
			r.Hashes, r.Names = true, map[string]string{hidden: "hot"}
		}, hotKey(hidden, 2, 6), detect.CountedOver, []string{"Over the limit"}},
	} {
		t.Run(c.story, func(t *testing.T) {
			t.Parallel()
			r := &contributors.Reading{
				From: minute(0), To: minute(8), SampledTo: minute(8), Names: map[string]string{"hot": "hot", "calm": "calm"},
				Accessed: contributors.Counts{Exists: true, Series: []contributors.Series{hot, calm}}, Throttled: contributors.Counts{Exists: true},
			}
			shows(r, "calm", 200, 0.1, 2)
			c.reading(r)
			got := r.Assess(c.finding, written66(8), 0.8)
			if got.Verdict != c.verdict {
				t.Errorf("it is %s: %s; want %s", got.Verdict, got.Why, c.verdict)
			}
			for _, says := range c.says {
				if !strings.Contains(got.Why, says) {
					t.Errorf("%q does not say %q", got.Why, says)
				}
			}
			if strings.Contains(got.Why, c.finding.Key) {
				t.Errorf("%q names the key", got.Why)
			}
			if read := r.Unread == ""; read != (got.From != nil) || read != (got.To != nil) {
				t.Errorf("it was read from %v to %v", got.From, got.To)
			}
		})
	}
}

// TestUnseen: a key that is proven over and of which the samples show nothing is said,
// and never by its name.
func TestUnseen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		story   string
		reading func(*contributors.Reading)
		says    string
	}{
		{"the samples do not know it", func(*contributors.Reading) {},
			"counts 1 key over a limit of which the samples show no such load: 1,100 WCU/s with 0 RCU/s in the minute 2026-11-21T12:02:00Z. A caller is not sampled. reporter analyze --contributor-insights orders --index by-status names"},
		{"the samples show it calm", func(r *contributors.Reading) { shows(r, "hot", 600, 0.1, 2) }, "counts 1 key over"},
		{"the samples show it", func(r *contributors.Reading) { shows(r, "hot", 66_000, 1.2, 2) }, ""},
		{"the samples have it in the minute beside", func(r *contributors.Reading) { shows(r, "hot", 66_000, 1.2, 3) }, ""},
		{"the samples have not come to it", func(r *contributors.Reading) { r.SampledTo = minute(3) }, ""},
		{"the samples show a hidden key, which may be it", func(r *contributors.Reading) { shows(r, hidden, 66_000, 1.2, 2) }, ""},
		{"the samples show another key", func(r *contributors.Reading) { shows(r, "acme", 66_000, 1.2, 2) }, "counts 1 key"},
		{"no key is the same in both", func(r *contributors.Reading) { r.Sampled = nil }, ""},
		{"it is not proven", func(r *contributors.Reading) { r.Accessed.Series[0] = series("hot", 0, 0, 170_000) }, ""},
		{"nothing is read", func(r *contributors.Reading) { *r = contributors.Reading{Unread: "denied"} }, ""},
	} {
		t.Run(c.story, func(t *testing.T) {
			t.Parallel()
			r := &contributors.Reading{
				From: minute(0), To: minute(8), SampledTo: minute(8), Names: map[string]string{"hot": "hot", "calm": "calm"},
				Accessed: contributors.Counts{Exists: true, Series: []contributors.Series{series("hot", 0, 0, 198_000), series("calm", 600, 600, 600)}},
			}
			shows(r, "calm", 200, 0.1, 1)
			c.reading(r)
			got := r.Unseen(detect.Target{Table: "orders", Index: "by-status"}, written66(8), detect.DefaultPolicy())
			if (got == "") != (c.says == "") || !strings.Contains(got, c.says) {
				t.Errorf("it says %q, want %q", got, c.says)
			}
			if strings.Contains(got, "hot") {
				t.Errorf("%q names the key", got)
			}
		})
	}
	excluding := detect.DefaultPolicy()
	excluding.Exclude = []string{"hot"}
	r := &contributors.Reading{
		From: minute(0), To: minute(8), SampledTo: minute(8), Names: map[string]string{"hot": "hot", "calm": "calm"},
		Accessed: contributors.Counts{Exists: true, Series: []contributors.Series{series("hot", 0, 0, 198_000)}},
	}
	shows(r, "calm", 200, 0.1, 1)
	if got := r.Unseen(detect.Target{Table: "orders"}, written66(8), excluding); got != "" {
		t.Errorf("of a key that the policy excludes it says %q", got)
	}
}
