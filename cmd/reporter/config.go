package main

import (
	"context"
	"fmt"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/corroboration"
	"github.com/keyheat/keyheat/detect/pipeline"
	"github.com/keyheat/keyheat/internal/alert"
	"github.com/keyheat/keyheat/internal/alert/routing"
	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/judge"
	"github.com/keyheat/keyheat/internal/judge/heat"
	"github.com/keyheat/keyheat/internal/settings/config"
	"github.com/keyheat/keyheat/internal/settings/tables"
	"github.com/keyheat/keyheat/store"
)

// Config is everything that an operator can configure of a reporter.
type Config struct {
	Store       cli.Store `yaml:"store"`
	Listen      string    `yaml:"listen" help:"host:port of the pages, the API, health, readiness and metrics"`
	Hosts       []string  `yaml:"hosts" help:"names by which the server may be called, beside localhost and IP addresses, such as keyheat.example.com; another name is answered with 421"`
	Web         cli.Web   `yaml:"web"`
	ExternalURL string    `yaml:"external_url" help:"the address at which people reach the pages, for links in notifications, such as https://keyheat.example.com"`
	Webhook     Webhook   `yaml:"webhook"`
	Receivers   Receivers `yaml:"receivers" help:"the tools that are told of incidents, by name: see [ALERTING.md](ALERTING.md#receivers)" layers:"file"`
	Routes      []Route   `yaml:"routes" help:"which receivers are told of which incidents: see [ALERTING.md](ALERTING.md#routes); all of everything without any" layers:"file"`
	tables.Section
	Judge      Judge      `yaml:"judge"`
	Heartbeat  Heartbeat  `yaml:"heartbeat"`
	Pipeline   Pipeline   `yaml:"pipeline"`
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

// Judge configures the judge's resources.
type Judge struct {
	Memory config.Bytes `yaml:"memory" help:"bytes for what is judged: it says how many tables and keys are kept at once, and near it the garbage collector runs more often. The process is larger: 124 MiB with 64MiB and 1,024 small tables, more with a backlog. See [Memory](#memory)"`
}

// check checks the section.
func (j *Judge) check(f *config.Faults) {
	if j.Memory < judge.LeastMemory {
		f.Addf("judge.memory", "what a judge needs before it has a table: give at least %dMiB", judge.LeastMemory>>20)
	}
}

// probe returns the numbers of tables and keys that the memory is enough for.
func (j *Judge) probe() cli.Probe {
	return cli.Probe{Name: "memory", Run: func(context.Context) (string, error) {
		l := judge.LimitsOf(int64(j.Memory))
		return fmt.Sprintf("judge.memory, %dMiB, is for %d tables and indexes, %d keys near a limit, and %d keys in seconds that are not over", j.Memory>>20, l.Tables, l.Keys, l.OpenKeys), nil
	}}
}

// Retention is how long data is kept.
type Retention struct {
	Deltas        time.Duration `yaml:"deltas" help:"collectors' deltas, once they are judged"`
	Windows       time.Duration `yaml:"windows" help:"the seconds of each table"`
	Cardinality   time.Duration `yaml:"cardinality" help:"the number of distinct keys of each table, by minute"`
	Peaks         time.Duration `yaml:"peaks" help:"the hourly peaks of warm keys, from which growth is forecast"`
	Views         time.Duration `yaml:"views" help:"the view of each table's keys, since its last change"`
	Heat          Heat          `yaml:"heat"`
	Findings      time.Duration `yaml:"findings" help:"findings, since their last change"`
	History       time.Duration `yaml:"history" help:"the history of findings; silences that are over"`
	Notifications time.Duration `yaml:"notifications" help:"notifications that were delivered or dropped"`
	Gaps          time.Duration `yaml:"gaps" help:"gaps in the samples"`
	BadSamples    time.Duration `yaml:"bad_samples" help:"counts of rejected samples"`
	CloudWatch    time.Duration `yaml:"cloudwatch" help:"the minutes that CloudWatch reported"`
	Reports       time.Duration `yaml:"reports" help:"scheduled reports"`
}

// Heat is how long the roll-ups of the heatmap are kept.
type Heat struct {
	Tens       time.Duration `yaml:"ten_seconds" help:"the heatmap's cells of ten seconds, since they were written last"`
	Minutes    time.Duration `yaml:"minutes" help:"its cells of a minute"`
	TenMinutes time.Duration `yaml:"ten_minutes" help:"its cells of ten minutes"`
	Hours      time.Duration `yaml:"hours" help:"its cells of an hour, and which seconds were counted"`
}

// levels returns the settings by the names of package heat's levels.
func (h *Heat) levels() map[string]*time.Duration {
	return map[string]*time.Duration{"ten_seconds": &h.Tens, "minutes": &h.Minutes, "ten_minutes": &h.TenMinutes, "hours": &h.Hours}
}

func defaultHeat() (h Heat) {
	for _, l := range heat.Table {
		*h.levels()[l.Name] = l.Keep
	}
	return h
}

// rollups returns how long the roll-ups of each level are kept.
func (h *Heat) rollups() map[int64]time.Duration {
	all := make(map[int64]time.Duration)
	for _, l := range heat.Table {
		all[int64(l.Level)] = *h.levels()[l.Name]
	}
	return all
}

// defaults returns a reporter's default configuration.
func defaults() *Config {
	kept := store.DefaultRetention()
	return &Config{
		Listen:     "127.0.0.1:9460",
		Section:    tables.Default(),
		Judge:      Judge{Memory: 1 << 30},
		Heartbeat:  Heartbeat{Every: time.Minute},
		Pipeline:   Pipeline(pipeline.Default()),
		CloudWatch: defaultCloudWatch(),
		Retention: Retention{
			Deltas: kept.Deltas, Windows: kept.Windows, Cardinality: kept.Cardinality, Peaks: kept.Peaks, Views: kept.Views,
			Heat:     defaultHeat(),
			Findings: kept.Findings, History: kept.History, Notifications: kept.Notifications, Gaps: kept.Gaps,
			BadSamples: kept.Bad, CloudWatch: kept.CloudWatch, Reports: kept.Reports,
		},
		Log: cli.DefaultLog(),
	}
}

// Check implements config.Checker.
func (c *Config) Check(f *config.Faults) {
	c.Store.Check(f)
	c.Web.Check("listen", c.Listen, f)
	c.Webhook.check(f)
	c.checkReceivers(f)
	if err := alert.ValidatePages(c.ExternalURL); err != nil {
		f.Addf("external_url", "%w", err)
	}
	c.Section.Check(f)
	c.Judge.check(f)
	c.Heartbeat.check(f)
	c.Pipeline.check(f)
	c.CloudWatch.check(f)
	c.checkReports(f)
	c.Retention.check(f)
	c.Log.Check(f)
}

func (w Webhook) check(f *config.Faults) {
	if w.URL == "" && w.Secret != "" {
		f.Addf("webhook.url", "a secret without a URL: give where to post, or take the secret out")
	}
}

func (r Retention) check(f *config.Faults) {
	type setting struct {
		name string
		time time.Duration
		min  time.Duration
	}
	heats := make([]setting, len(heat.Table))
	for i, l := range heat.Table {
		heats[i] = setting{"heat." + l.Name, *r.Heat.levels()[l.Name], 2 * time.Hour}
		if l.Level == heat.TenSeconds {
			heats[i].min = time.Hour
		}
	}
	for _, keep := range append(heats, []setting{
		{"deltas", r.Deltas, time.Minute}, {"windows", r.Windows, time.Hour},
		{"cardinality", r.Cardinality, time.Hour},
		{"peaks", r.Peaks, heat.GrowthSpan}, {"views", r.Views, time.Hour}, {"findings", r.Findings, time.Hour},
		{"history", r.History, time.Hour}, {"notifications", r.Notifications, time.Hour},
		{"gaps", r.Gaps, time.Hour}, {"bad_samples", r.BadSamples, time.Hour},
		{"cloudwatch", r.CloudWatch, corroboration.Span * time.Minute}, {"reports", r.Reports, time.Hour},
	}...) {
		if keep.time < keep.min {
			f.Addf("retention."+keep.name, "%s is too short: give at least %s", keep.time, keep.min)
		}
	}
}

// probes returns the checks of the servers and rights that a reporter needs.
func (c *Config) probes() []cli.Probe {
	probes := []cli.Probe{c.Store.Probe(), c.Judge.probe()}
	if c.CloudWatch.Enabled {
		probes = append(probes, c.CloudWatch.probe())
		probes = append(probes, c.CloudWatch.insightsProbes(c.Tables)...)
	}
	if c.CloudWatch.Publish.Enabled {
		probes = append(probes, c.CloudWatch.Publish.probe())
	}
	return probes
}

// judge is the configuration of internal/judge. It asks the current configuration for
// policies and routes, so that a reload changes them.
func (c *Config) judge(current func() *Config) judge.Config {
	return judge.Config{
		Policy: func(of detect.Target) detect.Policy { return current().DetectPolicy(of) },
		Facts:  func(of detect.Target) *detect.TableFacts { return current().Tables.Facts(of) },
		Route: func(i *detect.Incident, root *detect.Finding) []routing.Destination {
			return current().tree().Destinations(i, root)
		},
		Pipeline: pipeline.Thresholds(c.Pipeline),
		Memory:   int64(c.Judge.Memory),
		Retention: store.Retention{
			Deltas: c.Retention.Deltas, Windows: c.Retention.Windows, Cardinality: c.Retention.Cardinality,
			Peaks: c.Retention.Peaks, Views: c.Retention.Views,
			Rollups:  c.Retention.Heat.rollups(),
			Findings: c.Retention.Findings, History: c.Retention.History, Notifications: c.Retention.Notifications,
			Gaps: c.Retention.Gaps, Bad: c.Retention.BadSamples, CloudWatch: c.Retention.CloudWatch, Reports: c.Retention.Reports,
		},
	}
}
