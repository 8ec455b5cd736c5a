package analyze

import (
	"fmt"
	"io"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/whatif"
)

// answers are those to every question, of every table that has the key.
func (f *fold) answers(o Options, policy func(table, index string) detect.Policy) []whatif.Answer {
	all := []whatif.Answer{}
	for _, q := range o.WhatIf {
		for _, of := range f.find(q.Key) {
			all = append(all, *whatif.Ask(q, detect.Target{Table: of.table, Index: of.index}, of.seconds, policy(of.table, of.index)))
		}
	}
	return all
}

// writeWhatIf tells the answers in words.
func (r *Result) writeWhatIf(out io.Writer, questions []whatif.Question) error {
	p := &page{}
	for i := range r.WhatIf {
		if i > 0 {
			p.line("")
		}
		whatIf(p, &r.WhatIf[i])
	}
	answered := map[string]bool{}
	for _, w := range r.WhatIf {
		answered[w.Key] = true
	}
	for _, q := range questions {
		if !answered[q.Key] {
			p.paragraph(0, "", fmt.Sprintf("%s is not in the samples, or so far from any limit that it was not kept.", printable(q.Key)))
		}
	}
	_, err := io.WriteString(out, p.String())
	return err
}

func whatIf(p *page, w *whatif.Answer) {
	load := ""
	if w.Factor != 1 {
		load = fmt.Sprintf(" and %s times the load", amount(w.Factor))
	}
	p.line("What if %s in %s had %s%s", printable(w.Key), target(w.Table, w.Index), shardsOf(w.Shards), load)
	p.heading("The arithmetic")
	p.fact("peak", "%s %s in one second", amount(w.Peak), w.Unit)
	p.fact("per shard", "%s / %d = %s %s, %.0f%% of the %s that one partition gives", amount(w.Peak), w.Shards, amount(w.PerShard), w.Unit, 100*w.PerShard/w.Limit, amount(w.Limit))
	if w.Shards > 1 {
		p.fact("by chance", "with a random suffix the fullest shard gets some %s %s, at most %s in 95 of 100 cases", amount(w.Fullest), w.Unit, amount(w.FullestP95))
	}
	p.fact("over", "%d of %d seconds unsharded, %d on an even shard", w.OverUnsharded, w.Seconds, w.OverSharded)
	p.fact("needed", "%s carry this peak with the policy's headroom", shardsOf(w.Needed))
	p.heading("Where the shards may land")
	if w.Shards > 1 && len(w.Placements) > 0 {
		for _, on := range w.Placements {
			p.fact(fmt.Sprint(on.Partitions), "partitions: %.0f%% that two shards or more share one, %.0f%% that the fullest is asked for more than %s; it gets %s %s on average",
				100*on.Share, 100*on.Over, amount(w.Limit), amount(on.Mean), w.Unit)
		}
		p.paragraph(2, "  ", fmt.Sprintf("DynamoDB places each name by its hash, and splits a full partition after some minutes; warm throughput makes room ahead. Reading the whole key takes %d queries. (Simulated, seed %d.)", w.Shards, w.Seed))
	} else {
		p.paragraph(2, "  ", "One name is on one partition.")
	}
	p.heading("In short")
	p.paragraph(2, "  ", summary(w))
}

// crowdedOften is from which chance of a full partition a placement is worth a
// word in the verdict.
const sharedOften = 0.05

// inShort is the verdict: first whether the shards are enough, then whether they
// have room at once.
func summary(w *whatif.Answer) string {
	switch {
	case w.PerShard > w.Limit:
		return fmt.Sprintf("No: every shard would be above the limit. It takes %d.", w.Needed)
	case w.Shards < w.Needed:
		return fmt.Sprintf("Just: the shards are below the limit, but without the headroom that %d would give.", w.Needed)
	}
	for _, on := range w.Placements {
		if on.Over >= sharedOften {
			return "Yes, with room to grow, but perhaps not at once: each shard is well below the limit, but some may share a partition, which is then full until DynamoDB splits it. Raise the warm throughput before the load comes."
		}
	}
	return "Yes: this carries the load, with room to grow."
}

func shardsOf(n int) string {
	if n == 1 {
		return "1 shard"
	}
	return amount(float64(n)) + " shards"
}
