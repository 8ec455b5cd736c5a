package detect_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/detect"
)

// TestUnknownQualityIsNotZero: what nothing tells is null in JSON.
func TestUnknownQualityIsNotZero(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(detect.NewQuality(detect.SourceRequests))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"rate":null`, `"coverage":null`, `"estimated":null`, `"gaps":[]`, `"cannot_see":[]`, `"resolution":1`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s has no %s", text, want)
		}
	}
}

func TestQualitySaysWhatCannotBeSeen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		source     detect.Source
		says       string
		blind      int
		resolution int
	}{
		{detect.SourceRequests, "", 0, 1},
		{detect.SourceChanges, "lower bound of the write load", 3, 1},
		{detect.SourceMixed, "counts twice", 0, 1},
		{detect.SourceMinutes, "sums over minutes", 0, 60},
	} {
		q := detect.NewQuality(c.source)
		if said := q.Sentence(); !strings.Contains(said, c.says) || c.says == "" && said != "" {
			t.Errorf("%s says %q, want %q", c.source, said, c.says)
		}
		if len(q.CannotSee) != c.blind || q.Resolution != c.resolution {
			t.Errorf("%s cannot see %q in %d s, want %d things in %d s", c.source, q.CannotSee, q.Resolution, c.blind, c.resolution)
		}
	}
	hidden := detect.NewQuality(detect.SourceRequests)
	hidden.KeysHidden = true
	if !strings.Contains(hidden.Sentence(), "hidden by policy") {
		t.Errorf("hidden keys are not told: %q", hidden.Sentence())
	}
}

// TestQualitySaysHowRequestsWereSampled: a finding names the rate that it believed,
// and what its samples leave open.
func TestQualitySaysHowRequestsWereSampled(t *testing.T) {
	t.Parallel()
	tenth, estimated := 0.1, true
	for _, c := range []struct {
		change func(*detect.Quality)
		says   []string
		not    string
	}{
		{func(q *detect.Quality) { q.Sampling = detect.SamplingNone }, nil, "sampled"},
		{func(q *detect.Quality) { q.Sampling, q.Rate = detect.SamplingByCall, &tenth }, []string{"10% of requests were sampled"}, "assumed"},
		{func(q *detect.Quality) { q.Sampling, q.Rate = detect.SamplingAssumed, &tenth }, []string{"10%", "independent samples are assumed"}, "cannot be proven"},
		{func(q *detect.Quality) { q.Sampling = detect.SamplingAssumed }, []string{"rates that differ"}, "%"},
		{func(q *detect.Quality) {
			q.Sampling, q.Rate, q.CannotSee = detect.SamplingAssumed, &tenth, []string{detect.BlindHosts}
		}, []string{"independent samples are assumed", "if whole hosts were drawn and not requests, each of them stands for 10"}, "cannot be proven"},
		{func(q *detect.Quality) { q.Sampling, q.CannotSee = detect.SamplingByCall, []string{detect.BlindHosts} }, nil, "hosts"},
		{func(q *detect.Quality) { q.Sampling = detect.SamplingUnknowable }, []string{"cannot be proven from this sampling"}, "assumed"},
		{func(q *detect.Quality) { q.Estimated = &estimated }, []string{"computed", "the load is an estimate"}, "exact"},
		{func(q *detect.Quality) { q.CannotSee = []string{detect.BlindSeconds} }, []string{"wrote them in one batch", "nothing pages"}, ""},
	} {
		q := detect.NewQuality(detect.SourceRequests)
		c.change(&q)
		said := q.Sentence()
		for _, want := range c.says {
			if !strings.Contains(said, want) {
				t.Errorf("%+v says %q, want %q", q, said, want)
			}
		}
		if c.not != "" && strings.Contains(said, c.not) {
			t.Errorf("%+v says %q, and must not say %q", q, said, c.not)
		}
	}
}
