//go:build e2e

package e2e_test

import (
	"fmt"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/keyheat/keyheat/internal/testsupport/kafkatest"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/port"
	"github.com/keyheat/keyheat/internal/testsupport/streamstest"
)

// toldWithin is how soon on-call has to be told that samples are not read.
const toldWithin = time.Minute

// TestDeadSources takes each kind of source away, or a part of one, until on-call is told, and
// gives it back: the incident, the pages, the metrics and readiness say so, and it ends by itself.
func TestDeadSources(t *testing.T) {
	t.Parallel() // it mostly waits
	for _, o := range []struct {
		name string
		// begin starts what the collectors read. It returns their settings and environment, and
		// how the source is taken away and given back.
		begin func(t *testing.T) source
		// code is the case of the incident, banner what every page says, and ready what a collector's
		// readiness says; it is empty if no collector is left.
		code, banner, ready string
	}{
		{"Kafka is killed", killedKafka, "collection_stopped", "No collector can read its source", "connection refused"},
		{"Kafka is frozen", frozenKafka, "collection_stopped", "No collector can read its source", "has not been read for"},
		{"the network to Kafka is cut", cutKafka, "collection_stopped", "No collector can read its source", "has not been read for"},
		{"one broker of three is gone", oneBrokerGone, "collection_lags", "not read since", "dead-sources/"},
		{"a topic of two is deleted", deletedTopic, "collection_lags", "not read since", "topic gone: it does not exist"},
		{"the right to read a topic is revoked", revokedRight, "collection_stopped", "No collector can read its source", "uthoriz"},
		{"the right to read DynamoDB Streams is revoked", deniedStreams, "collection_stopped", "No collector can read its source", "access denied"},
		{"the HTTP door's collectors are gone", killedDoors, "collection_stopped", "Collection has stopped", ""},
	} {
		t.Run(o.name, func(t *testing.T) {
			t.Parallel()
			s := o.begin(t)
			pages := make(chan page, 1000)
			receiver := httptest.NewServer(receivePages(pages))
			t.Cleanup(receiver.Close)
			w := &scenario{}
			url := w.startReporter(t, fmt.Sprintf("receivers: {pager: {type: webhook, url: %q}}", receiver.URL))
			for i := range 2 {
				c := newProcess(t, fmt.Sprint("collector-", i), "collector run", fmt.Sprintf("%s\nstore: {url: %q}\nadmin: {listen: \"%%listen%%\"}\n", s.settings, url))
				c.env = s.environment
				w.collectors = append(w.collectors, c)
			}
			w.startCollectors(t)
			for _, c := range w.collectors {
				c.ready(t)
			}
			time.Sleep(15 * time.Second) // the collectors have reported that all is well
			if len(pages) > 0 {
				t.Fatalf("before anything happened on-call was told %s", (<-pages).body)
			}
			taken := time.Now()
			s.take(t, w)
			told := awaitPage(t, pages, o.code, "firing").at.Sub(taken)
			if told > toldWithin {
				t.Errorf("on-call was told after %s, want at most %s", rounded(told), toldWithin)
			}
			if _, err := w.reporter.get("/-/ready"); err != nil {
				t.Errorf("the reporter can do its own work, and is not ready: %v", err)
			}
			for _, path := range []string{"/", "/status"} {
				within(t, 10*time.Second, path+" says so", func() error {
					body, err := w.reporter.get(path)
					if err == nil && (!strings.Contains(string(body), o.banner) || strings.Contains(string(body), "All is well")) {
						err = fmt.Errorf("it lacks %q", o.banner)
					}
					return err
				})
			}
			figures := "no collector to scrape"
			if o.ready != "" {
				figures = w.checkUnread(t, o.ready)
			}
			given := time.Now()
			s.give(t, w)
			over := awaitPage(t, pages, o.code, "resolved").at.Sub(given)
			for _, c := range w.collectors {
				c.ready(t)
			}
			t.Logf("%-46s %s told after %s, over %s after the source is back; %s", o.name+":", o.code, rounded(told), rounded(over), figures)
		})
	}
}

// TestTopicsReplacedWhileCollectorsAreDead kills both collectors and starts them, within their
// session, with one topic more, and then with another topic alone: what is subscribed is read.
func TestTopicsReplacedWhileCollectorsAreDead(t *testing.T) {
	t.Parallel() // it mostly waits
	w := &scenario{kafka: kafkatest.Shared(t)}
	names := []string{"replaced-a", "replaced-b", "replaced-c"}
	for _, name := range names {
		w.kafka.CreateTopic(t, name, partitions)
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(w.kafka.Addr), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	must.Succeed(t, err)
	t.Cleanup(client.Close)
	w.addCollectors(t, names[0], []string{w.kafka.Addr}, w.startReporter(t), "")
	w.startCollectors(t)
	written := map[string]int64{} // to each partition
	for i, topics := range [][]string{names[:1], names[:2], names[2:]} {
		if i > 0 {
			for _, c := range w.collectors {
				c.kill(t)
				text, err := os.ReadFile(c.config)
				must.Succeed(t, err)
				text = regexp.MustCompile(`topics: \[[^\]]*\]`).ReplaceAll(text, []byte("topics: ["+strings.Join(topics, ", ")+"]"))
				must.Succeed(t, os.WriteFile(c.config, text, 0o600))
			}
			w.startCollectors(t)
		}
		began := time.Now()
		for _, topic := range topics {
			written[topic]++
			for id := range int32(partitions) {
				line := fmt.Appendf(nil, `{"table":"orders","pk":"k","op":"PutItem","wcu":1,"ts":%d}`, time.Now().UnixMilli())
				must.Succeed(t, client.ProduceSync(t.Context(), &kgo.Record{Topic: topic, Partition: id, Value: line}).FirstErr())
			}
		}
		within(t, 45*time.Second, fmt.Sprintf("all partitions of %q are read", topics), func() error {
			for _, topic := range topics {
				for id := range partitions {
					var next int64
					name := fmt.Sprint(topic, "/", id)
					err := w.database.QueryRow(`SELECT coalesce(max(next_offset::bigint), 0) FROM positions WHERE name = $1`, name).Scan(&next)
					if err != nil || next < written[topic] {
						return fmt.Errorf("%s is read up to %d of %d (%s)", name, next, written[topic], fmt.Sprint(err))
					}
				}
			}
			return nil
		})
		t.Logf("%q are read after %s", topics, rounded(time.Since(began)))
	}
}

// source is what collectors read, and how a test takes it away and gives it back.
type source struct {
	settings    string
	environment []string
	take, give  func(t *testing.T, w *scenario)
}

// awaitPage waits for a message about an incident of Keyheat itself.
func awaitPage(t *testing.T, pages <-chan page, code, event string) page {
	t.Helper()
	late := time.After(4 * time.Minute)
	for {
		select {
		case p := <-pages:
			if p.event == event && strings.Contains(p.body, `"case":"`+code+`"`) {
				return p
			}
			if p.event == event {
				t.Logf("another message: %.300s", p.body)
			}
		case <-late:
			t.Fatalf("on-call was not told of %s, %s", code, event)
		}
	}
}

// unreadFigures matches the metrics of a collector that has something unread.
var unreadFigures = regexp.MustCompile(`(?m)^keyheat_(collect_lag_messages|collect_unread_partitions|collect_watermark_age_seconds|ready)(?:\{[^}]*\})? (.*)$`)

// checkUnread checks the readiness and the metrics of those collectors that have something
// unread: at least one. It returns the metrics of that one.
func (w *scenario) checkUnread(t *testing.T, reason string) (figures string) {
	t.Helper()
	for _, c := range w.collectors {
		body, err := c.get("/metrics")
		must.Succeed(t, err)
		values := map[string]string{}
		var all []string
		for _, m := range unreadFigures.FindAllStringSubmatch(string(body), -1) {
			values[m[1]] = m[2]
			all = append(all, m[1]+" "+m[2])
		}
		if values["collect_unread_partitions"] == "0" {
			continue
		}
		figures = strings.Join(all, ", ")
		if values["collect_lag_messages"] != "NaN" || values["ready"] != "0" {
			t.Errorf("%s has something unread, and the metrics %s", c.name, figures)
		}
		if _, err := c.get("/-/ready"); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s is not ready because of %v, want %q", c.name, err, reason)
		}
	}
	if figures == "" {
		t.Error("no collector says in its metrics that anything is unread")
	}
	return figures
}

func readsKafka(topics string, brokers ...string) string {
	return fmt.Sprintf("kafka: {brokers: ['%s'], topics: [%s], group: dead-sources}", strings.Join(brokers, "', '"), topics)
}

func ownKafka(t *testing.T) *kafkatest.Server {
	server := kafkatest.Start(t)
	server.CreateTopic(t, "dead-sources", partitions)
	return server
}

func killedKafka(t *testing.T) source {
	server := ownKafka(t)
	return source{
		settings: readsKafka("dead-sources", server.Addr),
		take:     func(t *testing.T, _ *scenario) { server.Kill(t) },
		give:     func(t *testing.T, _ *scenario) { server.Restart(t) },
	}
}

func frozenKafka(t *testing.T) source {
	server := ownKafka(t)
	return source{
		settings: readsKafka("dead-sources", server.Addr),
		take: func(t *testing.T, _ *scenario) {
			server.Signal(t, syscall.SIGSTOP)
			t.Cleanup(func() { server.Signal(t, syscall.SIGCONT) })
		},
		give: func(t *testing.T, _ *scenario) { server.Signal(t, syscall.SIGCONT) },
	}
}

func cutKafka(t *testing.T) source {
	server := ownKafka(t)
	way := server.Through(t)
	return source{
		settings: readsKafka("dead-sources", way.Addr),
		take:     func(*testing.T, *scenario) { way.Cut() },
		give:     func(*testing.T, *scenario) { way.Heal() },
	}
}

// oneBrokerGone is a topic without replicas, whose group's coordinator survives.
func oneBrokerGone(t *testing.T) source {
	nodes := kafkatest.StartCluster(t, 3)
	client, err := kgo.NewClient(kgo.SeedBrokers(nodes[0].Addr))
	must.Succeed(t, err)
	t.Cleanup(client.Close)
	admin := kadm.NewClient(client)
	if _, err := admin.CreateTopic(t.Context(), partitions, 1, nil, "dead-sources"); err != nil {
		t.Fatal(err)
	}
	return source{
		settings: readsKafka("dead-sources", nodes[0].Addr, nodes[1].Addr, nodes[2].Addr),
		take:     func(t *testing.T, _ *scenario) { nodes[2].Kill(t) },
		give:     func(t *testing.T, _ *scenario) { nodes[2].Restart(t) },
	}
}

func deletedTopic(t *testing.T) source {
	server := ownKafka(t)
	server.CreateTopic(t, "gone", partitions)
	client, err := kgo.NewClient(kgo.SeedBrokers(server.Addr))
	must.Succeed(t, err)
	t.Cleanup(client.Close)
	return source{
		settings: readsKafka("dead-sources, gone", server.Addr),
		take: func(t *testing.T, _ *scenario) {
			if _, err := kadm.NewClient(client).DeleteTopics(t.Context(), "gone"); err != nil {
				t.Fatal(err)
			}
		},
		give: func(t *testing.T, _ *scenario) { server.CreateTopic(t, "gone", partitions) },
	}
}

// revokedRight is a fake of Kafka, which refuses as a real one does: the real ones of the tests
// know no users.
func revokedRight(t *testing.T) source {
	const topicAuthorizationFailed = 29
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(partitions, "dead-sources"), kfake.Ports(port.Hold(t)))
	must.Succeed(t, err)
	t.Cleanup(cluster.Close)
	var code atomic.Int32
	cluster.ControlKey(int16(kmsg.Fetch), func(q kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		r := q.ResponseKind().(*kmsg.FetchResponse)
		for _, topic := range q.(*kmsg.FetchRequest).Topics {
			answer := kmsg.NewFetchResponseTopic()
			answer.Topic, answer.TopicID = topic.Topic, topic.TopicID
			for _, p := range topic.Partitions {
				partition := kmsg.NewFetchResponseTopicPartition()
				partition.Partition, partition.ErrorCode = p.Partition, int16(code.Load())
				answer.Partitions = append(answer.Partitions, partition)
			}
			r.Topics = append(r.Topics, answer)
		}
		return r, nil, code.Load() != 0
	})
	return source{
		settings: readsKafka("dead-sources", cluster.ListenAddrs()...),
		take:     func(*testing.T, *scenario) { code.Store(topicAuthorizationFailed) },
		give:     func(*testing.T, *scenario) { code.Store(0) },
	}
}

func deniedStreams(t *testing.T) source {
	fake := streamstest.New(streamstest.Options{})
	fake.CreateTable(streamed).EnableStream(streamstest.NewAndOldImages)
	all := []string{"ListStreams", "DescribeStream", "GetShardIterator", "GetRecords"}
	return source{
		settings: "streams: {tables: [orders], consumer: e2e}",
		environment: []string{
			"AWS_ENDPOINT_URL=" + serve(t, fake), "AWS_REGION=eu-west-1", "AWS_ACCESS_KEY_ID=e2e",
			"AWS_SECRET_ACCESS_KEY=secret", "AWS_EC2_METADATA_DISABLED=true",
		},
		take: func(*testing.T, *scenario) {
			for _, operation := range all {
				fake.Deny(operation)
			}
		},
		give: func(*testing.T, *scenario) {
			for _, operation := range all {
				fake.Allow(operation)
			}
		},
	}
}

func killedDoors(t *testing.T) source {
	return source{
		settings: "http: {enabled: true}",
		take: func(t *testing.T, w *scenario) {
			for _, c := range w.collectors {
				c.kill(t)
			}
		},
		give: func(t *testing.T, w *scenario) { w.startCollectors(t) },
	}
}
