package receiver

import (
	"context"
	"time"
)

// Notifier delivers notices to one receiver.
type Notifier interface {
	// Notify makes one attempt to deliver a notice, within the context's time.
	Notify(ctx context.Context, n *Notice) Response
}

// Repeater is a Notifier whose receiver forgets an incident without repetition.
type Repeater interface {
	Notifier
	// Interval is the interval for repeating a firing incident.
	Interval() time.Duration
}

// Response is the result of one attempt. The zero value is a delivery.
type Response struct {
	// Err is the reason why the notice was not delivered. It holds no words of the
	// receiver, and no URL: a receiver may repeat the message, and URLs hold tokens.
	Err error
	// Refused reports that the receiver rejected the notice, so that another attempt will
	// hardly help.
	Refused bool
	// Silent reports that the receiver did not answer: an attempt with another notice is
	// not worth it now.
	Silent bool
	// Unsent reports that the notice has certainly not arrived.
	Unsent bool
	// RetryAfter is the header with the pause that the receiver asks for, in seconds or
	// as an HTTP date; empty for none.
	RetryAfter string
	// Receipt is the receiver's own name for the notice. The incident's next notice
	// brings it back as Notice.Receipt. Empty for none.
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

// Settings are one receiver's settings. Faults checks them against its type.
type Settings struct {
	Type Type
	// URL is the receiver's address: the webhook's URL, or the base of an API in place of
	// the usual one.
	URL string
	// Secret is a signing key, integration key, token or password.
	Secret  string
	Channel string
	// Server is a mail server, host:port. User logs in there with Secret; From and To are
	// addresses.
	Server, User, From string
	To                 []string
	// Topic is the ARN of an SNS topic.
	Topic string
}
