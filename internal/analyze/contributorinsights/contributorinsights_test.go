package contributorinsights_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"go.uber.org/goleak"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/corroboration"
	"github.com/keyheat/keyheat/internal/analyze"
	"github.com/keyheat/keyheat/internal/analyze/contributorinsights"
	"github.com/keyheat/keyheat/internal/testsupport/cloudwatchtest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		// The SDK's client keeps its idle connections.
		goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"), goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"))
}

// load is what a key consumes in a second, in units.
type load struct{ w, r float64 }

// world is a table of keys, each with its load of each second.
type world struct {
	from time.Time
	keys map[string][]load
}

const span = 12 // minutes

// newWorld makes keys of every kind: calm ones, keys that are over by writes, by reads or
// by both in some minutes, keys that are over for some seconds of a minute only, and keys
// just below the limits.
func newWorld(seed uint64, keys int, reads bool) world {
	random := rand.New(rand.NewPCG(seed, 14))
	w := world{time.Now().UTC().Truncate(time.Minute).Add(-(span + 10) * time.Minute), map[string][]load{}}
	for k := range keys {
		all := make([]load, 60*span)
		kind := random.IntN(7)
		for minute := range span {
			var of load
			switch {
			case kind == 0 && random.IntN(3) == 0:
				of.w = 950 + float64(random.IntN(400))
			case kind == 1 && reads && random.IntN(3) == 0:
				of.r = 2900 + float64(random.IntN(900))
			case kind == 2 && reads && random.IntN(3) == 0:
				of = load{400 + float64(random.IntN(800)), 1000 + float64(random.IntN(3000))}
			default:
				of.w = float64(random.IntN(6))
				if reads {
					of.r = float64(random.IntN(20))
				}
			}
			for second := range 60 {
				all[60*minute+second] = of
			}
			if kind == 3 && random.IntN(3) == 0 { // a burst, which no minute's mean shows
				all[60*minute+random.IntN(60)].w = 3000
			}
		}
		w.keys[fmt.Sprint("k", k)] = all
	}
	return w
}

// samples writes every second of the world as a sample.
func (w *world) samples(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	for _, key := range slices.Sorted(maps.Keys(w.keys)) {
		for second, of := range w.keys[key] {
			if of != (load{}) {
				fmt.Fprintf(&b, `{"ts":%d,"table":"orders","pk":%q,"wcu":%g,"rcu":%g}`+"\n", w.from.Add(time.Duration(second)*time.Second).UnixMilli(), key, of.w, of.r)
			}
		}
	}
	path := filepath.Join(t.TempDir(), "samples.ndjson")
	must(t, os.WriteFile(path, b.Bytes(), 0o600))
	return path
}

// minutes are what a key has in each minute, in units.
func minutesOf(all []load) (minutes [span]load) {
	for second, of := range all {
		minutes[second/60].w += of.w
		minutes[second/60].r += of.r
	}
	return minutes
}

// put puts the world into a CloudWatch. With throttled, some requests were throttled because
// of a key range in each minute in which a key is over a limit; else all is served.
func (w *world) put(s *cloudwatchtest.Server, throttled bool) (table [span]load) {
	s.Describe("orders", "", cloudwatchtest.Insights{Status: "ENABLED", Mode: "ACCESSED_AND_THROTTLED_KEYS", Rules: []string{accessed, strings.Replace(accessed, "PKC", "PKT", 1)}})
	for key, all := range w.keys {
		for m, of := range minutesOf(all) {
			if value := 3*of.w + of.r; value > 0 {
				s.Contribute(accessed, w.from.Add(time.Duration(m)*time.Minute), value, key)
			}
			table[m].w, table[m].r = table[m].w+of.w, table[m].r+of.r
			if throttled && (of.w > 60_000 || of.r > 180_000) {
				s.Put(cloudwatchtest.Metric{Table: "orders", Name: string(corroboration.WriteKeyRangeThrottles)}, w.from.Add(time.Duration(m)*time.Minute), 1)
			}
		}
	}
	for m, of := range table {
		at := w.from.Add(time.Duration(m) * time.Minute)
		if of.w > 0 {
			s.Put(cloudwatchtest.Metric{Table: "orders", Name: string(corroboration.ConsumedWrite)}, at, of.w)
		}
		if of.r > 0 {
			s.Put(cloudwatchtest.Metric{Table: "orders", Name: string(corroboration.ConsumedRead)}, at, of.r)
		}
	}
	return table
}

// decided reports whether a key's value of a minute can only be writes over the limit, or only
// reads over it: the oracle tries what it can be made of, step by step.
func decided(value float64, table load) (writes, reads bool) {
	const steps = 20_000
	writes, reads = true, true
	for i := range steps + 1 {
		w := value / 3 * float64(i) / steps
		r := value - 3*w
		if w <= table.w+1e-6 && r <= table.r+1e-6 {
			writes, reads = writes && w > 60_000, reads && r > 180_000
		}
	}
	return writes, reads
}

// insights judges a CloudWatch.
func insights(t *testing.T, s *cloudwatchtest.Server) (r analyze.Result) {
	t.Helper()
	var out bytes.Buffer
	must(t, contributorinsights.Run(t.Context(), settings(s), contributorinsights.Source{Table: "orders", Last: time.Hour}, analyze.Options{Format: analyze.FormatJSON, Out: &out, Policy: policy}))
	must(t, json.Unmarshal(out.Bytes(), &r))
	return r
}

func policy(detect.Target) detect.Policy { return detect.DefaultPolicy() }

func must(t *testing.T, err error) {
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
}

// judged returns the keys that samples prove to be over a limit in some second.
func judged(t *testing.T, path string) map[string]bool {
	t.Helper()
	var out bytes.Buffer
	must(t, analyze.Run(t.Context(), analyze.Options{Paths: []string{path}, Out: &out, Format: analyze.FormatJSON}))
	var result analyze.Result
	must(t, json.Unmarshal(out.Bytes(), &result))
	over := map[string]bool{}
	for i := range result.Findings {
		if f := &result.Findings[i]; f.Subject.OfKey() && f.SecondsOver() > 0 {
			over[string(f.Key)] = true
		}
	}
	return over
}

// TestASeededWorld judges worlds by Contributor Insights beside their samples. No key is
// called over the limit that is not. Every minute that the bounds decide is found, and every
// other key over the limit is a doubt, or a gap. No sample contradicts a bound.
func TestASeededWorld(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		keys  int
		reads bool
	}{{6, true}, {14, false}, {30, true}, {50, false}} {
		t.Run(fmt.Sprintf("%d keys, reads %t", c.keys, c.reads), func(t *testing.T) {
			t.Parallel()
			proven, open := 0, 0
			for seed := range uint64(4) {
				w, s := newWorld(seed, c.keys, c.reads), cloudwatchtest.New(t)
				throttled := seed%2 == 0
				table := w.put(s, throttled)
				got, sampled := insights(t, s), judged(t, w.samples(t))
				for key, all := range w.keys {
					minutes := minutesOf(all)
					k := claimsOn(t, &got, key, minutes, w.from)
					proven, open = proven+k.over[0]+k.over[1], open+detect.BoolToInt(k.doubt)
					var over, must [2]int
					for m, of := range minutes {
						writes, reads := decided(3*of.w+of.r, table[m])
						over[0], must[0] = over[0]+detect.BoolToInt(of.w > 60_000), must[0]+detect.BoolToInt(writes)
						over[1], must[1] = over[1]+detect.BoolToInt(of.r > 180_000), must[1]+detect.BoolToInt(reads)
					}
					told := k.over != [2]int{} || len(got.Gaps) == 0 // a gap says that a key may be missing
					switch {
					case k.critical && (over == [2]int{} || !sampled[key] || !throttled):
						t.Errorf("seed %d, throttled %t: %s is critical; it is over in %v minutes; by samples %t", seed, throttled, key, over, sampled[key])
					case k.over[0] > over[0], k.over[1] > over[1], told && (k.over[0] < must[0] || k.over[1] < must[1]):
						t.Errorf("seed %d: %s is over in %v minutes, of which the bounds decide %v; %v were found", seed, key, over, must, k.over)
					case over != [2]int{} && k.over == [2]int{} && !k.doubt && len(got.Gaps) == 0:
						t.Errorf("seed %d: %s is over in %v minutes, and nothing is said of it", seed, key, over)
					}
				}
			}
			if proven == 0 && (!c.reads || c.keys < 25) || c.reads && c.keys > 25 && open == 0 {
				t.Errorf("the worlds do not hold what is to be told apart: %d minutes are proven, %d keys open", proven, open)
			}
		})
	}
}

// claims are what is said of a key.
type claims struct {
	over            [2]int // minutes, of writes and of reads
	critical, doubt bool
}

// claimsOn returns what is said of a key, and checks that the bounds of each finding hold the
// truth of its highest minute.
func claimsOn(t *testing.T, r *analyze.Result, key string, minutes [span]load, from time.Time) (k claims) {
	t.Helper()
	for i := range r.Findings {
		f := &r.Findings[i]
		if string(f.Key) != key {
			continue
		}
		k.over[detect.BoolToInt(f.InReads())], k.critical = f.SecondsOver(), k.critical || f.Severity == detect.Critical
		of := minutes[int(f.Peak.At.Sub(from)/time.Minute)]
		for what, b := range map[string]struct {
			truth float64
			in    detect.Figure
		}{"writes": {of.w / 60, f.Mean.WCU}, "reads": {of.r / 60, f.Mean.RCU}} {
			if b.truth < b.in.Low-1e-6 || b.truth > b.in.High+1e-6 || math.IsNaN(b.in.Low) {
				t.Errorf("%s had %g %s in %s, outside of %v", key, b.truth, what, f.Peak.At, b.in)
			}
		}
	}
	k.doubt = slices.ContainsFunc(r.Doubts, func(d detect.Doubt) bool { return string(d.Key) == key })
	return k
}

// TestInterrupted: an interrupted reading has no verdict.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	w, s := newWorld(1, 3, true), cloudwatchtest.New(t)
	w.put(s, true)
	ctx, cancel := context.WithCancel(t.Context())
	s.Raw("GetInsightRuleReport", func(http.ResponseWriter, *http.Request) { cancel() })
	var out bytes.Buffer
	err := contributorinsights.Run(ctx, settings(s), contributorinsights.Source{Table: "orders", Last: time.Hour}, analyze.Options{Out: &out, Policy: policy})
	if !errors.Is(err, analyze.ErrNothingJudged) || out.Len() > 0 {
		t.Errorf("%v: %s", err, out.String())
	}
}

func settings(s *cloudwatchtest.Server) aws.Config {
	return aws.Config{Region: "eu-west-1", BaseEndpoint: aws.String(s.URL), Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")}
}
