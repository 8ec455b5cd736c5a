package push

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/keyheat/keyheat/store"
)

const (
	// countNamesEvery is how long a collector trusts a count of a user's names, beside the names
	// that it added itself.
	countNamesEvery = time.Minute
	// maxUsers bounds the users whose names are counted at a time.
	maxUsers = 1000
	// nameIdle is how long a name must be idle before it may give way. Samples of its newest
	// batch are too old to count then: collectors reject them after ten minutes.
	nameIdle = time.Hour
)

// names limit how many producers' names each user may have in the store.
type names struct {
	most int64
	mu   sync.Mutex
	of   map[string]*nameRoom
}

// nameRoom is how many more names a user may have.
type nameRoom struct {
	left    int64
	counted time.Time
	// full is when a name was last refused; zero for never.
	full time.Time
}

// doorPrefix begins the names of doors in the store.
const doorPrefix = "door/"

// namesOf returns the prefix of a user's producers in the store. Without a user it is the prefix
// that all had before users had names of their own. A producer's own name has no slash.
func namesOf(user string) string {
	if user == "" {
		return "producer/"
	}
	return "user/" + url.PathEscape(user) + "/"
}

// take takes room for a new name, and reports whether there is any.
func (n *names) take(ctx context.Context, st Store, user string, now time.Time) (taken, newlyFull bool, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	room := n.of[user]
	if room == nil {
		if len(n.of) >= maxUsers {
			clear(n.of) // they are counted again
		}
		room = &nameRoom{}
		n.of[user] = room
	}
	if now.Sub(room.counted) >= countNamesEvery {
		if room.left, err = st.ProducerRoom(ctx, namesOf(user), n.most, nameIdle); err != nil {
			return false, false, err
		}
		room.counted = now
	}
	if room.left > 0 {
		room.left--
		return true, false, nil
	}
	newlyFull = now.Sub(room.full) >= nameIdle
	room.full = now
	return false, newlyFull, nil
}

// full returns the users whose names were lately refused.
func (n *names) full(now time.Time) []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := maps.Clone(n.of)
	maps.DeleteFunc(all, func(_ string, r *nameRoom) bool { return now.Sub(r.full) >= countNamesEvery })
	return slices.Sorted(maps.Keys(all))
}

// refuseName refuses a new producer of a user who has no room for it. The user's other producers,
// and all other users, go on.
func (s *Source) refuseName(ctx context.Context, user string) *response {
	taken, newlyFull, err := s.names.take(ctx, s.store, user, time.Now())
	switch {
	case err != nil:
		return new(unavailable("the store does not answer"))
	case taken:
		return nil
	case newlyFull:
		s.log.Warn("new producers of a user are refused: the user has too many names; give each process one name, or a user of its own", "user", user, "names", s.names.most)
	}
	r := busy(fmt.Sprintf("your user has %d producers' names, and none was idle for an hour: keep one Keyheat-Producer for each process, or send as another user", s.names.most))
	r.retryAfter = countNamesEvery
	return &r
}

// FullUsers returns the users whose new producers are refused.
func (s *Source) FullUsers() []string { return s.names.full(time.Now()) }

// isSame reports whether a stored mark is of a batch with this hash.
func isSame(mark, hash string) bool { return strings.TrimPrefix(mark, store.TimedMark) == hash }
