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

// Attend implements shards.Registry, as all methods of this file do.
func (r *reading) Attend(context.Context, string, string, time.Duration) ([]string, error) {
	return []string{me}, nil
}

// Leave ends nothing.
func (r *reading) Leave(context.Context, string, string) error { return nil }

// AcquireLease has the only reader list shards.
func (r *reading) AcquireLease(context.Context, string, string, time.Duration) (store.Lease, bool, error) {
	return store.Lease{}, true, nil
}

// ReleaseLease ends nothing.
func (r *reading) ReleaseLease(context.Context, store.Lease) error { return nil }

// RegisterShards notes the shards.
func (r *reading) RegisterShards(_ context.Context, _, stream string, found []store.NewShard, listed bool) error {
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

// Lineage returns the known shards of a stream.
func (r *reading) Lineage(_ context.Context, _, stream string) (l store.Stream, _ error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.shards {
		if s.stream == stream {
			l.Names = append(l.Names, s.name)
		}
	}
	return l, nil
}

// LastListed returns no time: records from before the reading are no loss.
func (r *reading) LastListed(context.Context, string, string) (time.Time, error) {
	return time.Time{}, nil
}

// OpenShards returns the unread shards. Every shard is ready: children are read beside their
// parents.
func (r *reading) OpenShards(context.Context, string) (open []store.Shard, _ error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.shards {
		if !s.done {
			open = append(open, store.Shard{Name: s.name, Stream: s.stream, Ready: true, Owner: me, Found: s.found})
		}
	}
	return open, nil
}

// TakeShards grants all.
func (r *reading) TakeShards(_ context.Context, _, _ string, names []string) ([]string, error) {
	return names, nil
}

// FreeShard frees nothing.
func (r *reading) FreeShard(context.Context, string, string, string) error { return nil }
