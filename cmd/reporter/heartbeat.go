package main

import (
	"time"

	"github.com/keyheat/keyheat/internal/alert/receiver"
	"github.com/keyheat/keyheat/internal/settings/config"
)

// Heartbeat configures the messages to a dead man's switch.
type Heartbeat struct {
	URL     config.Secret `yaml:"url" help:"told by an empty POST that the reporter judges and stores its notifications, as healthchecks.io takes it; none when empty"`
	URLFile string        `yaml:"url_file" help:"a file with the URL, which is a secret"`
	Every   time.Duration `yaml:"every" help:"how often; the other side should wait for several times that"`
}

func (h *Heartbeat) check(f *config.Faults) {
	if h.URL != "" {
		if _, err := receiver.NewPing(string(h.URL)); err != nil {
			f.Addf("heartbeat.url", "%w", err)
		}
	}
	if h.Every < 10*time.Second {
		f.Addf("heartbeat.every", "%s is too short: give at least 10s", h.Every)
	}
}
