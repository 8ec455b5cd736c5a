package tables

import (
	"fmt"
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/config"
	"github.com/keyheat/keyheat/shardkey"
)

// Policy decides from when on a key is hot, and how a finding is reported.
type Policy struct {
	Warning         float64  `yaml:"warning" help:"share of a partition's limit from which a key is a warning"`
	Headroom        float64  `yaml:"headroom" help:"how many times the peak the advised shards carry"`
	MinUnits        float64  `yaml:"min_units" help:"units in a table's highest second from which its key design is judged"`
	Severity        string   `yaml:"severity" help:"the worst severity that a finding gets: critical, warning or info; with info nobody is woken; critical when empty"`
	Suffix          string   `yaml:"suffix" help:"how new shards are named, as the shard 7 of BASE: BASE#SHARD_7; the form that a key has already, or BASE#SHARD_7, when empty"`
	HoldUnconfirmed bool     `yaml:"hold_unconfirmed" help:"nobody is woken for a hot key of which CloudWatch counts no throttled requests; needs cloudwatch.enabled"`
	Exclude         []string `yaml:"exclude" help:"keys that no finding is made of; * stands for any text without /, ? for one character"`
}

// DetectPolicy returns the policy of a table or index as detect takes it. The
// sections are ones that Check found nothing wrong with.
func (s *Section) DetectPolicy(of detect.Target) detect.Policy {
	p, _ := s.policyOf(of).detect()
	return p
}

// policyOf returns the policy of one table: what it leaves out is the general
// one's.
func (s *Section) policyOf(of detect.Target) Policy {
	t, _ := s.Tables.of(of)
	return t.Policy.over(s.Policy)
}

// over returns a policy with what it leaves out taken from another.
func (p Policy) over(other Policy) Policy {
	if p.Warning == 0 {
		p.Warning = other.Warning
	}
	if p.Headroom == 0 {
		p.Headroom = other.Headroom
	}
	if p.MinUnits == 0 {
		p.MinUnits = other.MinUnits
	}
	if p.Severity == "" {
		p.Severity = other.Severity
	}
	if p.Suffix == "" {
		p.Suffix = other.Suffix
	}
	p.HoldUnconfirmed = p.HoldUnconfirmed || other.HoldUnconfirmed
	if p.Exclude == nil {
		p.Exclude = other.Exclude
	}
	return p
}

func (p Policy) detect() (detect.Policy, error) {
	d := detect.Policy{
		Warning: p.Warning, Headroom: p.Headroom, MinUnits: p.MinUnits,
		Severest: detect.Severity(p.Severity), HoldUnconfirmed: p.HoldUnconfirmed, Exclude: p.Exclude,
	}
	if p.Suffix == "" {
		return d, nil
	}
	form, err := parseSuffix(p.Suffix)
	if err != nil {
		return d, err
	}
	d.Suffix = &form
	return d, nil
}

// check adds what is wrong with a policy, field by field: each is put alone into
// a policy that is sound, so that detect's rules stand in detect.
func (p Policy) check(path string, f *config.Faults) {
	for _, field := range []struct {
		name string
		set  func(*detect.Policy)
	}{
		{"warning", func(d *detect.Policy) { d.Warning = p.Warning }},
		{"headroom", func(d *detect.Policy) { d.Headroom = p.Headroom }},
		{"min_units", func(d *detect.Policy) { d.MinUnits = p.MinUnits }},
		{"severity", func(d *detect.Policy) { d.Severest = detect.Severity(p.Severity) }},
		{"exclude", func(d *detect.Policy) { d.Exclude = p.Exclude }},
	} {
		sound := detect.DefaultPolicy()
		field.set(&sound)
		if err := sound.Validate(); err != nil {
			f.Addf(path+"."+field.name, "%w", err)
		}
	}
	if _, err := parseSuffix(p.Suffix); p.Suffix != "" && err != nil {
		f.Addf(path+".suffix", "%w", err)
	}
}

// The parts of a form's example.
const baseExample, shardExample = "BASE", "7"

// parseSuffix reads the example of a form: the shard 7 of BASE.
func parseSuffix(example string) (shardkey.Form, error) {
	var form shardkey.Form
	after, isSuffix := strings.CutPrefix(example, baseExample)
	before, isPrefix := strings.CutSuffix(example, baseExample)
	switch {
	case example == shardExample:
		form = shardkey.NumberOnly()
	case isSuffix && strings.HasSuffix(after, shardExample):
		form.Before = strings.TrimSuffix(after, shardExample)
	case isPrefix && strings.HasPrefix(before, shardExample):
		form.Prefix, form.After = true, strings.TrimPrefix(before, shardExample)
	default:
		return form, fmt.Errorf("%q: write the shard 7 of BASE, such as BASE#SHARD_7, 7#BASE or 7", example)
	}
	if _, err := shardkey.New(1, form); err != nil {
		return form, err
	}
	return form, nil
}
