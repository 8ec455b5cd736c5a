package kafka_test

import (
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/keyheat/keyheat/internal/source/kafka"
)

func TestProbeSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	c := cluster(t, 1, kfake.EnableSASL(), kfake.Superuser(kafka.ScramSHA256, "keyheat", "right"))
	config := func(password string, topics ...string) kafka.Config {
		mechanism, err := kafka.Mechanism(kafka.ScramSHA256, "keyheat", password)
		if err != nil {
			t.Fatal(err)
		}
		return kafka.Config{
			Brokers: c.ListenAddrs(), Topics: topics, Group: "g", SASL: mechanism, RequestTimeout: 3 * time.Second,
		}
	}
	nobody := config("right", topic)
	nobody.Brokers = []string{"127.0.0.1:1"}
	for name, row := range map[string]struct {
		config kafka.Config
		want   string
	}{
		"well":           {config("right", topic), ""},
		"wrong password": {config("wrong", topic), "no broker answers"},
		"no such topic":  {config("right", topic, "elsewhere"), `the cluster has no topic "elsewhere"`},
		"nobody there":   {nobody, "no broker answers"},
		"no topic named": {config("right"), "name at least one"},
	} {
		_, err := row.config.Probe(t.Context())
		if row.want == "" && err != nil || row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want)) {
			t.Errorf("%s: got %v, want %q", name, err, row.want)
		}
	}
}

func TestMechanism(t *testing.T) {
	t.Parallel()
	for _, name := range []string{kafka.Plain, kafka.ScramSHA256, kafka.ScramSHA512} {
		m, err := kafka.Mechanism(name, "user", "password")
		if err != nil || m.Name() != name {
			t.Errorf("%s: %v, %v", name, m, err)
		}
	}
	if _, err := kafka.Mechanism("GSSAPI", "u", "p"); err == nil || !strings.Contains(err.Error(), "SCRAM-SHA-512") {
		t.Errorf("an unknown mechanism: %v", err)
	}
}
