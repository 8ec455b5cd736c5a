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
	// nameIdle is how long a name must be idle before it may give way, and briefIdle a function's:
	// a frozen function is another producer when it goes on later. The samples of a name's newest
	// batch are too old to count then: collectors reject them after ten minutes.
	nameIdle, briefIdle = time.Hour, 15 * time.Minute
	// briefNames is how many short-lived producers a user may have for each lasting one.
	briefNames = 5
)

// names limit how many producers' names each user may have in the store.
type names struct {
	most int64
	mu   sync.Mutex
	of   map[string]*nameRoom // by the prefix of the names
}

// nameRoom is how many more names of one kind a user may have.
type nameRoom struct {
	user    string
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

// briefOf returns the prefix of a user's short-lived producers in the store.
func briefOf(user string) string { return "brief/" + url.PathEscape(user) + "/" }

// limit returns how many names the user of a batch may have of its kind, and how long they must be
// idle before they give way.
func (n *names) limit(d *delivery) (prefix string, most int64, idle time.Duration) {
	if d.brief {
		return briefOf(d.user), briefNames * n.most, briefIdle
	}
	return namesOf(d.user), n.most, nameIdle
}

// take takes room for the name of a batch's producer, and reports whether there is any.
func (n *names) take(ctx context.Context, st Store, d *delivery, now time.Time) (taken, newlyFull bool, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	prefix, most, idle := n.limit(d)
	room := n.of[prefix]
	if room == nil {
		if len(n.of) >= maxUsers {
			clear(n.of) // they are counted again
		}
		room = &nameRoom{user: d.user}
		n.of[prefix] = room
	}
	if now.Sub(room.counted) >= countNamesEvery {
		if room.left, err = st.ProducerRoom(ctx, prefix, most, idle); err != nil {
			return false, false, err
		}
		room.counted = now
	}
	if room.left > 0 {
		room.left--
		return true, false, nil
	}
	newlyFull = now.Sub(room.full) >= idle
	room.full = now
	return false, newlyFull, nil
}

// full returns the users whose names were lately refused.
func (n *names) full(now time.Time) []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	users := make(map[string]bool)
	for _, room := range n.of {
		if now.Sub(room.full) < countNamesEvery {
			users[room.user] = true
		}
	}
	return slices.Sorted(maps.Keys(users))
}

// refuseName refuses a new producer of a user who has no room for it. The user's other producers,
// and all other users, go on.
func (s *Source) refuseName(ctx context.Context, d *delivery) *response {
	taken, newlyFull, err := s.names.take(ctx, s.store, d, time.Now())
	_, most, idle := s.names.limit(d)
	switch {
	case err != nil:
		return new(unavailable("the store does not answer"))
	case taken:
		return nil
	case newlyFull:
		s.log.Warn("new producers of a user are refused: the user has too many names; give each process one name, or a user of its own", "user", d.user, "names", most, "short_lived", d.brief)
	}
	r := busy(fmt.Sprintf("your user has %d producers' names, and none was idle for %d min: keep one Keyheat-Producer for each process, or send as another user", most, int(idle.Minutes())))
	r.retryAfter = countNamesEvery
	return &r
}

// FullUsers returns the users whose new producers are refused.
func (s *Source) FullUsers() []string { return s.names.full(time.Now()) }

// isSame reports whether a stored mark is of a batch with this hash.
func isSame(mark, hash string) bool { return strings.TrimPrefix(mark, store.TimedMark) == hash }
