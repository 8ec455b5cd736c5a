// Package notify is the contract between those who deliver notifications and the
// receivers that take them: what a receiver is told, what an attempt to tell it brings,
// and by which settings it is reached.
//
// What an outsider may have written, such as a key, must reach a receiver as text only:
// never in a field that it interprets as markup, as a command, or as a mention.
package notify

import (
	"context"
	"time"
)

// Notifier delivers notices to one receiver.
type Notifier interface {
	// Notify makes one attempt to deliver a notice, within the context's time.
	Notify(ctx context.Context, n *Notice) Response
}

// Repeater is a Notifier whose receiver forgets what it is not told again.
type Repeater interface {
	Notifier
	// Every is how often an incident that goes on is to be told.
	Every() time.Duration
}

// Response is what one attempt brought. The zero value is a delivery.
type Response struct {
	// Err is why the notice was not delivered. It holds nothing that the receiver
	// wrote, and no URL: a receiver may repeat the message, and URLs hold tokens.
	Err error
	// Refused reports that the receiver rejected the notice, so that another attempt
	// will hardly help.
	Refused bool
	// Silent reports that the receiver did not answer: it is not worth trying with
	// another notice at once.
	Silent bool
	// Unsent reports that the notice has certainly not arrived.
	Unsent bool
	// RetryAfter is the header in which the receiver asks for a pause, in seconds or
	// as an HTTP date; empty for none.
	RetryAfter string
	// Receipt is the receiver's own name of what it made of the notice; the next
	// notice of the incident brings it back as Notice.Receipt. Empty for none.
	Receipt string
}

// Type is a kind of receiver, as settings name it.
type Type string

// The types of receivers.
const (
	Webhook      Type = "webhook"
	Alertmanager Type = "alertmanager"
	PagerDuty    Type = "pagerduty"
	Slack        Type = "slack"
	Email        Type = "email"
	SNS          Type = "sns"
	JSM          Type = "jsm"
	Teams        Type = "teams"
)

// Settings are one receiver's. Which of them a type takes, Validate says.
type Settings struct {
	Type Type
	// URL is where it is reached: the webhook's URL, or the base of an API whose
	// usual one is not meant.
	URL string
	// Secret is a signing key, integration key, token or password.
	Secret string
	// Channel is the channel of a Slack bot.
	Channel string
	// Server is a mail server, host:port. User is who logs in there with Secret,
	// From and To are addresses.
	Server, User, From string
	To                 []string
	// Topic is the ARN of an SNS topic.
	Topic string
	// Pages is the address at which people reach the pages; empty for none.
	Pages string
}

// Fault is what is wrong with one field of a receiver's settings.
type Fault struct {
	Field string
	Err   error
}

func (f Fault) Error() string { return f.Field + ": " + f.Err.Error() }
