package alert_test

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/keyheat/keyheat/internal/alert"
	"github.com/keyheat/keyheat/internal/alert/receiver"
	"github.com/keyheat/keyheat/internal/testsupport/must"
)

func TestADialIsCheckedWhateverTheNameSays(t *testing.T) {
	t.Parallel()
	s := outbox(t, "n1 f firing")
	deliver(t, quick("http://169.254.169.254/latest/meta-data"), s, func() bool {
		return kept(t, s, "f")[0].Attempts >= 1
	})
	if got := answers(t, s).LastError; !strings.Contains(got, "metadata") {
		t.Errorf("the receiver's last error is %q", got)
	}
}

func TestValidateSaysWhatToDo(t *testing.T) {
	t.Parallel()
	good := alert.Config{Receiver: receiver.Settings{Type: receiver.Webhook, URL: "https://user:password@hooks.example.com/x", Secret: secret}}
	if err := good.Validate(); err != nil {
		t.Errorf("a good configuration: %v", err)
	}
	for want, change := range map[string]func(*alert.Config){
		"write https://host":   func(c *alert.Config) { c.Receiver.URL = "hooks.example.com" },
		`"whsec_" and 24`:      func(c *alert.Config) { c.Receiver.Secret = "hunter2" },
		"24 to 64":             func(c *alert.Config) { c.Receiver.Secret = "whsec_aHVudGVy" },
		"no negative duration": func(c *alert.Config) { c.Timeout = -time.Second },
		"at least the min":     func(c *alert.Config) { c.MinPause, c.MaxPause = time.Hour, time.Minute },
	} {
		c := good
		change(&c)
		_, err := alert.New(c, nil, "test", slog.New(slog.DiscardHandler))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
			continue
		}
		if strings.Contains(err.Error(), "hunter") || strings.Contains(err.Error(), "password") {
			t.Errorf("the error contains a secret: %v", err)
		}
	}
}

func TestAttemptsAreCounted(t *testing.T) {
	t.Parallel()
	s := outbox(t, "n1 f firing")
	r := receive(t, func(w http.ResponseWriter, nth int) {
		if nth == 1 {
			w.WriteHeader(http.StatusBadGateway)
		}
	})
	w := deliver(t, quick(r.URL), s, settled(t, s, "f"))
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(w)
	families, err := registry.Gather()
	must.Succeed(t, err)
	got := make(map[string]float64)
	for _, f := range families {
		if f.GetName() != "keyheat_alert_attempts_total" {
			continue
		}
		for _, m := range f.GetMetric() {
			got[m.GetLabel()[0].GetValue()] = m.GetCounter().GetValue()
		}
	}
	if got["delivered"] != 1 || got["failed"] != 1 || got["dead"] != 0 {
		t.Errorf("attempts %v", got)
	}
}
