package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/collect"
	"github.com/keyheat/keyheat/internal/config"
	"github.com/keyheat/keyheat/internal/form"
	"github.com/keyheat/keyheat/internal/source/kafka"
	"github.com/keyheat/keyheat/internal/source/streams"
	"github.com/keyheat/keyheat/internal/tables"
)

// Config is everything that an operator may say about a collector.
type Config struct {
	Kafka   Kafka   `yaml:"kafka"`
	Streams Streams `yaml:"streams"`
	tables.FileSection
	Store   cli.Store `yaml:"store"`
	Commit  Commit    `yaml:"commit"`
	Collect Collect   `yaml:"collect"`
	Admin   Admin     `yaml:"admin"`
	Log     cli.Log   `yaml:"log"`
}

// Kafka is where the samples are.
type Kafka struct {
	Brokers []string `yaml:"brokers" help:"host:port of some brokers of the cluster"`
	Topics  []string `yaml:"topics" help:"the topics to read, all partitions, from the earliest record"`
	Format  []string `yaml:"format" help:"what the topics hold: keyheat, dynamodb-stream or cloudtrail; topic=format for one of them"`
	Group   string   `yaml:"group" help:"the consumer group that shares the partitions; a renamed one reads on where the old one stopped"`
	// MaxBatch bounds a partition's memory.
	MaxBatch config.Bytes `yaml:"max_batch" help:"the most bytes that one record batch may hold, compressed and not; a compressed one above it is recorded as a gap"`
	TLS      TLS          `yaml:"tls"`
	SASL     SASL         `yaml:"sasl"`
}

// TLS is how connections to Kafka are encrypted.
type TLS struct {
	Enabled    bool   `yaml:"enabled" help:"encrypt the connections to Kafka and verify its certificate"`
	CAFile     string `yaml:"ca_file" help:"PEM certificates of the authorities that may sign Kafka's; the system's when empty"`
	CertFile   string `yaml:"cert_file" help:"PEM certificate of this client, where Kafka requires one"`
	KeyFile    string `yaml:"key_file" help:"PEM key of the certificate"`
	ServerName string `yaml:"server_name" help:"the name in Kafka's certificate, where it differs from the broker's"`
}

// SASL is how the collector authenticates to Kafka.
type SASL struct {
	Mechanism    string        `yaml:"mechanism" help:"PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512; empty for no authentication"`
	User         string        `yaml:"user" help:"the user to authenticate as"`
	Password     config.Secret `yaml:"password" help:"the user's password"`
	PasswordFile string        `yaml:"password_file" help:"a file that holds the password"`
}

// Commit is how often summaries are stored.
type Commit struct {
	Interval time.Duration `yaml:"interval" help:"how often summaries and positions are stored"`
}

// Collect is how samples are summarised.
type Collect struct {
	Shards      int           `yaml:"shards" help:"how many sketches are filled in parallel; 0 for one per CPU core"`
	Memory      config.Bytes  `yaml:"memory" help:"bytes that may wait to be stored; reading pauses above it"`
	TooOld      time.Duration `yaml:"too_old" help:"a sample whose time is more than this before its message's counts as bad"`
	TooFarAhead time.Duration `yaml:"too_far_ahead" help:"a sample whose time is more than this after its message's counts as bad"`
}

// Admin is where the operations server listens.
type Admin struct {
	Listen string   `yaml:"listen" help:"host:port of health, readiness and metrics"`
	Hosts  []string `yaml:"hosts" help:"names by which the server may be called, beside localhost and IP addresses; another name is answered with 421"`
}

// defaults returns a collector's settings where nothing else is configured.
func defaults() *Config {
	return &Config{
		Kafka:       Kafka{Group: "keyheat", Format: []string{string(form.Keyheat)}, MaxBatch: kafka.DefaultMaxBatchBytes},
		Streams:     Streams{Consumer: "keyheat", Lease: streams.DefaultLease},
		FileSection: tables.DefaultFile(),
		Commit:      Commit{Interval: collect.DefaultCommitInterval},
		Collect: Collect{
			Memory: collect.DefaultPendingBytes, TooOld: collect.DefaultTooOld, TooFarAhead: collect.DefaultTooFarAhead,
		},
		Admin: Admin{Listen: "127.0.0.1:9461"},
		Log:   cli.DefaultLog(),
	}
}

// Check implements config.Checker.
func (c *Config) Check(f *config.Faults) {
	switch {
	case !c.Streams.wanted():
		c.Kafka.check(f)
	case len(c.Kafka.Brokers)+len(c.Kafka.Topics) > 0:
		f.Addf("streams.tables", "a collector reads Kafka or streams, not both: start one for each, with the same store")
	default:
		c.Streams.check(f)
	}
	c.FileSection.Check(f)
	c.Store.Check(f)
	c.Collect.check(f)
	if c.Commit.Interval < 100*time.Millisecond || c.Commit.Interval > time.Minute {
		f.Addf("commit.interval", "%s: give 100ms to 1m", c.Commit.Interval)
	}
	if _, _, err := net.SplitHostPort(c.Admin.Listen); err != nil {
		f.Addf("admin.listen", "%q: write host:port, such as 127.0.0.1:9461", c.Admin.Listen)
	}
	c.Log.Check(f)
}

func (k *Kafka) check(f *config.Faults) {
	if len(k.Brokers) == 0 {
		f.Addf("kafka.brokers", "no broker: name at least one as host:port")
	}
	for _, b := range k.Brokers {
		if _, _, err := net.SplitHostPort(b); err != nil {
			f.Addf("kafka.brokers", "%q: write host:port, such as kafka:9092", b)
		}
	}
	if len(k.Topics) == 0 {
		f.Addf("kafka.topics", "no topic: name at least one")
	}
	if _, err := k.forms(); err != nil {
		f.Addf("kafka.format", "%w", err)
	}
	if strings.TrimSpace(k.Group) == "" {
		f.Addf("kafka.group", "no consumer group: name one")
	}
	if k.MaxBatch < 1<<20 || k.MaxBatch >= 1<<30 {
		f.Addf("kafka.max_batch", "%d bytes: give at least 1MiB and less than 1GiB", k.MaxBatch)
	}
	if _, err := k.TLS.client(); err != nil {
		f.Addf("kafka.tls", "%w", err)
	}
	if !k.TLS.Enabled && k.TLS != (TLS{}) {
		f.Addf("kafka.tls.enabled", "the other settings of kafka.tls have no effect without it: write true, or remove them")
	}
	if k.SASL.Mechanism == "" {
		if k.SASL != (SASL{}) {
			f.Addf("kafka.sasl.mechanism", "the other settings of kafka.sasl have no effect without it: write PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512")
		}
	} else if _, err := kafka.Mechanism(k.SASL.Mechanism, k.SASL.User, string(k.SASL.Password)); err != nil {
		f.Addf("kafka.sasl.mechanism", "%w", err)
	}
}

func (c *Collect) check(f *config.Faults) {
	if c.Shards < 0 || c.Shards > 1024 {
		f.Addf("collect.shards", "%d: give 1 to 1024, or 0 for one a core", c.Shards)
	}
	if c.Memory < 16<<20 {
		f.Addf("collect.memory", "less than one second of samples needs: give at least 16MiB")
	}
	if c.TooOld < time.Second {
		f.Addf("collect.too_old", "%s: give at least 1s", c.TooOld)
	}
	if c.TooFarAhead < time.Second {
		f.Addf("collect.too_far_ahead", "%s: give at least 1s", c.TooFarAhead)
	}
}

// client returns the TLS of connections to Kafka; nil for none.
func (t TLS) client() (*tls.Config, error) {
	if !t.Enabled {
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName}
	if t.CAFile != "" {
		pem, err := os.ReadFile(t.CAFile)
		if err != nil {
			return nil, fmt.Errorf("ca_file: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("ca_file: %s holds no PEM certificate", t.CAFile)
		}
	}
	switch {
	case t.CertFile != "" && t.KeyFile != "":
		pair, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("cert_file and key_file: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	case t.CertFile != "" || t.KeyFile != "":
		return nil, errors.New("cert_file and key_file belong together: give both")
	}
	return c, nil
}

// source returns the configuration of internal/source/kafka.
func (k *Kafka) source() (kafka.Config, error) {
	c := kafka.Config{Brokers: k.Brokers, Topics: k.Topics, Group: k.Group, MaxBatchBytes: int(k.MaxBatch)}
	var err error
	if c.TLS, err = k.TLS.client(); err != nil {
		return c, fmt.Errorf("kafka.tls: %w", err)
	}
	if k.SASL.Mechanism != "" {
		c.SASL, err = kafka.Mechanism(k.SASL.Mechanism, k.SASL.User, string(k.SASL.Password))
	}
	return c, err
}

// probes check the servers that a collector needs.
func (c *Config) probes() []cli.Probe {
	if c.Streams.wanted() {
		return append(c.streamProbes(), c.Store.Probe())
	}
	return []cli.Probe{
		{Name: "kafka", Run: func(ctx context.Context) (string, error) {
			k, err := c.Kafka.source()
			if err != nil {
				return "", err
			}
			limits, err := k.Probe(ctx)
			found := fmt.Sprintf("%s answers and has %s", strings.Join(k.Brokers, ", "), strings.Join(k.Topics, ", "))
			if limits != "" {
				found += "; " + limits
			}
			return found, err
		}},
		c.Store.Probe(),
	}
}
