package store_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/keyheat/keyheat/store"
)

// TestFindUnread: a partition is unread if a running collector says so, and no other one has
// moved it since.
func TestFindUnread(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	ago := func(seconds int) time.Time { return now.Add(-time.Duration(seconds) * time.Second) }
	at := func(source, name string, seconds int) store.Unread {
		return store.Unread{Source: source, Name: name, Since: ago(seconds)}
	}
	collector := func(seen int, unread ...store.Unread) store.Writer {
		return store.Writer{Seen: ago(seen), WriterStatus: store.WriterStatus{Reading: &store.Reading{Unread: unread}}}
	}
	moved := func(source, name string, seconds int) store.Watermark {
		return store.Watermark{PartitionID: store.PartitionID{Source: source, Name: name}, Moved: ago(seconds)}
	}
	for name, c := range map[string]struct {
		writers []store.Writer
		marks   []store.Watermark
		want    []store.Unread
	}{
		"nobody reports":                     {[]store.Writer{{Seen: now}}, []store.Watermark{moved("a", "p", 60)}, nil},
		"one is not read":                    {[]store.Writer{collector(1, at("a", "p", 60))}, []store.Watermark{moved("a", "p", 58)}, []store.Unread{at("a", "p", 58)}},
		"its collector is gone":              {[]store.Writer{collector(46, at("a", "p", 60))}, nil, nil},
		"another collector reads it":         {[]store.Writer{collector(1, at("a", "p", 60))}, []store.Watermark{moved("a", "p", 2)}, nil},
		"it has the name of one that moves":  {[]store.Writer{collector(1, at("a", "p", 60))}, []store.Watermark{moved("b", "p", 0)}, []store.Unread{at("a", "p", 60)}},
		"it was never claimed":               {[]store.Writer{collector(1, at("", "orders", 60))}, []store.Watermark{moved("a", "p", 0)}, []store.Unread{at("", "orders", 60)}},
		"two say so, and the longest counts": {[]store.Writer{collector(1, at("", "orders", 20)), collector(2, at("", "orders", 60), at("", "carts", 30))}, nil, []store.Unread{at("", "orders", 60), at("", "carts", 30)}},
	} {
		if got := store.FindUnread(c.writers, c.marks, now); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: found %+v, want %+v", name, got, c.want)
		}
	}
}
