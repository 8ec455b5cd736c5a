package main

import (
	"net"
	"net/url"
	"time"

	"github.com/keyheat/keyheat/detect/corroboration"
	"github.com/keyheat/keyheat/internal/alert"
	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/config"
	"github.com/keyheat/keyheat/internal/growth"
	"github.com/keyheat/keyheat/internal/report"
	"github.com/keyheat/keyheat/internal/tables"
	"github.com/keyheat/keyheat/store"
)

// Config is everything that an operator can configure of a reporter.
type Config struct {
	Store       cli.Store `yaml:"store"`
	Listen      string    `yaml:"listen" help:"host:port of the pages, the API, health, readiness and metrics"`
	Hosts       []string  `yaml:"hosts" help:"names by which the server may be called, beside localhost and IP addresses, such as keyheat.example.com; another name is answered with 421"`
	ExternalURL string    `yaml:"external_url" help:"the address at which people reach the pages, for links in notifications, such as https://keyheat.example.com"`
	Webhook     Webhook   `yaml:"webhook"`
	tables.Section
	CloudWatch CloudWatch `yaml:"cloudwatch"`
	Reports    Reports    `yaml:"reports" help:"reports that are made on a schedule, by name: see [Reports](#reports)" layers:"file"`
	Retention  Retention  `yaml:"retention"`
	Log        cli.Log    `yaml:"log"`
}

// Webhook is where notifications go.
type Webhook struct {
	URL        config.Secret `yaml:"url" help:"where notifications are posted as JSON; none are sent when empty" flag:"true"`
	URLFile    string        `yaml:"url_file" help:"a file with the URL, for URLs that contain a token"`
	Secret     config.Secret `yaml:"secret" help:"signs notifications as Standard Webhooks specifies; whsec_ and base64"`
	SecretFile string        `yaml:"secret_file" help:"a file with the secret"`
}

// Retention is how long data is kept.
type Retention struct {
	Deltas        time.Duration `yaml:"deltas" help:"collectors' deltas, once they are judged"`
	Windows       time.Duration `yaml:"windows" help:"the seconds of each table"`
	Cardinality   time.Duration `yaml:"cardinality" help:"the number of distinct keys of each table, by minute"`
	Peaks         time.Duration `yaml:"peaks" help:"the hourly peaks of warm keys, from which growth is forecast"`
	Views         time.Duration `yaml:"views" help:"the view of each table's keys, since its last change"`
	Findings      time.Duration `yaml:"findings" help:"findings, since their last change"`
	History       time.Duration `yaml:"history" help:"the history of findings"`
	Notifications time.Duration `yaml:"notifications" help:"notifications that were delivered or dropped"`
	Gaps          time.Duration `yaml:"gaps" help:"gaps in the samples"`
	BadSamples    time.Duration `yaml:"bad_samples" help:"counts of rejected samples"`
	CloudWatch    time.Duration `yaml:"cloudwatch" help:"the minutes that CloudWatch reported"`
	Reports       time.Duration `yaml:"reports" help:"scheduled reports"`
}

// defaults returns a reporter's default configuration.
func defaults() *Config {
	return &Config{
		Listen:     "127.0.0.1:9460",
		Section:    tables.Default(),
		CloudWatch: defaultCloudWatch(),
		Retention: Retention{
			Deltas: store.DefaultDeltaRetention, Windows: store.DefaultWindowRetention,
			Cardinality: store.DefaultCardinalityRetention,
			Peaks:       store.DefaultPeakRetention, Views: store.DefaultViewRetention, Findings: store.DefaultFindingRetention,
			History: store.DefaultHistoryRetention, Notifications: store.DefaultNotificationRetention,
			Gaps: store.DefaultGapRetention, BadSamples: store.DefaultBadRetention, CloudWatch: store.DefaultCloudWatchRetention,
			Reports: store.DefaultReportRetention,
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
	if err := alert.ValidatePages(c.ExternalURL); err != nil {
		f.Addf("external_url", "%w", err)
	}
	c.Section.Check(f)
	c.CloudWatch.check(f)
	c.checkReports(f)
	c.Retention.check(f)
	c.Log.Check(f)
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
		f.Addf("webhook.url", "not a URL to post to: write https://host/path")
		return
	}
	if err := (alert.Config{URL: string(w.URL), Secret: string(w.Secret)}).Validate(); err != nil {
		f.Addf("webhook.secret", "%w", err)
	}
}

func (r Retention) check(f *config.Faults) {
	for _, keep := range []struct {
		name string
		time time.Duration
		min  time.Duration
	}{
		{"deltas", r.Deltas, time.Minute}, {"windows", r.Windows, time.Hour},
		{"cardinality", r.Cardinality, time.Hour},
		{"peaks", r.Peaks, growth.Span}, {"views", r.Views, time.Hour}, {"findings", r.Findings, time.Hour},
		{"history", r.History, time.Hour}, {"notifications", r.Notifications, time.Hour},
		{"gaps", r.Gaps, time.Hour}, {"bad_samples", r.BadSamples, time.Hour},
		{"cloudwatch", r.CloudWatch, corroboration.Span * time.Minute}, {"reports", r.Reports, time.Hour},
	} {
		if keep.time < keep.min {
			f.Addf("retention."+keep.name, "%s is too short: give at least %s", keep.time, keep.min)
		}
	}
}

// probes returns the checks of what a reporter needs.
func (c *Config) probes() []cli.Probe {
	probes := []cli.Probe{c.Store.Probe()}
	if c.CloudWatch.Enabled {
		probes = append(probes, c.CloudWatch.probe())
	}
	return probes
}

// alert is the configuration of internal/alert.
func (c *Config) alert() alert.Config {
	return alert.Config{URL: string(c.Webhook.URL), Secret: string(c.Webhook.Secret), Pages: c.ExternalURL}
}

// judge is the configuration of internal/report.
func (c *Config) judge() report.Config {
	j := report.Config{
		Policy: c.DetectPolicy, Facts: c.Tables.Facts,
		Retention: store.Retention{
			Deltas: c.Retention.Deltas, Windows: c.Retention.Windows, Cardinality: c.Retention.Cardinality,
			Peaks: c.Retention.Peaks, Views: c.Retention.Views,
			Findings: c.Retention.Findings, History: c.Retention.History, Notifications: c.Retention.Notifications,
			Gaps: c.Retention.Gaps, Bad: c.Retention.BadSamples, CloudWatch: c.Retention.CloudWatch, Reports: c.Retention.Reports,
		},
	}
	if c.Webhook.URL != "" {
		j.Routes = []string{alert.DefaultRoute}
	}
	return j
}
