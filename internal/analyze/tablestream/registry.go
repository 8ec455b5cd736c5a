package tablestream

import (
	"context"
	"path"
	"slices"
	"time"

	"github.com/keyheat/keyheat/store"
)

// shard is one shard of the table's streams.
type shard struct {
	name, stream, id, parent string
	found                    time.Time
	first, last              time.Time // of the records that were read
	done                     bool      // it needs no further reading
}

// me names the only reader.
const me = "analyze"

// KeepAlive implements shards.Registry.
func (r *reading) KeepAlive(context.Context, time.Duration) (string, []string, error) {
	return me, []string{me}, nil
}

// Leave implements shards.Registry.
func (r *reading) Leave(context.Context) error { return nil }

// Lead implements shards.Registry.
func (r *reading) Lead(context.Context, time.Duration) (bool, error) { return true, nil }

// Register implements shards.Registry.
func (r *reading) Register(_ context.Context, stream string, found []store.NewShard, listed bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range found {
		if r.shard(n.Name) == nil {
			r.shards = append(r.shards, &shard{name: n.Name, stream: stream, id: path.Base(n.Name), parent: path.Base(n.After), found: time.Now()})
		}
	}
	if listed && stream == r.newest && !r.listed {
		r.listed = true
		if r.onListed != nil {
			r.onListed(r.countOpen())
		}
	}
	r.stopIfDone()
	return nil
}

// shard returns the shard of that name, or nil. The caller holds the lock.
func (r *reading) shard(name string) *shard {
	for _, s := range r.shards {
		if s.name == name {
			return s
		}
	}
	return nil
}

// countOpen returns the number of open shards. The caller holds the lock.
func (r *reading) countOpen() (n int) {
	for _, s := range r.shards {
		if r.open[s.stream+s.id] {
			n++
		}
	}
	return n
}

// stopIfDone ends the reading once all shards are read. The caller holds the lock.
func (r *reading) stopIfDone() {
	unread := func(s *shard) bool { return !s.done }
	if r.listed && !r.follow && !slices.ContainsFunc(r.shards, unread) {
		r.stop()
	}
}

// Lineage implements shards.Registry.
func (r *reading) Lineage(_ context.Context, stream string) (l store.Stream, _ error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.shards {
		if s.stream == stream {
			l.Names = append(l.Names, s.name)
		}
	}
	return l, nil
}

// LastListed implements shards.Registry. Records from before the reading are no loss.
func (r *reading) LastListed(context.Context, string) (time.Time, error) { return time.Time{}, nil }

// OpenShards implements shards.Registry. Every shard is ready: children are read beside
// their parents.
func (r *reading) OpenShards(context.Context) (open []store.Shard, _ error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.shards {
		if !s.done {
			open = append(open, store.Shard{Name: s.name, Stream: s.stream, Ready: true, Owner: me, Found: s.found})
		}
	}
	return open, nil
}

// Take implements shards.Registry.
func (r *reading) Take(_ context.Context, names []string) ([]string, error) { return names, nil }

// Release implements shards.Registry.
func (r *reading) Release(context.Context, string) error { return nil }
