package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/settings/config"
	"github.com/keyheat/keyheat/internal/settings/options"
	"github.com/keyheat/keyheat/internal/source/kafka"
	"github.com/keyheat/keyheat/internal/source/kafka/wire"
)

// Kafka is the input of topics with samples.
type Kafka struct {
	Brokers []string `yaml:"brokers" help:"host:port of some brokers of the cluster"`
	Topics  []string `yaml:"topics" help:"the topics to read, from the earliest record"`
	Format  []string `yaml:"format" help:"the format of messages: keyheat, keyheat-protobuf, dynamodb-stream, cloudtrail or otlp; topic=format for one topic"`
	Group   string   `yaml:"group" help:"the consumer group that shares the partitions; after a renaming, reading continues at the stored positions"`
	// MaxBatch bounds batches and records, which a reader cannot split.
	MaxBatch config.Bytes `yaml:"max_batch" help:"the largest record batch as fetched, and the largest decompressed record; a larger record is skipped and stored as a gap"`
	TLS      TLS          `yaml:"tls"`
	SASL     SASL         `yaml:"sasl"`
}

// TLS is how connections to Kafka are encrypted.
type TLS struct {
	Enabled    bool   `yaml:"enabled" help:"encrypt the connections to Kafka and verify its certificate"`
	CAFile     string `yaml:"ca_file" help:"PEM certificates of the authorities that sign Kafka's certificate; the system's when empty"`
	CertFile   string `yaml:"cert_file" help:"PEM certificate of this client, if Kafka requires one"`
	KeyFile    string `yaml:"key_file" help:"PEM key of the certificate"`
	ServerName string `yaml:"server_name" help:"the name in Kafka's certificate, if it differs from the broker's"`
}

// SASL is how the collector authenticates to Kafka.
type SASL struct {
	Mechanism    string        `yaml:"mechanism" help:"PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, or AWS_MSK_IAM with the AWS SDK's credentials; empty for no authentication"`
	User         string        `yaml:"user" help:"the user to authenticate as"`
	Password     config.Secret `yaml:"password" help:"the user's password"`
	PasswordFile string        `yaml:"password_file" help:"a file that holds the password"`
}

func (k *Kafka) name() string { return "kafka" }

func (k *Kafka) isConfigured() bool { return len(k.Brokers)+len(k.Topics) > 0 }

func (k *Kafka) check(f *config.Faults) {
	if !k.isConfigured() {
		f.Addf("kafka.brokers", "nothing to read: set http.enabled, streams.tables, or kafka.brokers and kafka.topics")
		return
	}
	if len(k.Brokers) == 0 {
		f.Addf("kafka.brokers", "no broker: name at least one as host:port")
	}
	for _, b := range k.Brokers {
		if _, _, err := options.SplitAddress(b, "kafka:9092"); err != nil {
			f.Addf("kafka.brokers", "%w", err)
		}
	}
	if len(k.Topics) == 0 || slices.Contains(k.Topics, "") {
		f.Addf("kafka.topics", "no topic: name at least one")
	}
	if topics := slices.Sorted(slices.Values(k.Topics)); len(slices.Compact(topics)) < len(k.Topics) {
		f.Addf("kafka.topics", "a topic is named twice")
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
	k.SASL.check(k.TLS.Enabled, f)
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

// source returns the configuration of internal/source/kafka, and how its credentials are
// renewed.
func (k *Kafka) source() (c kafka.Config, credentials *wire.Credentials, err error) {
	c = kafka.Config{Brokers: k.Brokers, Topics: k.Topics, Group: k.Group, MaxBatchBytes: int(k.MaxBatch)}
	as, err := k.credential()
	if err != nil {
		return c, nil, err
	}
	credentials = new(wire.Credentials)
	credentials.Renew(as)
	c.TLS, c.SASL = credentials.TLS(), credentials.SASL()
	return c, credentials, nil
}

// credential is how connections to Kafka are made.
func (k *Kafka) credential() (c wire.Credential, err error) {
	if c.TLS, err = k.TLS.client(); err != nil {
		return c, fmt.Errorf("kafka.tls: %w", err)
	}
	c.SASL, err = k.SASL.mechanism()
	return c, err
}

// live implements input. Credentials belong to one cluster: if the brokers change, or TLS
// or authentication begins or ends, all of them wait for the restart.
func (k *Kafka) live(path string, next *Config) bool {
	if strings.HasPrefix(path, "kafka.tls.") || strings.HasPrefix(path, "kafka.sasl.") {
		return k.sameCluster(&next.Kafka)
	}
	return strings.HasPrefix(path, "tables.")
}

func (k *Kafka) sameCluster(next *Kafka) bool {
	return slices.Equal(k.Brokers, next.Brokers) && k.TLS.Enabled == next.TLS.Enabled && (k.SASL.Mechanism == "") == (next.SASL.Mechanism == "")
}

func (k *Kafka) probes(*Config) []cli.Probe {
	return []cli.Probe{{Name: "kafka", Run: func(ctx context.Context) (string, error) {
		settings, _, err := k.source()
		if err != nil {
			return "", err
		}
		limits, err := settings.Probe(ctx)
		found := fmt.Sprintf("%s answers and has %s", strings.Join(settings.Brokers, ", "), strings.Join(settings.Topics, ", "))
		if exposed := k.describeExposure(); exposed != "" {
			found += "; " + exposed
		}
		if limits != "" {
			found += "; " + limits
		}
		return found, err
	}}}
}

func (k *Kafka) open(ctx context.Context, config *Config, d cli.Daemon) (*reading, error) {
	forms, err := k.forms()
	if err != nil {
		return nil, cli.Wrong(err)
	}
	collector, err := newCollector(ctx, config, k, "kafka:"+k.Group, forms.decoders(config.Tables.Decoding()), d)
	if err != nil {
		return nil, err
	}
	settings, credentials, err := k.source()
	if err != nil {
		return nil, cli.Wrong(err)
	}
	if settings.Instance, err = cli.Instance(config.Admin.Listen); err != nil {
		return nil, err
	}
	_, settings.MemoryBytes, _ = config.share()
	if exposed := k.describeExposure(); exposed != "" {
		d.Log.Warn(exposed)
	}
	source := kafka.New(settings, d.Log)
	d.Ops.Ready("kafka", source.Ready)
	apply := func(next *Config) error {
		as, err := next.Kafka.credential()
		if err != nil {
			return err
		}
		if k.sameCluster(&next.Kafka) {
			credentials.Renew(as)
		}
		collector.Reconfigure(forms.decoders(next.Tables.Decoding()), next.Hider(next.Keys), next.Tables.Targets())
		return nil
	}
	return &reading{collector: collector, from: source, metrics: source, apply: apply}, nil
}
