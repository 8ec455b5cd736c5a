// Package receiver delivers notifications to generic webhooks and to on-call's tools,
// each in its own encoding. A receiver makes single attempts; package alert decides when,
// and judges the results. A notice, the response to an attempt and the settings of a receiver
// are the contract between them.
//
// Outsiders may have written some texts, such as a key. They must reach a receiver as
// text only: never in a field that it interprets as markup, as a command, or as a
// mention.
//
// To add a receiver, write one file with a type that has Notify, and a line in kinds.
package receiver

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/keyheat/keyheat/internal/settings/options"
)

type kind struct {
	make               func(Settings) (Notifier, error)
	required, optional []string
}

var kinds = map[Type]kind{
	Webhook:      {newWebhook, []string{"url"}, []string{"secret"}},
	Alertmanager: {newAlertmanager, []string{"url"}, []string{"secret", "user"}},
	PagerDuty:    {newPagerDuty, []string{"secret"}, []string{"url"}},
	Slack:        {newSlack, nil, []string{"url", "secret", "channel"}},
	Email:        {newEmail, []string{"server", "from", "to"}, []string{"user", "secret"}},
	SNS:          {newSNS, []string{"topic"}, nil},
	JSM:          {newJSM, []string{"secret"}, []string{"url"}},
	Teams:        {newTeams, []string{"url"}, nil},
}

// Types returns the types of receivers, in alphabetical order.
func Types() []Type { return slices.Sorted(maps.Keys(kinds)) }

// New returns the receiver that settings describe.
func New(s Settings) (Notifier, error) {
	if wrong := Faults(s); len(wrong) > 0 {
		return nil, wrong[0]
	}
	return kinds[s.Type].make(s)
}

// Faults returns the faults of settings. None holds a secret or a URL.
func Faults(s Settings) []options.Fault {
	k, known := kinds[s.Type]
	if !known {
		return []options.Fault{{Field: "type", Err: fmt.Errorf("%q is no type of receiver: give one of %v", s.Type, Types())}}
	}
	var all []options.Fault
	add := func(field, format string, args ...any) {
		all = append(all, options.Fault{Field: field, Err: fmt.Errorf(format, args...)})
	}
	for field, set := range givenFields(&s) {
		required := slices.Contains(k.required, field)
		switch {
		case required && !set:
			add(field, "missing: a receiver of type %s needs it", s.Type)
		case set && !required && !slices.Contains(k.optional, field):
			add(field, "a receiver of type %s does not have it", s.Type)
		}
	}
	if err := checkURL(s.URL); err != nil {
		add("url", "%w", err)
	}
	if len(all) == 0 {
		if _, err := k.make(s); err != nil {
			fault, isFault := errors.AsType[options.Fault](err)
			if !isFault {
				fault = options.Fault{Field: "type", Err: err}
			}
			all = append(all, fault)
		}
	}
	slices.SortFunc(all, func(a, b options.Fault) int { return strings.Compare(a.Field, b.Field) })
	return all
}

func givenFields(s *Settings) map[string]bool {
	return map[string]bool{
		"url": s.URL != "", "secret": s.Secret != "", "channel": s.Channel != "", "server": s.Server != "",
		"user": s.User != "", "from": s.From != "", "to": len(s.To) > 0, "topic": s.Topic != "",
	}
}
