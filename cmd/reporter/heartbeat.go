package main

import (
	"time"

	"github.com/keyheat/keyheat/internal/alert/receiver"
	"github.com/keyheat/keyheat/internal/settings/config"
)

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
