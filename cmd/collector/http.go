package main

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/collect"
	"github.com/keyheat/keyheat/internal/daemon/admin"
	"github.com/keyheat/keyheat/internal/settings/config"
	"github.com/keyheat/keyheat/internal/source/push"
	"github.com/keyheat/keyheat/sample/format"
	"github.com/keyheat/keyheat/store"
)

// HTTP is the input of samples and spans that producers send.
type HTTP struct {
	Enabled bool     `yaml:"enabled" help:"take samples at POST /v1/samples, OpenTelemetry spans at POST /v1/traces and Amazon Data Firehose at POST /v1/firehose of admin.listen, beside Kafka and streams or alone. The users who may send are web.operators"`
	Sources []string `yaml:"firehose_sources" help:"the Firehose streams that may deliver, as ARNs that may end with *; empty for every stream with the access key of one of web.operators"`
	// door answers requests before the store is open.
	door *push.Source
}

// sendLate is how old samples are when they arrive, beside the commit that their producer
// waits for: a second that it gathers, and two for the way and a retry.
const sendLate = 3 * time.Second

// spansLate is how old spans are when they arrive: five seconds that an SDK gathers them, and as
// many in an OpenTelemetry Collector. Firehose gathers as long at most, if it is set so.
const spansLate = 10 * time.Second

func (h *HTTP) name() string { return "http" }

func (h *HTTP) isConfigured() bool { return h.Enabled }

func (h *HTTP) check(f *config.Faults) {
	for _, source := range h.Sources {
		if !strings.HasPrefix(source, "arn:") {
			f.Addf("http.firehose_sources", "%q is no ARN: give one such as arn:aws:firehose:eu-west-1:111122223333:deliverystream/NAME, or its beginning and *", source)
		}
	}
}

// checkSenders checks that somebody may send.
func (c *Config) checkSenders(f *config.Faults) {
	if c.HTTP.Enabled && len(c.Web.Operators) == 0 && !c.Web.IsOpen(c.Admin.Listen) {
		f.Addf("http.enabled", "nobody may send samples: name the producers' users in web.operators, or write * for all users")
	}
}

// probes implements input: the store's probe is enough.
func (h *HTTP) probes(*Config) []cli.Probe { return nil }

// openDoor makes the source, and returns the handlers of requests. They answer before the
// store is open: a producer may take a missing path for good.
func (h *HTTP) openDoor(config *Config, log *slog.Logger) (handlers map[string]http.Handler, err error) {
	if !h.Enabled {
		return nil, nil
	}
	settings := push.Config{User: admin.User, Sources: h.Sources, Late: config.Commit.Interval + sendLate, SpansLate: config.Commit.Interval + spansLate}
	if settings.Instance, err = cli.Instance(config.Admin.Listen); err != nil {
		return nil, err
	}
	_, settings.MemoryBytes, _ = config.share()
	h.door = push.New(settings, nil, log)
	return h.door.Handlers(), nil
}

func (h *HTTP) open(ctx context.Context, config *Config, d cli.Daemon) (*reading, error) {
	decoders := func(c *Config) func(string) collect.Decoder {
		tables := c.Tables.Decoding()
		return func(door string) collect.Decoder {
			return format.NewDecoder(format.Format(door[strings.LastIndexByte(door, '/')+1:]), tables)
		}
	}
	collector, err := newCollector(ctx, config, h, store.Push, decoders(config), d)
	if err != nil {
		return nil, err
	}
	h.door.SetStore(d.Store)
	d.Ops.Ready("http", h.door.Ready)
	d.Log.Info("samples are taken", slog.String("at", "http://"+d.Ops.Addr()+"/v1/samples, /v1/traces and /v1/firehose"))
	apply := func(next *Config) error {
		collector.Reconfigure(decoders(next), next.Hider(next.Keys), next.Tables.Targets())
		return nil
	}
	return &reading{collector: collector, from: h.door, metrics: h.door, apply: apply}, nil
}

func (h *HTTP) live(path string, _ *Config) bool { return strings.HasPrefix(path, "tables.") }
