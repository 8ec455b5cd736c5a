package main

import (
	"context"
	"fmt"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/pipeline"
	"github.com/keyheat/keyheat/internal/alert"
	"github.com/keyheat/keyheat/internal/alert/receiver"
	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/judge"
	"github.com/keyheat/keyheat/internal/judge/verdict"
	"github.com/keyheat/keyheat/internal/settings/config"
	"github.com/keyheat/keyheat/internal/settings/tables"
	"github.com/keyheat/keyheat/rollup"
	"github.com/keyheat/keyheat/store"
)

// Config is everything that an operator can configure of a reporter.
type Config struct {
	Store       cli.Store `yaml:"store"`
	Listen      string    `yaml:"listen" help:"host:port of the pages, the API, health, readiness and metrics"`
	Hosts       []string  `yaml:"hosts" help:"names by which clients may call the server, beside localhost and IP addresses, such as keyheat.example.com; another name gets a 421"`
	Web         cli.Web   `yaml:"web"`
	ExternalURL string    `yaml:"external_url" help:"the address of the pages, for links in notifications, such as https://keyheat.example.com"`
	Receivers   Receivers `yaml:"receivers" help:"the receivers of incidents, by name: see [ALERTING.md](ALERTING.md#receivers)" layers:"file"`
	tables.Section
	Judge      Judge      `yaml:"judge"`
	Heartbeat  Heartbeat  `yaml:"heartbeat"`
	Pipeline   Pipeline   `yaml:"pipeline"`
	CloudWatch CloudWatch `yaml:"cloudwatch"`
	Reports    Reports    `yaml:"reports" help:"reports on a schedule, by name: see [Reports](#reports)" layers:"file"`
	Retention  Retention  `yaml:"retention"`
	Log        cli.Log    `yaml:"log"`
}

// Replacements implements config.Replacer.
func (Config) Replacements() map[string]string {
	return map[string]string{
		"routes": "give each receiver its own filter, receivers.NAME.tables, accounts and severity; to group incidents or route them by labels, use a receiver of type alertmanager",
	}
}

// Judge configures the judge's resources.
type Judge struct {
	Memory config.Bytes `yaml:"memory" help:"memory of the judge, which sets the number of tables and keys that it follows. The process is larger: see [Memory](#memory)"`
}

func (j *Judge) check(f *config.Faults) {
	if j.Memory < judge.LeastMemory {
		f.Addf("judge.memory", "too little for a judge without any table: give at least %dMiB", judge.LeastMemory>>20)
	}
}

// probe returns the numbers of tables and keys that the memory is enough for.
func (j *Judge) probe() cli.Probe {
	return cli.Probe{Name: "memory", Run: func(context.Context) (string, error) {
		l := judge.LimitsOf(int64(j.Memory))
		return fmt.Sprintf("judge.memory, %dMiB, is for %d tables and indexes, %d keys near a limit, and %d keys in seconds that are not over", j.Memory>>20, l.Tables, l.Keys, l.OpenKeys), nil
	}}
}

// Retention is how long data is kept. The retention of other data follows from it.
type Retention struct {
	Windows  time.Duration `yaml:"windows" help:"the seconds of each table"`
	Heat     Heat          `yaml:"heat"`
	Findings time.Duration `yaml:"findings" help:"findings, incidents, views of keys and gaps, from their last change; delivered notifications, 7 days at most"`
	History  time.Duration `yaml:"history" help:"the history of findings, and expired silences"`
	Reports  time.Duration `yaml:"reports" help:"scheduled reports"`
}

// Heat is how long the roll-ups of the heatmap are kept.
type Heat struct {
	Tens       time.Duration `yaml:"ten_seconds" help:"the heatmap's cells of ten seconds"`
	Minutes    time.Duration `yaml:"minutes" help:"the heatmap's cells of a minute"`
	TenMinutes time.Duration `yaml:"ten_minutes" help:"the heatmap's cells of ten minutes"`
	Hours      time.Duration `yaml:"hours" help:"the heatmap's cells of an hour, and the list of counted seconds"`
}

func (h *Heat) levels() map[string]*time.Duration {
	return map[string]*time.Duration{"ten_seconds": &h.Tens, "minutes": &h.Minutes, "ten_minutes": &h.TenMinutes, "hours": &h.Hours}
}

func defaultHeat() (h Heat) {
	for _, l := range rollup.Table {
		*h.levels()[l.Name] = l.Keep
	}
	return h
}

func (h *Heat) rollups() map[int64]time.Duration {
	all := make(map[int64]time.Duration)
	for _, l := range rollup.Table {
		all[int64(l.Level)] = *h.levels()[l.Name]
	}
	return all
}

func defaults() *Config {
	kept := store.DefaultRetention()
	return &Config{
		Listen:     "127.0.0.1:9460",
		Section:    tables.Default(),
		Judge:      Judge{Memory: 1 << 30},
		Pipeline:   defaultPipeline(),
		CloudWatch: defaultCloudWatch(),
		Retention: Retention{
			Windows: kept.Windows, Findings: kept.Findings, History: kept.History, Reports: kept.Reports,
			Heat: defaultHeat(),
		},
		Log: cli.DefaultLog(),
	}
}

// Check implements config.Checker.
func (c *Config) Check(f *config.Faults) {
	c.Store.Check(f)
	c.Web.Check("listen", c.Listen, f)
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

func (r Retention) check(f *config.Faults) {
	type setting struct {
		name string
		time time.Duration
		min  time.Duration
	}
	heats := make([]setting, len(rollup.Table))
	for i, l := range rollup.Table {
		heats[i] = setting{"heat." + l.Name, *r.Heat.levels()[l.Name], 2 * time.Hour}
		if l.Level == rollup.TenSeconds {
			heats[i].min = time.Hour
		}
	}
	for _, keep := range append(heats, []setting{
		{"windows", r.Windows, time.Hour}, {"findings", r.Findings, time.Hour},
		{"history", r.History, time.Hour}, {"reports", r.Reports, time.Hour},
	}...) {
		if keep.time < keep.min {
			f.Addf("retention."+keep.name, "%s is too short: give at least %s", keep.time, keep.min)
		}
	}
}

func (c *Config) probes() []cli.Probe {
	probes := []cli.Probe{c.Store.Probe(), c.Judge.probe()}
	if c.CloudWatch.Enabled {
		probes = append(probes, c.CloudWatch.probe())
	}
	return probes
}

// judge is the configuration of internal/judge. It asks the current configuration for
// policies and receivers, so that a reload changes them.
func (c *Config) judge(current func() *Config) judge.Config {
	return judge.Config{
		Options: verdict.Options{
			Policy:    func(of detect.Target) detect.Policy { return current().DetectPolicy(of) },
			Facts:     func(of detect.Target) *detect.TableFacts { return current().Tables.Facts(of) },
			Receivers: func(i *detect.Incident) []string { return current().receiversOf(i) },
			Pipeline:  c.Pipeline.thresholds(),
		},
		Memory:    int64(c.Judge.Memory),
		Retention: c.Retention.store(),
	}
}

// store returns the retention of the store's tables. Rows that hold keys are kept no longer
// than the findings or the history that an operator shortens to forget keys. The store's
// defaults hold for the rest: internal rows, and counts without keys.
func (r Retention) store() store.Retention {
	return store.Retention{
		Windows: r.Windows, Findings: r.Findings, Views: r.Findings, Gaps: r.Findings, Reports: r.Reports,
		History:       r.History,
		Notifications: min(r.Findings, store.DefaultRetention().Notifications),
		Rollups:       r.Heat.rollups(),
	}
}

// Heartbeat configures the messages to a dead man's switch.
type Heartbeat struct {
	URL     config.Secret `yaml:"url" help:"gets an empty POST every minute in which the reporter judges and stores notifications, as healthchecks.io expects; none when empty"`
	URLFile string        `yaml:"url_file" help:"a file with the URL, which is a secret"`
}

// heartbeatInterval is the time between two messages: often enough for a monitor that
// raises the alarm after a few minutes, and rare enough for every monitor's rate limit.
const heartbeatInterval = time.Minute

func (h *Heartbeat) check(f *config.Faults) {
	if h.URL != "" {
		if _, err := receiver.NewPing(string(h.URL)); err != nil {
			f.Addf("heartbeat.url", "%w", err)
		}
	}
}

// Pipeline holds the thresholds above which Keyheat's own faults become incidents. The
// thresholds that no operator has to change are in pipeline.Default.
type Pipeline struct {
	Lag      time.Duration `yaml:"lag" help:"how far counting may be behind the clock, and how long it may stand still, while records wait; no incident when 0"`
	BadShare float64       `yaml:"bad_share" help:"the share of samples that may be rejected, 0.05 for 5%; no incident when 0"`
}

func defaultPipeline() Pipeline {
	d := pipeline.Default()
	return Pipeline{Lag: d.Lag, BadShare: d.BadShare}
}

func (p *Pipeline) check(f *config.Faults) {
	if p.BadShare > 1 {
		f.Addf("pipeline.bad_share", "%v is above 1: write 5%% as 0.05", p.BadShare)
	}
}

func (p *Pipeline) thresholds() pipeline.Thresholds {
	t := pipeline.Default()
	t.Lag, t.Standing, t.BadShare = p.Lag, p.Lag, p.BadShare
	return t
}
