package collect

import (
	"fmt"
	"iter"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/keyheat/keyheat/internal/keypolicy"
	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/change"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

// gapBytes is the approximate memory of a gap.
const gapBytes = 512

// leastScattered is the least limit for the memory of counted records, even if
// Config.PendingBytes is smaller. It exceeds the need of a megabyte of protobuf in which
// each sample has a second of its own. The sketch limits the seconds of small messages,
// so that only a large message could need more.
const leastScattered = 64 << 20

// shard is one sketch, with the gaps, producers' moves and counters since the last seal.
type shard struct {
	mu       sync.Mutex
	sketch   *sketch.Shard
	hider    *keypolicy.Hider // nil hides nothing
	counters counters
	gaps     []store.Gap
	moves    []store.Move
	// pending is the size in bytes of the next seal: written under mu, read without.
	pending atomic.Int64
	// partitions is how many partitions are bound to the shard, under the Collector's mu.
	partitions int
}

// updatePending records how many bytes are pending. The caller holds mu.
func (s *shard) updatePending() {
	s.pending.Store(int64(s.sketch.Pending() + len(s.gaps)*gapBytes))
}

// discard drops the gathered samples, and returns the number of good ones. The caller holds
// mu.
func (s *shard) discard() (samples int64) {
	samples = s.counters.good
	s.sketch.Discard()
	s.counters, s.gaps, s.moves = counters{}, nil, nil
	s.updatePending()
	return samples
}

// recentIDs is the room for samples with an ID, for each partition, to find repeated ones:
// 256 KiB.
const recentIDs = 1 << 15

// recordHandler puts the samples of one partition's messages into its shard. It is a
// sample.Handler; the shard's lock is held while it is used.
type recordHandler struct {
	shard   *shard
	decoder Decoder
	// pendingBytes is Config.PendingBytes. most is the pending size above which records are
	// refused: otherwise one message could take gigabytes before a commit can follow it.
	pendingBytes int64
	most         int
	// at is the time of the current message, Unix milliseconds; 0 if messages have none.
	at int64
	// clock is the collector's. latest is the latest accepted time of a record in the
	// current messages, Unix milliseconds.
	clock  *hostClock
	latest int64
	// newest is the latest time of a counted record, Unix milliseconds.
	newest int64
	// recent finds samples that were delivered twice. It begins empty with each claim of the
	// partition, since discarded samples are read again.
	recent *sample.Recent
	// hidden is the record at hand as it is counted, where keys are hidden.
	hidden sample.Record
	// sender is who sent the current messages.
	sender string
	// keys is what a shard of a table's stream delivered; nil for another log.
	keys *shardKeys
}

func (f *recordHandler) handle(messages iter.Seq[source.Message]) {
	if messages == nil {
		return
	}
	f.most = f.shard.sketch.Pending() + int(max(f.pendingBytes, leastScattered))
	f.latest = f.clock.latest()
	for m := range messages {
		if m.Fault != "" {
			f.Bad(reasonUnreadable, m.Value)
			continue
		}
		f.at = m.Time
		f.decoder.Decode(m.Value, m.Time, f)
	}
	f.hidden = sample.Record{} // its texts would keep the last message
	f.shard.updatePending()
}

func (f *recordHandler) Record(r *sample.Record) {
	if f.at > 0 && (r.Time < f.at-tooOld.Milliseconds() || r.Time > f.at+tooFarAhead.Milliseconds()) {
		f.untimely(r.Time - f.at)
		return
	}
	if r.Time > f.latest {
		f.aheadOfClock(time.Duration(r.Time-f.latest)*time.Millisecond + tooFarAhead)
		return
	}
	// Looked at behind every 64th good record: a few more do no harm.
	if f.shard.counters.good%64 == 0 && f.shard.sketch.Pending() > f.most {
		f.shard.counters.addBad(reasonTooScattered, func() string {
			return fmt.Sprintf("it is one of so many seconds and tables that they take %d MiB together", f.shard.sketch.Pending()>>20)
		})
		return
	}
	if f.recent.Repeats(r) {
		f.shard.counters.addBad(reasonDuplicate, func() string { return "a sample of this id, table and key was counted" })
		return
	}
	if r.IsCallerOnly() {
		f.countCaller(r)
		return
	}
	at, located := f.keys.locate(r)
	original := r
	if f.shard.hider != nil {
		f.hidden = *r // the decoder's own stays as it is
		f.shard.hider.Hide(&f.hidden)
		if f.hidden.PK != r.PK { // where a hidden key lies would help to guess it
			at, located = at.Coarse(), located && f.hidden.Place > 0
		}
		r = &f.hidden
	}
	if err := f.shard.sketch.Add(r); err != nil {
		f.refuseTable(original, err)
		return
	}
	f.shard.counters.addGood(r)
	if r.Estimated && r.Bytes == 0 {
		f.shard.counters.addUnsized(r.Target(), r.N)
	}
	f.newest = max(f.newest, r.Time)
	if located {
		f.keys.add(r.Target(), at)
	}
}

func (f *recordHandler) countCaller(r *sample.Record) {
	if err := f.shard.sketch.AddCaller(r); err != nil {
		f.refuseTable(r, err)
		return
	}
	f.shard.counters.addGood(r)
	f.shard.counters.callerOnly++
}

func (f *recordHandler) refuseTable(r *sample.Record, err error) {
	f.shard.counters.addBad(reasonTooManyTables, func() string { return err.Error() })
	f.shard.counters.refuse(f.sender, r.Target())
	f.recent.Forget(r)
}

func (f *recordHandler) Bad(reason sample.RejectReason, excerpt []byte) {
	f.shard.counters.addBad(reason, func() string {
		return strings.TrimSpace(keypolicy.Excerpt(excerpt) + " " + change.Hint(reason))
	})
}

// untimely counts a record whose time is that many milliseconds from its message's time.
// The comparison needs no state: one wild time stamp harms no neighbour, and catching up
// refuses no record.
func (f *recordHandler) untimely(ahead int64) {
	reason := reasonTooFarAhead
	if ahead < 0 {
		reason = reasonTooOld
	}
	f.shard.counters.addBad(reason, func() string {
		return fmt.Sprintf("its time is %+.3f s from its message's", (time.Duration(ahead) * time.Millisecond).Seconds())
	})
}

// aheadOfClock counts a record that is so far ahead of the store's clock. Its message's
// time may be the same: the producer's clock is wrong.
func (f *recordHandler) aheadOfClock(ahead time.Duration) {
	f.shard.counters.ahead = max(f.shard.counters.ahead, ahead)
	f.shard.counters.addBad(reasonAheadOfClock, func() string {
		return fmt.Sprintf("its time is %+.3f s from the database's clock", ahead.Seconds())
	})
}
