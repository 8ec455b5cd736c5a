package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/keyheat/keyheat/internal/testsupport/await"
	"github.com/keyheat/keyheat/internal/testsupport/daemontest"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

// TestSIGHUP has a running collector hide keys from one sample on to the next.
func TestSIGHUP(t *testing.T) {
	t.Parallel()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, "samples"))
	must.Succeed(t, err)
	defer cluster.Close()
	dir := t.TempDir()
	database := "sqlite:" + filepath.Join(dir, "keyheat.db")
	if _, err := store.Migrate(t.Context(), database); err != nil {
		t.Fatal(err)
	}
	file, secret := filepath.Join(dir, "collector.yaml"), filepath.Join(dir, "secret")
	write := func(path, text string) {
		t.Helper()
		must.Succeed(t, os.WriteFile(path, []byte(text), 0o600))
	}
	settings := func(more string) string {
		return fmt.Sprintf(`
store: {url: %q}
kafka: {brokers: [%q], topics: [samples]}
admin: {listen: "127.0.0.1:0"}
commit: {interval: 100ms}
%s`, database, cluster.ListenAddrs()[0], more)
	}
	write(file, settings(""))
	d := daemontest.Start(t, "collector", "run", "--config", file)
	db, err := store.Open(t.Context(), database, store.Options{})
	must.Succeed(t, err)
	defer db.Close()
	produceSample(t, cluster, "customer#17")
	if got := newestKey(t, db, 1); got != "customer#17" {
		t.Fatalf("%q was counted", got)
	}

	write(secret, "c2VjcmV0cyBvZiAxNiBieXRlcw==")
	write(file, settings(fmt.Sprintf("tables: {orders: {keys: hmac}}\nkeys: {secret_file: %q}\ncollect: {memory: 512MiB}\n", secret)))
	d.Signal(syscall.SIGHUP)
	if line := d.Logs("the configuration was reloaded"); !strings.Contains(line, `"changed":["keys.secret","keys.secret_file","tables.orders"]`) {
		t.Error(line)
	}
	if line := d.Logs("after a restart only"); !strings.Contains(line, `"settings":["collect.memory"]`) {
		t.Error(line)
	}
	produceSample(t, cluster, "customer#17")
	hidden := newestKey(t, db, 2)
	if !strings.HasPrefix(hidden, "~") {
		t.Errorf("%q was counted", hidden)
	}

	write(secret, "too short")
	d.Signal(syscall.SIGHUP)
	if line := d.Logs("was not reloaded"); !strings.Contains(line, "keys.secret") || strings.Contains(line, "too short") {
		t.Error(line)
	}
	if all := d.Get("/metrics"); !strings.Contains(all, "\nkeyheat_config_last_reload_successful 0") {
		t.Error("the metric does not say that the reload failed")
	}
	produceSample(t, cluster, "customer#17")
	if got := newestKey(t, db, 3); got != hidden {
		t.Errorf("%q was counted after a reload that failed, not %q", got, hidden)
	}
	if err := d.Stop(); err != nil {
		t.Errorf("SIGTERM ended it: %v", err)
	}
}

func produceSample(t *testing.T, cluster *kfake.Cluster, key string) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(cluster.ListenAddrs()...), kgo.DefaultProduceTopic("samples"))
	must.Succeed(t, err)
	defer client.Close()
	value := fmt.Sprintf(`{"ts":%d,"table":"orders","op":"PutItem","pk":%q,"wcu":1}`, time.Now().UnixMilli(), key)
	must.Succeed(t, client.ProduceSync(t.Context(), kgo.StringRecord(value)).FirstErr())
}

// newestKey waits for as many deltas, and returns the key in the newest.
func newestKey(t *testing.T, db *store.Store, deltas int) string {
	t.Helper()
	var read store.Snapshot
	await.Until(t, fmt.Sprint(deltas, " deltas"), func() bool {
		var err error
		if read, err = db.Read(t.Context(), nil, store.ReadLimit{}); err != nil {
			t.Fatal(err)
		}
		return len(read.Deltas) >= deltas
	})
	var d sketch.Delta
	must.Succeed(t, d.UnmarshalBinary(read.Deltas[len(read.Deltas)-1].Body))
	return d.Windows[0].Keys[0].Key.String()
}

// TestNewCertificates: connections to Kafka to come are made with the authorities that
// were read last.
func TestNewCertificates(t *testing.T) {
	t.Parallel()
	var serves atomic.Pointer[tls.Certificate]
	first, firstPEM := certificate(t)
	serves.Store(first)
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, "samples"), kfake.TLS(&tls.Config{
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return serves.Load(), nil },
	}))
	must.Succeed(t, err)
	defer cluster.Close()
	authority := filepath.Join(t.TempDir(), "ca.crt")
	must.Succeed(t, os.WriteFile(authority, firstPEM, 0o600))
	k := &Kafka{Brokers: cluster.ListenAddrs(), Topics: []string{"samples"}, Group: "g", MaxBatch: 1 << 20, TLS: TLS{Enabled: true, CAFile: authority}}
	settings, now, err := k.source()
	must.Succeed(t, err)
	probe := func() error {
		ctx, cancel := context.WithTimeout(t.Context(), await.Limit)
		defer cancel()
		_, err := settings.Probe(ctx)
		return err
	}
	must.Succeed(t, probe())
	second, secondPEM := certificate(t)
	serves.Store(second)
	if err := probe(); err == nil {
		t.Fatal("a certificate of an unknown authority was trusted")
	}
	must.Succeed(t, os.WriteFile(authority, secondPEM, 0o600))
	as, err := k.credential()
	must.Succeed(t, err)
	now.Renew(as)
	if err := probe(); err != nil {
		t.Errorf("the new authority is not trusted: %v", err)
	}
}

// certificate returns a certificate of 127.0.0.1, which is its own authority.
func certificate(t *testing.T) (*tls.Certificate, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must.Succeed(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	must.Succeed(t, err)
	return &tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})
}

// TestCredentialsAreOfOneCluster: no setting of them takes effect where another one has
// to wait for the restart.
func TestCredentialsAreOfOneCluster(t *testing.T) {
	t.Parallel()
	started := defaults()
	started.Kafka.Brokers, started.Kafka.SASL = []string{"a:9092"}, SASL{Mechanism: "PLAIN", User: "u", Password: "p"}
	for name, change := range map[string]func(*Kafka){
		"other brokers": func(k *Kafka) { k.Brokers = []string{"b:9092"} }, "TLS begins": func(k *Kafka) { k.TLS.Enabled = true },
		"no authentication": func(k *Kafka) { k.SASL = SASL{} },
	} {
		next := *started
		next.Kafka.SASL.Password = "another"
		if !started.Kafka.live("kafka.sasl.password", &next) {
			t.Error("another password waits for a restart")
		}
		if change(&next.Kafka); started.Kafka.live("kafka.sasl.password", &next) {
			t.Errorf("%s: the password does not wait for it", name)
		}
	}
}
