package streamstest_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/streamstest"
)

const (
	latest = types.ShardIteratorTypeLatest
	at     = types.ShardIteratorTypeAtSequenceNumber
	after  = types.ShardIteratorTypeAfterSequenceNumber
)

func TestWhereIteratorsBegin(t *testing.T) {
	t.Parallel()
	w := setup(t, streamstest.Options{})
	shard := w.table.OpenShards()[0]
	for i := range 30 {
		w.put("a", i)
	}
	written := w.table.Written()
	newest := w.mustIterator(shard, latest, "")
	for _, c := range []struct {
		kind     types.ShardIteratorType
		sequence string
		records  int
	}{
		{horizon, "", 30}, {at, written[10].Sequence, 20}, {after, written[10].Sequence, 19}, {after, written[29].Sequence, 0}, {latest, "", 0},
	} {
		if got := w.read(w.mustIterator(shard, c.kind, c.sequence)); len(got) != c.records {
			t.Errorf("%s %s: %d records, want %d", c.kind, c.sequence, len(got), c.records)
		}
	}
	w.put("a", 100)
	if got := w.read(newest); len(got) != 1 {
		t.Errorf("LATEST saw %d records, want the one that came after it", len(got))
	}
	for _, wrong := range []string{"x", "-1", "5", written[29].Sequence + "0"} {
		_, err := w.iterator(shard, after, wrong)
		w.is(err, "ValidationException")
	}
	_, err := w.iterator("shardId-00000000000000000000-00000000", horizon, "")
	w.is(err, "ResourceNotFoundException")
	_, _, err = w.page("nonsense")
	w.is(err, "ValidationException")
}

func TestIteratorsAtATime(t *testing.T) {
	t.Parallel()
	w := setup(t, streamstest.Options{})
	shard := w.table.OpenShards()[0]
	for i := range 5 {
		w.put("a", i)
		w.fake.Advance(10 * time.Second)
	}
	ask := func(when time.Time) int {
		out, err := w.client.GetShardIterator(t.Context(), &dynamodbstreams.GetShardIteratorInput{
			StreamArn: &w.arn, ShardId: &shard, ShardIteratorType: types.ShardIteratorTypeAtTimestamp, Timestamp: &when,
		})
		if err != nil {
			w.is(err, "ValidationException")
			return -1
		}
		return len(w.read(*out.ShardIterator))
	}
	second := w.table.Written()[2].Time.Truncate(time.Second)
	for when, want := range map[time.Time]int{
		second: 3, second.Add(time.Second): 2, second.Add(-time.Hour): 5, second.Add(25 * time.Second): 0, second.Add(time.Hour): -1,
	} {
		if got := ask(when); got != want {
			t.Errorf("%s from the third record: %d records, want %d", when.Sub(second), got, want)
		}
	}
}

func TestIteratorsExpire(t *testing.T) {
	t.Parallel()
	w := setup(t, streamstest.Options{})
	shard := w.table.OpenShards()[0]
	first := w.mustIterator(shard, horizon, "")
	w.fake.Advance(14 * time.Minute)
	_, second, err := w.page(first)
	must.Succeed(t, err)
	w.fake.Advance(time.Minute)
	_, _, err = w.page(first)
	w.is(err, "ExpiredIteratorException")
	w.fake.Advance(13 * time.Minute)
	_, third, err := w.page(second)
	if err != nil {
		t.Errorf("14 minutes after it was given: %v", err)
	}
	w.fake.ExpireIterators()
	_, _, err = w.page(third)
	w.is(err, "ExpiredIteratorException")
	w.mustIterator(shard, horizon, "")
}

// TestTrimming follows one shard that never rolls over through 25 hours.
func TestTrimming(t *testing.T) {
	t.Parallel()
	w := setup(t, streamstest.Options{Rollover: -1, IteratorLife: 48 * time.Hour})
	shard := w.table.OpenShards()[0]
	for i := range 5 {
		w.put("a", i)
		w.fake.Advance(6 * time.Hour) // at the end, the oldest is 30 hours old
	}
	overtaken := w.mustIterator(shard, horizon, "")
	written := w.table.Written()
	if got := w.read(overtaken); len(got) != 3 || *got[0].Dynamodb.SequenceNumber != written[2].Sequence {
		t.Errorf("TRIM_HORIZON answers %d records", len(got))
	}
	for _, gone := range written[:2] {
		for _, kind := range []types.ShardIteratorType{at, after} {
			_, err := w.iterator(shard, kind, gone.Sequence)
			w.is(err, "TrimmedDataAccessException")
		}
	}
	if got := w.read(w.mustIterator(shard, at, written[2].Sequence)); len(got) != 3 {
		t.Errorf("at the oldest record left: %d records", len(got))
	}
	w.fake.Advance(6 * time.Hour)
	_, _, err := w.page(overtaken)
	w.is(err, "TrimmedDataAccessException")
	w.table.Trim(shard, 1)
	if got := w.read(w.mustIterator(shard, horizon, "")); len(got) != 1 {
		t.Errorf("%d records after one more was trimmed", len(got))
	}
}

func TestClosedShardsVanish(t *testing.T) {
	t.Parallel()
	w := setup(t, streamstest.Options{IteratorLife: 48 * time.Hour})
	parent := w.table.OpenShards()[0]
	w.put("a", 1)
	it := w.mustIterator(parent, horizon, "")
	w.table.Roll(parent)
	w.fake.Advance(23 * time.Hour)
	if got := w.read(it); len(got) != 1 {
		t.Errorf("%d records after 23 hours", len(got))
	}
	w.fake.Advance(61 * time.Minute)
	_, _, err := w.page(it)
	w.is(err, "ResourceNotFoundException")
	_, err = w.iterator(parent, horizon, "")
	w.is(err, "ResourceNotFoundException")
	shards, _ := w.describe(nil, 0)
	orphans := 0
	for _, s := range shards {
		if *s.ShardId == parent {
			t.Error("the shard is still listed")
		}
		if s.ParentShardId != nil && *s.ParentShardId == parent {
			orphans++
		}
	}
	// The first child closed after four hours, and is left for 24 more.
	if orphans != 1 || len(shards) != 7 {
		t.Errorf("%d children of it among %d shards, want 1 of 7", orphans, len(shards))
	}
}
