package alert

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/alert/receiver"
	"github.com/keyheat/keyheat/store"
)

// rejected is a status between 400 and 499.
var rejected = receiver.Response{Err: errors.New("HTTP 401"), Refused: true, Unsent: true}

// TestARevokedTokenLosesNoNotification: a receiver that rejects every notification for 40
// minutes fails as one that is down: it is tried at most 30 s apart, and gets all
// notifications when it takes one again.
func TestARevokedTokenLosesNoNotification(t *testing.T) {
	t.Parallel()
	for _, incidents := range []int{1, 20} {
		t.Run(fmt.Sprint(incidents), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, judged := newStory(t, "pager")
				defer s.Close()
				const revoked, outage = time.Minute, 40 * time.Minute
				p := &pager{began: time.Now(), answer: down(revoked, revoked+outage, rejected)}
				stop := page(t, s, p, nil)
				judged("before", detect.EventFiring)
				time.Sleep(revoked)
				for i := range incidents {
					judged(fmt.Sprint("incident-", i), detect.EventFiring)
				}
				time.Sleep(outage / 2)
				if r := receiverOf(t, s); !r.Failing() || r.LastError != "HTTP 401" || r.Pending != incidents {
					t.Errorf("after 20 min the receiver is %+v", r)
				}
				time.Sleep(outage/2 + time.Minute)
				stop()
				if took := p.took(); len(took) != 1+incidents {
					t.Errorf("%d of %d arrived: %q", len(took), 1+incidents, took)
				}
				before, failed := revoked, 0
				for _, try := range p.tries {
					if try.at < revoked {
						continue
					}
					if gap := try.at - before; gap > 30*time.Second {
						t.Errorf("an attempt came %s after the one before", gap)
					}
					before = try.at
					if try.Err != nil {
						failed++
					}
				}
				if most := 2*incidents + int(outage/(10*time.Second)); failed > most {
					t.Errorf("%d attempts failed, want at most %d", failed, most)
				}
			})
		})
	}
}

// TestOnlyWhatIsRejectedWhileOthersPassIsGivenUp: a notification that waited through an hour
// of rejections is dead once the receiver takes others and rejects it again, and none of
// the others is.
func TestOnlyWhatIsRejectedWhileOthersPassIsGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, judged := newStory(t, "pager")
		defer s.Close()
		p := &pager{began: time.Now(), answer: func(since time.Duration, n *receiver.Notice) receiver.Response {
			if n.Subject == "bad" || since < time.Hour {
				return rejected
			}
			return fine
		}}
		stop := page(t, s, p, nil)
		judged("bad", detect.EventFiring)
		judged("good", detect.EventFiring)
		time.Sleep(59 * time.Minute)
		if dead, err := s.RecentNotifications(t.Context(), store.NotificationQuery{Route: "pager", State: store.Dead}); err != nil || len(dead) > 0 {
			t.Errorf("while it rejects all, %d are given up (%v)", len(dead), err)
		}
		time.Sleep(2 * time.Minute)
		stop()
		dead, err := s.RecentNotifications(t.Context(), store.NotificationQuery{Route: "pager", State: store.Dead})
		if err != nil || len(dead) != 1 || dead[0].Incident != "bad" || len(p.took()) != 1 {
			t.Errorf("given up are %+v (%v), and %q arrived", dead, err, p.took())
		}
	})
}
