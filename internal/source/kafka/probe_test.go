package kafka_test

import (
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/keyheat/keyheat/internal/source/kafka"
	"github.com/keyheat/keyheat/internal/source/kafka/wire"
	"github.com/keyheat/keyheat/internal/testsupport/await"
	"github.com/keyheat/keyheat/internal/testsupport/must"
)

func TestProbeSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	c := cluster(t, 1, kfake.EnableSASL(), kfake.Superuser(wire.ScramSHA256, "keyheat", "right"))
	config := func(password string, topics ...string) kafka.Config {
		mechanism, err := wire.Mechanism(wire.ScramSHA256, "keyheat", password)
		must.Succeed(t, err)
		return kafka.Config{
			Brokers: c.ListenAddrs(), Topics: topics, Group: "g", SASL: mechanism, RequestTimeout: await.Limit,
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
		"nobody there":   {nobody, "no broker answers: start one, or correct kafka.brokers: dial tcp"},
	} {
		_, err := row.config.Probe(t.Context())
		if row.want == "" && err != nil || row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want)) {
			t.Errorf("%s: got %v, want %q", name, err, row.want)
		}
	}
}
