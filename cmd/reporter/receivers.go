package main

import (
	"maps"
	"slices"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/alert"
	"github.com/keyheat/keyheat/internal/alert/receiver"
	"github.com/keyheat/keyheat/internal/incident"
	"github.com/keyheat/keyheat/internal/settings/config"
)

// Receivers are where notifications go, by name.
type Receivers map[string]Receiver

// Receiver is one receiver. internal/alert/receiver lists the settings of each type.
type Receiver struct {
	Type       string        `yaml:"type" help:"webhook, alertmanager, pagerduty, slack, email, sns, jsm or teams"`
	URL        config.Secret `yaml:"url" help:"the address; PagerDuty, JSM and a Slack bot have a default"`
	URLFile    string        `yaml:"url_file" help:"a file with the URL, for URLs that contain a token"`
	Secret     config.Secret `yaml:"secret" help:"webhook: the signing secret, as whsec_ and base64; pagerduty: the integration key; slack: a bot's token; jsm: the API key; email, alertmanager: the user's password, or a bearer token without a user"`
	SecretFile string        `yaml:"secret_file" help:"a file with the secret"`
	User       string        `yaml:"user" help:"the user of email or alertmanager"`
	Channel    string        `yaml:"channel" help:"the ID of a Slack bot's channel"`
	Server     string        `yaml:"server" help:"the mail server, as host:port"`
	From       string        `yaml:"from" help:"the sender of e-mail"`
	To         []string      `yaml:"to" help:"the recipients of e-mail"`
	Topic      string        `yaml:"topic" help:"the ARN of an SNS topic"`
	Limit      int           `yaml:"limit" help:"notifications a minute; beyond it one message counts the rest; 20 when 0, no limit with -1"`
	Tables     []string      `yaml:"tables" help:"only incidents of these tables, such as orders or orders-*; all when empty. Incidents of Keyheat itself always arrive"`
	Accounts   []string      `yaml:"accounts" help:"only incidents of these accounts; all when empty"`
	Severity   []string      `yaml:"severity" help:"critical, warning, or both; both when empty"`
}

// Replacements implements config.Replacer.
func (Receiver) Replacements() map[string]string {
	const both = "name both receivers under receivers, and each gets every incident; Alertmanager can send to one after the other"
	return map[string]string{"fallback": both, "fallback_after": both}
}

// filter returns which incidents the receiver gets.
func (r *Receiver) filter() incident.Filter {
	return incident.Filter{Tables: r.Tables, Accounts: r.Accounts, Severities: r.Severity}
}

// defaultLimit is how many notifications a minute a person can look at.
const defaultLimit = 20

// deliveries returns the configurations of internal/alert: one for each receiver, sorted
// by name.
func (c *Config) deliveries() []alert.Config {
	var all []alert.Config
	for _, name := range slices.Sorted(maps.Keys(c.Receivers)) {
		r := c.Receivers[name]
		a := alert.Config{
			Route: name, Pages: c.ExternalURL, Limit: defaultLimit,
			Receiver: receiver.Settings{
				Type: receiver.Type(r.Type), URL: string(r.URL), Secret: string(r.Secret), User: r.User, Channel: r.Channel,
				Server: r.Server, From: r.From, To: r.To, Topic: r.Topic,
			},
		}
		if r.Type == string(receiver.Alertmanager) {
			a.Limit = 0 // it groups by itself
		}
		if r.Limit != 0 {
			a.Limit = max(r.Limit, 0)
		}
		all = append(all, a)
	}
	return all
}

func (c *Config) receiverNames() []string {
	return slices.Sorted(maps.Keys(c.Receivers))
}

// receiversOf returns the names of the receivers that get an incident.
func (c *Config) receiversOf(i *detect.Incident) []string {
	return slices.DeleteFunc(c.receiverNames(), func(name string) bool {
		r := c.Receivers[name]
		filter := r.filter()
		return !filter.Takes(i)
	})
}

func (c *Config) checkReceivers(f *config.Faults) {
	for _, d := range c.deliveries() {
		at := "receivers." + d.Route
		f.AddAll(at, receiver.Faults(d.Receiver))
		r := c.Receivers[d.Route]
		filter := r.filter()
		f.AddAll(at, filter.Faults())
	}
}
