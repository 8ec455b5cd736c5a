package tables

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/keypolicy"
	"github.com/keyheat/keyheat/internal/settings/config"
	"github.com/keyheat/keyheat/internal/settings/options"
	"github.com/keyheat/keyheat/shardkey"
)

// Policy decides from when on a key is hot, and how a finding is reported.
type Policy struct {
	Warning         float64       `yaml:"warning" help:"share of a partition's limit above which a key is a warning"`
	Headroom        float64       `yaml:"headroom" help:"how many times the peak load the recommended key shards serve"`
	Severity        string        `yaml:"severity" help:"the highest severity of a finding: critical, warning or info; info findings are never sent; critical when empty"`
	Suffix          string        `yaml:"suffix" help:"the form of key shards' names, as key shard 7 of BASE; when empty the key's present form, or BASE#SHARD_7"`
	HoldUnconfirmed bool          `yaml:"hold_unconfirmed" help:"send nothing about a hot key while CloudWatch counts no throttled requests; needs cloudwatch.enabled"`
	For             string        `yaml:"for" help:"when an incident of hot keys fires. harm: throttled requests in 2 of 3 seconds, or 5 of 10 seconds proven over the limit (over the warning share for a warning). A time such as 30s: 2 of 3 seconds over the warning share, for this long; 0s for at once"`
	KeepFiring      time.Duration `yaml:"keep_firing" help:"how long an incident fires on after its last hot second, so that a load that comes and goes alerts once; at least a minute"`
	Repeat          time.Duration `yaml:"repeat" help:"the time after which a firing incident is sent again, as updated; never when 0"`

	WarningFor    string        `yaml:"warning_for" help:"the value of for while an incident is only a warning; as for when empty"`
	WarningRepeat time.Duration `yaml:"warning_repeat" help:"the value of repeat while an incident is only a warning; as repeat when 0"`

	Quiet string `yaml:"quiet" help:"when no samples are expected, in UTC, such as 22:00-06:00, or always; otherwise samples that stop are an incident: see [ALERTING.md](ALERTING.md#keyheats-own-health)"`

	Exclude   []string `yaml:"exclude" help:"keys without findings; * stands for any text without /, ? for one character"`
	Keys      string   `yaml:"keys" help:"how collectors store keys: plain, hmac for a hash of each, or prefix(N) for the first N characters and a hash of the rest; see [SECURITY.md](SECURITY.md#key-policy)"`
	Positions bool     `yaml:"positions" help:"keep the first 16 bits of a hashed key's position, so that the table's partitions can be inferred; see [SECURITY.md](SECURITY.md#positions-of-hidden-keys)"`

	WritePrice float64 `yaml:"write_price" help:"the price of a million write request units in US dollars, to show the price of each step; unknown when 0"`
	ReadPrice  float64 `yaml:"read_price" help:"the price of a million read request units in US dollars"`

	WarmWritePrice float64 `yaml:"warm_write_price" help:"the price in US dollars of one write unit a second of warm throughput, paid once, to show the price of pre-warming; unknown when 0"`
	WarmReadPrice  float64 `yaml:"warm_read_price" help:"the price of one read unit a second of warm throughput in US dollars"`

	Owner  string            `yaml:"owner" help:"the team that owns the table, for silences and notifications"`
	Labels map[string]string `yaml:"labels" help:"labels for silences and Alertmanager"`

	RunbookURL string `yaml:"runbook_url" help:"the address of your own instructions, for a link in notifications, such as https://wiki.example.com/dynamodb#{case}; {case} stands for the incident's case"`
}

// Replacements implements config.Replacer.
func (Policy) Replacements() map[string]string {
	return map[string]string{
		"words":             "a hashed key is hashed whole; to keep its beginning readable, write keys: prefix(N)",
		"scale_by_coverage": "leave it out; every finding shows the coverage, and its load divided by that is the same estimate",
	}
}

// DetectPolicy returns the policy of a table or index as detect takes it. The
// sections are ones that Check found nothing wrong with.
func (s *Section) DetectPolicy(of detect.Target) detect.Policy {
	p, _ := s.policyOf(of).detect()
	return p
}

// policyOf returns the policy of one table; the general policy fills its gaps.
func (s *Section) policyOf(of detect.Target) Policy {
	t, _ := s.Tables.find(of)
	return options.OrDefault(t.Policy, s.Policy)
}

func (p Policy) detect() (detect.Policy, error) {
	d := detect.Policy{
		Warning: p.Warning, Headroom: p.Headroom,
		Severest: detect.Severity(p.Severity), HoldUnconfirmed: p.HoldUnconfirmed, Exclude: p.Exclude,
		WritePrice: p.WritePrice, ReadPrice: p.ReadPrice, WarmWritePrice: p.WarmWritePrice, WarmReadPrice: p.WarmReadPrice,
		Owner: p.Owner, Labels: p.Labels, RunbookURL: p.RunbookURL,
	}
	var err error
	if d.Lifecycle, err = lifecycle(p.For, p.KeepFiring, p.Repeat); err != nil {
		return d, err
	}
	if p.WarningFor != "" || p.WarningRepeat != 0 {
		l, err := lifecycle(cmp.Or(p.WarningFor, p.For), p.KeepFiring, cmp.Or(p.WarningRepeat, p.Repeat))
		if err != nil {
			return d, err
		}
		d.Warnings = &l
	}
	if d.Quiet, err = parseQuiet(p.Quiet); err != nil || p.Suffix == "" {
		return d, err
	}
	form, err := parseSuffix(p.Suffix)
	if err != nil {
		return d, err
	}
	d.Suffix = &form
	return d, nil
}

// onHarm is the setting for that stands for no time.
const onHarm = "harm"

func lifecycle(holds string, keep, repeat time.Duration) (l detect.Lifecycle, err error) {
	l.KeepFiring, l.Repeat = keep, repeat
	if l.OnHarm = holds == onHarm; !l.OnHarm {
		l.For, err = parseFor(holds)
	}
	return l, err
}

// parseFor reads for how long an incident has to hold.
func parseFor(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := options.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q: give harm, or a time such as 30s, or 0s", text)
	}
	return d, nil
}

// check adds the faults of a policy, field by field: each field goes alone into a sound
// policy, so that detect's rules stay in detect.
func (p Policy) check(path string, f *config.Faults) {
	for _, field := range []struct {
		name string
		set  func(*detect.Policy)
	}{
		{"warning", func(d *detect.Policy) { d.Warning = p.Warning }},
		{"headroom", func(d *detect.Policy) { d.Headroom = p.Headroom }},
		{"write_price", func(d *detect.Policy) { d.WritePrice = p.WritePrice }},
		{"read_price", func(d *detect.Policy) { d.ReadPrice = p.ReadPrice }},
		{"warm_write_price", func(d *detect.Policy) { d.WarmWritePrice = p.WarmWritePrice }},
		{"warm_read_price", func(d *detect.Policy) { d.WarmReadPrice = p.WarmReadPrice }},
		{"severity", func(d *detect.Policy) { d.Severest = detect.Severity(p.Severity) }},
		{"labels", func(d *detect.Policy) { d.Labels = p.Labels }},
		{"runbook_url", func(d *detect.Policy) { d.RunbookURL = p.RunbookURL }},
		{"keep_firing", func(d *detect.Policy) { d.KeepFiring = p.KeepFiring }},
		{"repeat", func(d *detect.Policy) { d.Repeat = p.Repeat }},
		{"warning_repeat", func(d *detect.Policy) { d.Repeat = p.WarningRepeat }},
		{"exclude", func(d *detect.Policy) { d.Exclude = p.Exclude }},
	} {
		sound := detect.DefaultPolicy()
		field.set(&sound)
		if err := sound.Validate(); err != nil {
			f.Addf(path+"."+field.name, "%w", err)
		}
	}
	if _, err := keypolicy.Parse(p.Keys); err != nil {
		f.Addf(path+".keys", "%w", err)
	}
	for name, holds := range map[string]string{"for": p.For, "warning_for": p.WarningFor} {
		if _, err := lifecycle(holds, 0, 0); err != nil {
			f.Addf(path+"."+name, "%w", err)
		}
	}
	if _, err := parseQuiet(p.Quiet); err != nil {
		f.Addf(path+".quiet", "%w", err)
	}
	if _, err := parseSuffix(p.Suffix); p.Suffix != "" && err != nil {
		f.Addf(path+".suffix", "%w", err)
	}
}

// always is the setting quiet of a table that may have no samples at any time.
const always = "always"

// parseQuiet reads a time of day, such as 22:00-06:00.
func parseQuiet(text string) (*detect.QuietHours, error) {
	switch text {
	case "":
		return nil, nil
	case always:
		return &detect.QuietHours{Lasts: 24 * time.Hour}, nil
	}
	from, to, _ := strings.Cut(text, "-")
	begins, err1 := time.Parse("15:04", from)
	ends, err2 := time.Parse("15:04", to)
	if err1 != nil || err2 != nil || begins.Equal(ends) {
		return nil, fmt.Errorf("%q: give a time of day in UTC such as 22:00-06:00, or %s", text, always)
	}
	if ends.Before(begins) {
		ends = ends.Add(24 * time.Hour)
	}
	return &detect.QuietHours{From: begins.Sub(begins.Truncate(24 * time.Hour)), Lasts: ends.Sub(begins)}, nil
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
		return form, fmt.Errorf("%q: write key shard 7 of BASE, such as BASE#SHARD_7, 7#BASE or 7", example)
	}
	if _, err := shardkey.New(1, form); err != nil {
		return form, err
	}
	return form, nil
}
