package judge

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// TestUnreadableShardIsLoggedOnce: looks at a row that cannot be read log it once, until it is
// written again.
func TestUnreadableShardIsLoggedOnce(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	now := time.Unix(1_900_000_000, 0)
	row := store.StreamShard{Stream: "carts/1", Updated: now, ShardKeys: store.ShardKeys{
		PartitionID: store.PartitionID{Source: "streams", Name: "carts/1/a"}, Target: sample.Target{Table: "carts"}, Body: []byte("wrong"),
	}}
	p := partitions{tables: map[sample.Target]*tableMap{}}
	for look, want := range []int{1, 1, 2, 2} {
		if look == 2 {
			row.Updated = now.Add(time.Minute)
		}
		p.update([]store.StreamShard{row}, now, func(detect.Target) *detect.TableFacts { return nil }, slog.New(slog.NewTextHandler(&text, nil)))
		if got := strings.Count(text.String(), "cannot be read"); got != want {
			t.Errorf("after look %d it is logged %d times, want %d", look+1, got, want)
		}
	}
}
