package analyze

import (
	"fmt"
	"io"
	"slices"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/whatif"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/sample"
)

// answers returns the answers to every question for every table with the key, in
// agreement with its findings.
func (f *samples) answers(o Options, found []detect.Finding, policy func(detect.Target) detect.Policy) []whatif.Answer {
	all := []whatif.Answer{}
	for _, q := range o.WhatIf {
		for _, keyed := range f.find(q.Key) {
			answer := whatif.Ask(q, keyed.target, keyed.seconds, policy(keyed.target))
			for i := range found {
				answer.Agree(&found[i])
			}
			all = append(all, *answer)
		}
	}
	return all
}

func (r *Result) writeWhatIf(out io.Writer, questions []whatif.Question) error {
	p := &page{}
	for i := range r.WhatIf {
		if i > 0 {
			p.line("")
		}
		writeAnswer(p, &r.WhatIf[i])
	}
	for _, key := range r.listUnknown(questions) {
		p.paragraph(0, "", say.NotInSamples(key))
	}
	_, err := io.WriteString(out, p.String())
	return err
}

// listUnknown returns the keys of questions that no sample has.
func (r *Result) listUnknown(questions []whatif.Question) (keys []sample.Text) {
	for _, q := range questions {
		if !slices.ContainsFunc(r.WhatIf, func(w whatif.Answer) bool { return w.Key == q.Key }) {
			keys = append(keys, q.Key)
		}
	}
	return keys
}

func writeAnswer(p *page, w *whatif.Answer) {
	load := ""
	if w.Factor != 1 {
		load = fmt.Sprintf(" and %s times the load", wording.About(w.Factor))
	}
	p.line("What if %s in %s had %s%s", printable(w.Key), target(w.Target), shardsOf(w.Shards), load)
	p.heading("Arithmetic")
	p.fact("peak", "%s %s in one second", wording.About(w.Peak), w.Unit)
	p.fact("per shard", "%s / %d = %s %s, %.0f%% of the %s that one partition serves", wording.About(w.Peak), w.Shards, wording.About(w.PerShard), w.Unit, 100*w.PerShard/w.Limit, wording.About(w.Limit))
	if w.Shards > 1 {
		p.fact("uneven", "with a random suffix the fullest shard gets about %s %s, and at most %s in 95 of 100 cases", wording.About(w.Fullest), w.Unit, wording.AtMost(w.FullestP95))
	}
	p.fact("over", "%d of %d seconds unsharded, %d on an even shard", w.OverUnsharded, w.Seconds, w.OverSharded)
	p.fact("needed", "%s carry this peak with the policy's headroom", shardsOf(w.Needed))
	p.heading("Placement on partitions")
	if w.Shards > 1 && len(w.Placements) > 0 {
		for _, on := range w.Placements {
			p.fact("on "+wording.Count(int64(on.Partitions)), "shards share a partition in %.0f%% of placements; the fullest partition gets %s %s on average, and exceeds %s in %.0f%%",
				100*on.Share, wording.About(on.Mean), w.Unit, wording.About(w.Limit), 100*on.Over)
		}
	}
	p.paragraph(2, "  ", say.WhatIfPlacement(w))
	p.heading("Summary")
	p.paragraph(2, "  ", say.WhatIf(w))
	if instead := say.WhatIfInstead(w); instead != "" {
		p.paragraph(2, "  ", instead)
	}
}

func shardsOf(n int) string {
	if n == 1 {
		return "1 shard"
	}
	return wording.About(float64(n)) + " shards"
}
