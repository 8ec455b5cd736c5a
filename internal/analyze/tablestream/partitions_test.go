package tablestream_test

import (
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keyheat/keyheat/detect/partition"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/streamstest"
	"github.com/keyheat/keyheat/internal/testsupport/streamstest/model"
	"github.com/keyheat/keyheat/sample/position"
)

// writePartitions makes a table of four partitions, writes over it, and splits the first one.
func writePartitions(t *testing.T, o streamstest.Options) (*streamstest.Fake, *streamstest.Table) {
	t.Helper()
	time.Sleep(time.Until(time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)))
	o.Shards, o.Rollover = 4, 2*time.Hour
	fake := streamstest.New(o)
	table := fake.CreateTable(model.Schema{Name: "orders", Key: model.Key{Partition: []string{"pk"}}})
	table.EnableStream(streamstest.NewAndOldImages)
	made := 0
	put := func(key string) {
		made++
		must.Succeed(t, table.Put(model.Item{"pk": model.S(key), "n": model.N(fmt.Sprint(made))}))
	}
	for hour := range 6 {
		for i := range 2000 {
			put(fmt.Sprint("k", i))
			time.Sleep(time.Second)
		}
		for range 600 {
			put("busy")
		}
		if hour == 3 {
			table.Split(table.OpenShards()[0])
		}
	}
	time.Sleep(2 * time.Second)
	return fake, table
}

// TestPartitions: the partitions that analyze infers from a stream are the table's, with their
// loads and the split.
func TestPartitions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fake, table := writePartitions(t, streamstest.Options{})
		v := analyzed(t.Context(), t, fake, 12*time.Hour, false, io.Discard).Partitions
		if v == nil || v.State != partition.Inferred || len(v.Contradictions) > 0 || len(v.Partitions) != 5 || len(v.Splits) != 1 {
			t.Fatalf("partitions: %+v", v)
		}
		ranges := map[string][2]position.Position{}
		for _, s := range table.Shards() {
			ranges[s.ID] = [2]position.Position{position.Position(s.Low), position.Position(s.High)}
		}
		busy := position.String("busy")
		for i, p := range v.Partitions {
			id := p.Shard[len(p.Shard)-len("shardId-00000000000000000000-00000000"):]
			r, ok := ranges[id]
			if !ok || p.Low < r[0] || p.High > r[1] || p.From > r[0] && i > 0 || p.To < r[1] {
				t.Errorf("%s: edges %v to %v and %v to %v, truth %v to %v (%v)", p.Shard, p.From, p.Low, p.High, p.To, r[0], r[1], ok)
			}
			if holds := r[0] <= busy && busy <= r[1]; holds != (p.WCU.Low >= 600) {
				t.Errorf("%s has a peak of %g", p.Shard, p.WCU.Value)
			} else if holds && (len(p.Busiest) == 0 || p.Busiest[0].Key != "busy" || p.Busiest[0].Share < 0.4) {
				t.Errorf("the busiest keys of %s are %+v", p.Shard, p.Busiest)
			}
		}
		middle := position.Position(1) << 61
		if s := v.Splits[0]; s.CutLow > middle || s.CutHigh < middle || s.CutHigh-s.CutLow > 1<<56 {
			t.Errorf("the cut lies between %v and %v, truth %v", s.CutLow, s.CutHigh, middle)
		}
	})
}

// TestPartitionsOfAnotherHash: nothing is claimed of a table that places keys otherwise,
// but the load of each shard.
func TestPartitionsOfAnotherHash(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fake, _ := writePartitions(t, streamstest.Options{OtherHash: true})
		v := analyzed(t.Context(), t, fake, 12*time.Hour, false, io.Discard).Partitions
		if v == nil || v.State == partition.Inferred || v.State == partition.Doubtful || len(v.Partitions) != 5 {
			t.Fatalf("partitions: %+v", v)
		}
		for _, p := range v.Partitions {
			if p.WCU.Value <= 0 || p.WritePeak.IsZero() {
				t.Errorf("shard %s has no load: %+v", p.Shard, p.WCU)
			}
		}
	})
}
