package detect

import (
	"encoding/json"
	"strconv"
	"time"
)

// Event is the occasion of a notification.
type Event string

// The events, in an incident's order.
const (
	EventFiring   Event = "firing"
	EventUpdated  Event = "updated"
	EventResolved Event = "resolved"
)

// NotificationID returns the ID of one route's notification of an event. It depends only
// on the content. A judge that writes the same transition again, after a rollback or a
// failover, does not notify again.
func NotificationID(incident string, opened time.Time, revision int, event Event, route string) string {
	return digest(incident, opened.UTC().Format(time.RFC3339), strconv.Itoa(revision), string(event), route)
}

// Payload is an incident's notification in the outbox: the incident and its root finding,
// as they were then.
type Payload struct {
	Incident json.RawMessage `json:"incident"`
	Finding  json.RawMessage `json:"finding"`
	// Recent is the load of the finding's key before the notification. It is nil if the
	// load is unknown, if the finding is about no single key, and when the incident is
	// resolved.
	Recent *Recent `json:"recent,omitempty"`
	// Related are the fingerprints of the worst other findings of the incident, at most
	// [RelatedFindings]. It is empty when the incident is resolved.
	Related []string `json:"related,omitempty"`
}

// RelatedFindings is the most findings that a notification names beside the root.
const RelatedFindings = 5

// RecentSeconds is the number of seconds of load in a notification.
const RecentSeconds = 30

// Recent is a key's load in the last seconds before a notification.
type Recent struct {
	// From is the first second; each of Loads is one second.
	From time.Time `json:"from"`
	// Unit is wcu or rcu, Limit a partition's limit in that unit a second.
	Unit  string  `json:"unit"`
	Limit float64 `json:"limit"`
	// Loads are whole units a second; null if the second was not observed. 0 may be up to
	// [TrackShare] of the limit: Keyheat does not follow cooler keys. The newest second
	// may be incomplete.
	Loads []*float64 `json:"loads"`
}

// NewPayload returns the payload of an incident's notification, without its optional
// parts. finding is the JSON document of the root.
func NewPayload(i *Incident, finding []byte) (p Payload, err error) {
	p.Finding = finding
	p.Incident, err = json.Marshal(i)
	return p, err
}

// ReadPayload decodes a payload. Text without a finding counts as the finding itself.
func ReadPayload(payload []byte) Payload {
	var p Payload
	if json.Unmarshal(payload, &p) == nil && p.Finding != nil {
		return p
	}
	return Payload{Finding: payload}
}

// SummaryID returns the ID of the message in place of a notification and others beyond a
// receiver's limit.
func SummaryID(id string) string { return digest(id, "summary") }
