//go:build e2e

// Package e2e_test runs Keyheat as its users do: collectors and a reporter as processes,
// against a real Apache Kafka and a real Postgres. It compares the stored figures with an
// oracle that shares no code with them. `make e2e` runs it.
package e2e_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // to read the stored totals as an operator would

	"github.com/keyheat/keyheat/internal/testsupport/kafkatest"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/pgtest"
)

// scenario is a Kafka, unless streams are read, a Postgres, collectors and a
// reporter.
type scenario struct {
	kafka      *kafkatest.Server
	postgres   *pgtest.Server
	database   *sql.DB
	collectors []*process
	reporter   *process
}

// newScenario starts everything but the collectors, on the Kafka that tests share, and
// makes the topic, which is of this test alone. settings are added to the reporter's.
func newScenario(t *testing.T, topic string, settings ...string) *scenario {
	t.Helper()
	return newScenarioOn(t, kafkatest.Shared(t), topic, settings...)
}

// newScenarioOn is newScenario on a Kafka of the test's own, which it may harm.
func newScenarioOn(t *testing.T, server *kafkatest.Server, topic string, settings ...string) *scenario {
	t.Helper()
	w := &scenario{kafka: server}
	w.kafka.CreateTopic(t, topic, partitions)
	w.addDaemons(t, topic, []string{w.kafka.Addr}, "", settings...)
	return w
}

// addDaemons starts the store and the reporter, and prepares two collectors of a topic.
// The collectors' own settings are lines of YAML.
func (w *scenario) addDaemons(t *testing.T, topic string, brokers []string, collectors string, reporter ...string) {
	t.Helper()
	w.addCollectors(t, topic, brokers, w.startReporter(t, reporter...), collectors)
}

// addCollectors prepares two collectors of a topic, in the place of others. Their group has
// the name of the topic.
func (w *scenario) addCollectors(t *testing.T, topic string, brokers []string, url, collectors string) {
	t.Helper()
	w.collectors = nil
	for i := range 2 {
		w.collectors = append(w.collectors, newProcess(t, fmt.Sprint("collector-", i), "collector run", fmt.Sprintf(`
kafka: {brokers: ["%s"], topics: [%q], group: %q}
store: {url: %q}
admin: {listen: "%%listen%%"}
%s`, strings.Join(brokers, `", "`), topic, topic, url, collectors)))
	}
}

// startReporter starts a Postgres and the reporter on it, and returns the store's
// address.
func (w *scenario) startReporter(t *testing.T, settings ...string) (url string) {
	t.Helper()
	w.postgres = pgtest.Run(t)
	url = w.postgres.URL("postgres")
	w.openDatabase(t, "pgx", url)
	w.serve(t, url, settings...)
	return url
}

// openDatabase opens the store beside the daemons.
func (w *scenario) openDatabase(t *testing.T, driver, address string) {
	t.Helper()
	var err error
	if w.database, err = sql.Open(driver, address); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.database.Close() })
}

// serve starts the reporter on a new store.
func (w *scenario) serve(t *testing.T, url string, settings ...string) {
	t.Helper()
	w.reporter = newProcess(t, "reporter", "reporter serve", fmt.Sprintf(`
store: {url: %q}
listen: "%%listen%%"
%s`, url, strings.Join(settings, "\n")))
	w.reporter.run(t, "migrate")
	w.reporter.start(t)
	w.reporter.ready(t)
}

func (w *scenario) startCollectors(t *testing.T) {
	t.Helper()
	for _, c := range w.collectors {
		c.start(t)
	}
}

// totals are the stored sums over all tables, from the documented view.
type totals struct{ requests, units int64 }

func (w *scenario) totals() (s totals, err error) {
	var milli int64
	err = w.database.QueryRow(
		`SELECT coalesce(sum(requests), 0)::bigint, coalesce(sum(write_milli), 0)::bigint FROM keyheat_totals`,
	).Scan(&s.requests, &milli)
	if milli%1000 != 0 {
		return s, fmt.Errorf("the stored units are no whole number: %d thousandths", milli)
	}
	s.units = milli / 1000
	return s, err
}

// matchesTopic waits until the store has the topic's own totals, and checks that
// nothing more is added.
func (w *scenario) matchesTopic(t *testing.T, want *truth, limit time.Duration) {
	t.Helper()
	whole := totals{want.requests, want.units}
	within(t, limit, "the stored totals are the topic's", func() error {
		got, err := w.totals()
		if err == nil && got != whole {
			err = fmt.Errorf("stored %+v, the topic holds %+v", got, whole)
		}
		return err
	})
	time.Sleep(5 * time.Second)
	if got, err := w.totals(); err != nil || got != whole {
		t.Errorf("after a while the store has %+v (%v), the topic %+v", got, err, whole)
	}
}

// found is a finding as the API returns it.
type found struct {
	Case, Subject, Table, Index, Key, Severity, State string
	Fingerprint                                       string
	Peak                                              struct{ WCU figure }
	OverSeconds                                       int `json:"over_seconds"`
	PossibleSeconds                                   int `json:"possible_seconds"`
	SaturatedSeconds                                  int `json:"saturated_seconds"`
	Quality                                           struct{ Gaps []gap }
	Shards                                            int       `json:"shards"`
	FirstSeen                                         time.Time `json:"first_seen"`
	LastSeen                                          time.Time `json:"last_seen"`
}

// gap is a gap, of a finding or of all.
type gap struct {
	Partition, Reason string
	Since, Until      *time.Time
}

type figure struct{ Value, Low, High float64 }

// findings returns those of keys: that some of the trace's keys are hot one after
// another is a finding without a figure of a key, and each of them has its own.
func (w *scenario) findings(t *testing.T) []found {
	t.Helper()
	body, err := w.reporter.get("/api/v1/findings?limit=1000")
	must.Succeed(t, err)
	var answer struct{ Findings []found }
	must.Succeed(t, json.Unmarshal(body, &answer))
	// Nor are those of Keyheat itself, which faults make.
	return slices.DeleteFunc(answer.Findings, func(f found) bool { return f.Subject == "keys" || f.Subject == "pipeline" })
}

// checkFindings holds every finding, and every key without one, against the truth.
func (s *truth) checkFindings(t *testing.T, findings []found) {
	t.Helper()
	byKey := map[string]found{}
	for _, f := range findings {
		if f.Subject != "key_writes" {
			t.Errorf("a finding about %s: nothing is read here", f.Subject)
		}
		byKey[f.Key] = f
		s.bounded(t, f)
	}
	over, near := 0, 0
	for key := range s.perSecond {
		peak := s.peak(key, 0, math.MaxInt64)
		f := byKey[key]
		switch {
		case peak >= 990 && peak <= 1010:
			near++
			if f.Key == "" {
				t.Errorf("%s peaks at %d and has no finding", key, peak)
			}
		case peak > 1010:
			over++
			// A single second up to a tenth above the limit, without a refusal, is a warning.
			mild := peak <= 1100 && f.OverSeconds == 1 && f.Severity == "warning"
			if f.OverSeconds == 0 || f.Severity != "critical" && !mild {
				t.Errorf("%s peaks at %d and is found as %+v", key, peak, f)
			}
		case f.OverSeconds > 0:
			t.Errorf("%s peaks at %d and is found as %+v", key, peak, f)
		}
	}
	if over == 0 {
		t.Error("the trace has no hot key: the test shows nothing")
	}
	t.Logf("%d keys, %d of them over the limit, %d within 1%% of it, %d findings", len(s.perSecond), over, near, len(findings))
}

// bounded compares one finding with the key's seconds in its episode.
func (s *truth) bounded(t *testing.T, f found) {
	t.Helper()
	from, to := f.FirstSeen.Unix(), f.LastSeen.Unix()
	peak := float64(s.peak(f.Key, from, to))
	if f.Peak.WCU.Low > peak || f.Peak.WCU.High < peak {
		t.Errorf("%s peaks at %v, outside %+v", f.Key, peak, f.Peak.WCU)
	}
	if over := s.over(f.Key, from, to); f.OverSeconds > over || f.OverSeconds+f.PossibleSeconds < over {
		t.Errorf("%s is over the limit in %d seconds, found %d and possible %d", f.Key, over, f.OverSeconds, f.PossibleSeconds)
	}
	if want := int(math.Max(1, math.Ceil(math.Round(f.Peak.WCU.Value*1.5*1e6)/1e6/1000))); f.Shards != want {
		t.Errorf("%s with a peak of %v gets %d shards, want %d", f.Key, f.Peak.WCU.Value, f.Shards, want)
	}
}
