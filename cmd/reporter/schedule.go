package main

import (
	"maps"
	"slices"
	"time"

	"github.com/keyheat/keyheat/internal/report"
	"github.com/keyheat/keyheat/internal/report/schedule"
	"github.com/keyheat/keyheat/internal/settings/config"
)

// Reports are the schedules of reports, by name.
type Reports map[string]Report

// Report is a schedule of reports.
type Report struct {
	Cron      string        `yaml:"cron" help:"when: minute, hour, day of the month, month and day of the week, such as 0 8 * * MON"`
	TimeZone  string        `yaml:"time_zone" help:"the IANA time zone of cron, such as Europe/Berlin; UTC when empty"`
	Tables    []string      `yaml:"tables" help:"the tables, as NAME, REGION/NAME or ACCOUNT/REGION/NAME; all when empty"`
	Period    time.Duration `yaml:"period" help:"the length of the period; the time since the previous report when 0s"`
	Folder    string        `yaml:"folder" help:"the folder for its files; no files when empty"`
	Formats   []string      `yaml:"formats" help:"the formats of the files: html, markdown, json; html when empty"`
	Notify    bool          `yaml:"notify" help:"send a summary to all receivers that take reports"`
	Receivers []string      `yaml:"receivers" help:"send a summary to these receivers"`
}

func (c *Config) schedules() []schedule.Schedule {
	var all []schedule.Schedule
	for _, name := range slices.Sorted(maps.Keys(c.Reports)) {
		r := c.Reports[name]
		s := schedule.Schedule{Name: name, Cron: r.Cron, Zone: r.TimeZone, Tables: r.Tables, Period: r.Period, Folder: r.Folder}
		for _, f := range r.Formats {
			s.Formats = append(s.Formats, report.Format(f))
		}
		s.Routes = r.Receivers
		if r.Notify {
			s.Routes = c.receiverNames()
		}
		all = append(all, s)
	}
	return all
}

func (c *Config) checkReports(f *config.Faults) {
	for _, s := range c.schedules() {
		f.AddAll("reports."+s.Name, s.Faults())
		if c.Reports[s.Name].Notify && len(s.Routes) == 0 {
			f.Addf("reports."+s.Name+".notify", "no receiver: add one under receivers, or remove notify")
		}
		for _, name := range s.Routes {
			if !slices.Contains(c.receiverNames(), name) {
				f.Addf("reports."+s.Name+".receivers", "no receiver %q: name one of the section receivers", name)
			}
		}
	}
}
