package main

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/keyheat/keyheat/internal/settings/options"

	"github.com/keyheat/keyheat/internal/alert"
	"github.com/keyheat/keyheat/internal/alert/notify"
	"github.com/keyheat/keyheat/internal/alert/receiver"
	"github.com/keyheat/keyheat/internal/alert/routing"
	"github.com/keyheat/keyheat/internal/settings/config"
)

// Receivers are where notifications go, by name.
type Receivers map[string]Receiver

// Receiver is one receiver. internal/alert/receiver lists the settings of each type.
type Receiver struct {
	Type          string        `yaml:"type" help:"webhook, alertmanager, pagerduty, slack, email, sns, jsm or teams"`
	URL           config.Secret `yaml:"url" help:"the address; PagerDuty, JSM and a Slack bot have a default"`
	URLFile       string        `yaml:"url_file" help:"a file with the URL, for URLs that contain a token"`
	Secret        config.Secret `yaml:"secret" help:"webhook: the signing secret, as whsec_ and base64; pagerduty: the integration key; slack: a bot's token; jsm: the API key; email, alertmanager: the user's password, or a bearer token without a user"`
	SecretFile    string        `yaml:"secret_file" help:"a file with the secret"`
	User          string        `yaml:"user" help:"the user of email or alertmanager"`
	Channel       string        `yaml:"channel" help:"the ID of a Slack bot's channel"`
	Server        string        `yaml:"server" help:"the mail server, as host:port"`
	From          string        `yaml:"from" help:"the sender of e-mail"`
	To            []string      `yaml:"to" help:"the recipients of e-mail"`
	Topic         string        `yaml:"topic" help:"the ARN of an SNS topic"`
	Limit         int           `yaml:"limit" help:"notifications a minute; beyond it one message counts the rest; 20 when 0, no limit with -1"`
	Fallback      string        `yaml:"fallback" help:"the receiver that gets the messages while this one fails; none when empty"`
	FallbackAfter time.Duration `yaml:"fallback_after" help:"the time of failure before the fallback takes over; 5m when 0"`
}

// Route sends some incidents to some receivers.
type Route struct {
	Account   string            `yaml:"account" help:"matches the account; * stands for any text without /, here and below; any when empty"`
	Region    string            `yaml:"region" help:"matches the Region"`
	Table     string            `yaml:"table" help:"matches the table's name"`
	Index     string            `yaml:"index" help:"matches the index's name"`
	Kind      string            `yaml:"kind" help:"matches the kind of the incident's root finding"`
	Cause     string            `yaml:"cause" help:"matches the incident's cause"`
	Owner     string            `yaml:"owner" help:"matches the owner in the table's policy"`
	Severity  []string          `yaml:"severity" help:"critical, warning, or both; both when empty"`
	Labels    map[string]string `yaml:"labels" help:"match the labels in the table's policy"`
	Receivers []string          `yaml:"receivers" help:"the names of the receivers; nobody when empty"`
	Continue  bool              `yaml:"continue" help:"also try the routes below"`
	// GroupWait and GroupInterval are texts, since 0s is a time and not none.
	GroupBy       []string `yaml:"group_by" help:"group incidents that have these in common: account, region, table, index, cause, kind, severity, owner, labels.NAME; receiver for one group; no groups when empty"`
	GroupWait     string   `yaml:"group_wait" help:"how long a new group waits for other incidents before its first message; 30s when empty"`
	GroupInterval string   `yaml:"group_interval" help:"the time between two messages of a group; 5m when empty"`
}

// grouping returns how the route groups incidents into one message; nil for one message
// each.
func (r *Route) grouping() (*routing.Grouping, []options.Fault) {
	var faults []options.Fault
	read := func(field, text string) *time.Duration {
		if text == "" {
			return nil
		}
		d, err := options.ParseDuration(text)
		if err != nil {
			faults = append(faults, options.Fault{Field: field, Err: fmt.Errorf("%q: write a duration with its unit, such as 0s, 30s or 5m", text)})
			return nil
		}
		return &d
	}
	group, more := routing.NewGrouping(r.GroupBy, read("group_wait", r.GroupWait), read("group_interval", r.GroupInterval))
	return group, append(faults, more...)
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
			Route: name, Pages: c.ExternalURL, Limit: defaultLimit, Fallback: r.Fallback, FallbackAfter: r.FallbackAfter,
			Receiver: notify.Settings{
				Type: notify.Type(r.Type), URL: string(r.URL), Secret: string(r.Secret), User: r.User, Channel: r.Channel,
				Server: r.Server, From: r.From, To: r.To, Topic: r.Topic,
			},
		}
		if r.Type == string(notify.Alertmanager) {
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

// tree returns the routes; without any, all receivers get all incidents.
func (c *Config) tree() routing.Tree {
	if len(c.Routes) == 0 {
		return routing.Everything(c.receiverNames()...)
	}
	var tree routing.Tree
	for _, r := range c.Routes {
		group, _ := r.grouping() // checkReceivers reports what is wrong with it
		tree = append(tree, routing.Route{
			Match: routing.Match{
				Account: r.Account, Region: r.Region, Table: r.Table, Index: r.Index, Cause: r.Cause, Kind: r.Kind, Owner: r.Owner,
				Severities: r.Severity, Labels: r.Labels,
			},
			Receivers: r.Receivers, Group: group, Continue: r.Continue,
		})
	}
	return tree
}

func (c *Config) checkReceivers(f *config.Faults) {
	known := func(name string) bool { _, found := c.Receivers[name]; return found }
	for _, d := range c.deliveries() {
		at := "receivers." + d.Route
		f.AddAll(at, receiver.Faults(d.Receiver))
		if d.Fallback != "" && (!known(d.Fallback) || d.Fallback == d.Route) {
			f.Addf(at+".fallback", "%q is no other receiver: name one of the section receivers", d.Fallback)
		}
		if d.FallbackAfter < 0 {
			f.Addf(at+".fallback_after", "%s: give a time above 0", d.FallbackAfter)
		}
	}
	for i, r := range c.tree() {
		at := fmt.Sprintf("routes[%d]", i)
		f.AddAll(at, r.Match.Faults())
		for _, name := range r.Receivers {
			if !known(name) {
				f.Addf(at+".receivers", "no receiver %q: name one of the section receivers", name)
			}
		}
	}
	for i := range c.Routes {
		_, faults := c.Routes[i].grouping()
		f.AddAll(fmt.Sprintf("routes[%d]", i), faults)
	}
}
