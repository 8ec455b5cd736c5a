package kafka_test

import (
	"crypto/tls"
	"crypto/x509"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/segmentio/kafka-go/sasl/scram"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/internal/testsupport/kafkatest"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/sinktest"
)

// serve makes the cluster answer every fetch from a log of the test. The answer begins with
// the first batch that claims to reach the fetch offset. It has one batch, or as many as
// the fetch requests.
func serve(c *kfake.Cluster, high int64, batches []kafkatest.Batch, harm func(raw []byte, base int64)) (asked func(offset int64) int) {
	var mu sync.Mutex
	fetches := make(map[int64]int)
	c.ControlKey(int16(kmsg.Fetch), func(kreq kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		req := kreq.(*kmsg.FetchRequest)
		offset, most := req.Topics[0].Partitions[0].FetchOffset, int(req.Topics[0].Partitions[0].PartitionMaxBytes)
		mu.Lock()
		fetches[offset]++
		mu.Unlock()
		var records []byte
		for _, b := range batches {
			if max(b.Last+1, b.Base+int64(len(b.Records))) <= offset && len(records) == 0 {
				continue
			}
			raw := b.AppendTo(nil)
			if len(records) > 0 && len(records)+len(raw) > most {
				break
			}
			harm(raw, b.Base)
			records = append(records, raw...)
		}
		return answer(req, high, records), nil, true
	})
	return func(offset int64) int {
		mu.Lock()
		defer mu.Unlock()
		return fetches[offset]
	}
}

// answer is the response to a fetch of one partition whose log ends at high.
func answer(req *kmsg.FetchRequest, high int64, records []byte) *kmsg.FetchResponse {
	res := req.ResponseKind().(*kmsg.FetchResponse)
	rt := kmsg.NewFetchResponseTopic()
	rt.Topic, rt.TopicID = topic, req.Topics[0].TopicID
	rp := kmsg.NewFetchResponseTopicPartition()
	rp.HighWatermark, rp.LastStableOffset, rp.RecordBatches = high, high, records
	rt.Partitions = append(rt.Partitions, rp)
	res.Topics = append(res.Topics, rt)
	return res
}

var damaged = []kafkatest.Batch{
	{Base: 0, Time: 1000, Records: kafkatest.Values("0", "1")},
	{Base: 2, Time: 2000, Records: kafkatest.Values("2", "3", "4")},
	{Base: 5, Time: 3000, Records: kafkatest.Values("5")},
}

func TestKafkaPassesACorruptBatchAsAGap(t *testing.T) {
	t.Parallel()
	c := cluster(t, 1)
	asked := serve(c, 6, damaged, func(raw []byte, base int64) {
		if base == 2 {
			raw[70] ^= 1
		}
	})
	l := sinktest.New()
	_, stop := run(t, config(c.ListenAddrs()), l)
	l.Expect(t, 3)
	stop()
	gap := l.OnlyGap(t)
	if gap.From != "2" || gap.To != "5" || !strings.Contains(gap.Reason, "checksum") || gap.Since.UnixMilli() != 1000 || gap.Until.UnixMilli() != 3000 {
		t.Errorf("gap %+v, want 2 to 5 between the times of their neighbours", gap)
	}
	if n := asked(2); n < 2 {
		t.Errorf("the batch was fetched %d times: given up too early", n)
	}
}

func TestKafkaFindsTheWayOutOfABrokenFrame(t *testing.T) {
	t.Parallel()
	c := cluster(t, 1)
	serve(c, 6, damaged, func(raw []byte, base int64) {
		if base == 2 {
			raw[8], raw[11] = 0, 3 // a length that cannot be
			raw[10] = 0
		}
	})
	l := sinktest.New()
	run(t, config(c.ListenAddrs()), l)
	l.Expect(t, 3)
	gaps := l.Gaps()
	if len(gaps) == 0 || gaps[0].From != "2" || gaps[len(gaps)-1].To != "5" {
		t.Errorf("gaps %+v, want 2 to 5 in all", gaps)
	}
}

func TestKafkaSurvivesDamageOnTheWay(t *testing.T) {
	t.Parallel()
	c := cluster(t, 1)
	left := 3
	serve(c, 6, damaged, func(raw []byte, base int64) {
		if base == 2 && left > 0 {
			left--
			raw[70] ^= 1
		}
	})
	l := sinktest.New()
	run(t, config(c.ListenAddrs()), l)
	l.Expect(t, 6)
	if gaps := l.Gaps(); len(gaps) != 0 {
		t.Errorf("a batch that was whole in the end became a gap: %+v", gaps)
	}
}

func TestKafkaRefusesTheOldFormatAloud(t *testing.T) {
	t.Parallel()
	c := cluster(t, 1)
	serve(c, 6, damaged, func(raw []byte, _ int64) { raw[16] = 1 })
	k, _ := run(t, config(c.ListenAddrs()), sinktest.New())
	sinktest.Eventually(t, "the format is in readiness", func() bool {
		reasons := k.Ready()
		return len(reasons) == 1 && strings.Contains(reasons[0], "samples/0: ") && strings.Contains(reasons[0], "magic 0 or 1")
	})
}

func TestKafkaRefusesATruncatedAnswer(t *testing.T) {
	t.Parallel()
	c := cluster(t, 1)
	c.ControlKey(int16(kmsg.Fetch), func(kreq kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		return kreq.ResponseKind(), nil, true // no topic in it
	})
	k, _ := run(t, config(c.ListenAddrs()), sinktest.New())
	sinktest.Eventually(t, "the response is in readiness", func() bool {
		return strings.Contains(strings.Join(k.Ready(), ""), "which was asked for")
	})
}

func TestKafkaSpeaksTLSAndSASL(t *testing.T) {
	t.Parallel()
	web := httptest.NewTLSServer(nil) // for its certificate, good for 127.0.0.1
	defer web.Close()
	roots := x509.NewCertPool()
	roots.AddCert(web.Certificate())
	secret, err := scram.Mechanism(scram.SHA512, "scrammer", "secret")
	must.Succeed(t, err)
	for name, mechanism := range map[string]sasl.Mechanism{
		"plain": plain.Mechanism{Username: "plainer", Password: "secret"}, "scram": secret,
	} {
		t.Run(name, func(t *testing.T) {
			c := cluster(t, 1, kfake.TLS(&tls.Config{Certificates: web.TLS.Certificates}), kfake.EnableSASL(),
				kfake.Superuser("PLAIN", "plainer", "secret"), kfake.Superuser("SCRAM-SHA-512", "scrammer", "secret"))
			serve(c, 6, damaged, func([]byte, int64) {})
			cfg := config(c.ListenAddrs())
			cfg.TLS, cfg.SASL = func() *tls.Config { return &tls.Config{RootCAs: roots} }, mechanism
			l := sinktest.New()
			run(t, cfg, l)
			l.Expect(t, 6)

			cfg.SASL = plain.Mechanism{Username: "plainer", Password: "wrong"}
			k, _ := run(t, cfg, sinktest.New())
			sinktest.Eventually(t, "the failure is in readiness", func() bool {
				return strings.Contains(strings.ToLower(strings.Join(k.Ready(), "")), "sasl")
			})
		})
	}
}

var _ source.Sink = (*sinktest.Recorder)(nil)

// TestKafkaReadsWhatALastBatchHides: a batch claims the offsets of later batches, and the
// response has no room for one of them.
func TestKafkaReadsWhatALastBatchHides(t *testing.T) {
	t.Parallel()
	padding := strings.Repeat(" ", 1500)
	for _, high := range []int64{6, 20} { // the log's end, and holes of compaction before it
		c := cluster(t, 1)
		serve(c, high, []kafkatest.Batch{
			{Base: 0, Last: 9, Records: kafkatest.Values("0"+padding, "1")},
			{Base: 2, Records: kafkatest.Values("2"+padding, "3")},
			{Base: 4, Last: high - 1, Records: kafkatest.Values("4"+padding, "5")},
		}, func([]byte, int64) {})
		cfg := config(c.ListenAddrs())
		cfg.FetchBytes = 2 << 10
		l := sinktest.New()
		_, stop := run(t, cfg, l)
		l.Expect(t, 6)
		sinktest.Eventually(t, "the end is reached", func() (end bool) {
			l.With(func() { end = len(l.Folded) > 0 && l.Folded[len(l.Folded)-1].End })
			return end
		})
		stop()
		if gaps := l.Gaps(); len(gaps) > 0 {
			t.Errorf("gaps: %+v", gaps)
		}
	}
}
