package main

import (
	"net"
	"net/url"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/config"
	"github.com/keyheat/keyheat/store"
)

// Config is everything that an operator may say about a reporter.
type Config struct {
	Store     cli.Store         `yaml:"store"`
	Listen    string            `yaml:"listen" help:"host:port of the pages, the API, health, readiness and metrics"`
	Webhook   Webhook           `yaml:"webhook"`
	Policy    Policy            `yaml:"policy"`
	Tables    map[string]Policy `yaml:"tables" help:"policies of single tables, by name; what is left out is the general policy's"`
	Retention Retention         `yaml:"retention"`
	Log       cli.Log           `yaml:"log"`
}

// Webhook says who is told about findings.
type Webhook struct {
	URL        config.Secret `yaml:"url" help:"where findings are posted as JSON; nowhere when empty" flag:"true"`
	URLFile    string        `yaml:"url_file" help:"a file that holds the URL, where it has a token"`
	Secret     config.Secret `yaml:"secret" help:"signs what is posted, as Standard Webhooks says; whsec_ and base64"`
	SecretFile string        `yaml:"secret_file" help:"a file that holds the secret"`
}

// Policy says from when on a key counts as hot, and how generous the advice is.
type Policy struct {
	Warning  float64 `yaml:"warning" help:"share of a partition's limit from which a key is a warning"`
	Headroom float64 `yaml:"headroom" help:"how many times the peak the advised shards carry"`
}

// Retention says how long things are kept.
type Retention struct {
	Deltas        time.Duration `yaml:"deltas" help:"what collectors stored, once it is judged"`
	Windows       time.Duration `yaml:"windows" help:"each second of each table"`
	Cardinality   time.Duration `yaml:"cardinality" help:"how many keys each table had, by the minute"`
	Findings      time.Duration `yaml:"findings" help:"findings, since their last change"`
	History       time.Duration `yaml:"history" help:"what findings went through"`
	Notifications time.Duration `yaml:"notifications" help:"notifications that were delivered or given up"`
	Gaps          time.Duration `yaml:"gaps" help:"stretches of a log that were lost"`
	BadSamples    time.Duration `yaml:"bad_samples" help:"counts of refused samples"`
}

// maxHeadroom is more than anybody grows before the advice is made anew.
const maxHeadroom = 100

// defaults are a reporter's settings where nobody says otherwise.
func defaults() *Config {
	return &Config{
		Listen: "127.0.0.1:9460",
		Policy: Policy{Warning: detect.DefaultWarning, Headroom: detect.DefaultHeadroom},
		Retention: Retention{
			Deltas: store.DefaultDeltaRetention, Windows: store.DefaultWindowRetention,
			Cardinality: store.DefaultCardinalityRetention, Findings: store.DefaultFindingRetention,
			History: store.DefaultHistoryRetention, Notifications: store.DefaultNotificationRetention,
			Gaps: store.DefaultGapRetention, BadSamples: store.DefaultBadRetention,
		},
		Log: cli.DefaultLog(),
	}
}

// Check implements config.Checker.
func (c *Config) Check(f *config.Faults) {
	c.Store.Check(f)
	if _, _, err := net.SplitHostPort(c.Listen); err != nil {
		f.Addf("listen", "%q: write host:port, such as 127.0.0.1:9460", c.Listen)
	}
	c.Webhook.check(f)
	c.Policy.check("policy", f)
	for _, name := range tableNames(c.Tables) {
		c.policyOf(name).check("tables."+name, f)
	}
	c.Retention.check(f)
	c.Log.Check(f)
}

func tableNames(tables map[string]Policy) []string {
	names := make([]string, 0, len(tables))
	for name := range tables {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// policyOf is the policy of one table.
func (c *Config) policyOf(table string) Policy {
	p := c.Tables[table]
	if p.Warning == 0 {
		p.Warning = c.Policy.Warning
	}
	if p.Headroom == 0 {
		p.Headroom = c.Policy.Headroom
	}
	return p
}

func (p Policy) check(path string, f *config.Faults) {
	if !(p.Warning > 0 && p.Warning <= 1) {
		f.Addf(path+".warning", "%g: give a share above 0 up to 1, such as 0.8", p.Warning)
	}
	if !(p.Headroom >= 1 && p.Headroom <= maxHeadroom) {
		f.Addf(path+".headroom", "%g: give 1 to %d, such as 1.5", p.Headroom, maxHeadroom)
	}
}

func (w Webhook) check(f *config.Faults) {
	if w.URL == "" {
		if w.Secret != "" {
			f.Addf("webhook.url", "a secret without a URL: give where to post, or take the secret out")
		}
		return
	}
	// The parser's error would repeat the URL, which may hold a token.
	if u, err := url.Parse(string(w.URL)); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		f.Addf("webhook.url", "this is no URL to post to: write https://host/path")
	}
}

func (r Retention) check(f *config.Faults) {
	for _, keep := range []struct {
		name string
		time time.Duration
		min  time.Duration
	}{
		{"deltas", r.Deltas, time.Minute}, {"windows", r.Windows, time.Hour},
		{"cardinality", r.Cardinality, time.Hour}, {"findings", r.Findings, time.Hour},
		{"history", r.History, time.Hour}, {"notifications", r.Notifications, time.Hour},
		{"gaps", r.Gaps, time.Hour}, {"bad_samples", r.BadSamples, time.Hour},
	} {
		if keep.time < keep.min {
			f.Addf("retention."+keep.name, "%s is too short: give at least %s", keep.time, keep.min)
		}
	}
}

// probes look at what a reporter needs.
func (c *Config) probes() []cli.Probe {
	return []cli.Probe{c.Store.Probe()}
}
