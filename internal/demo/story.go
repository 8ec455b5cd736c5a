package demo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/alert/receiver"
	"github.com/keyheat/keyheat/internal/daemon"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// story follows the demo's parts. It makes two decisions about the traffic: when
// everybody looks at one product (once the first incident is over), and when that ends
// (some time after on-call was paged about it).
type story struct {
	store   *store.Store
	traffic *traffic
	inbox   *inbox
	views   time.Duration
	log     *slog.Logger
}

const (
	// lookEvery is the pause between two looks at the parts.
	lookEvery = 500 * time.Millisecond
	// breath is the time between the first incident's end and the next hot spot.
	breath = 4 * time.Second
)

// factsOf returns the known facts of the application's tables: all have a sort key.
func factsOf(detect.Target) *detect.TableFacts {
	return &detect.TableFacts{Billing: detect.BillingOnDemand, LSIs: []string{}, KeySchema: sample.Keys("pk", "sk")}
}

// The fingerprints of the findings that the story is about.
var (
	campaignFinding = detect.NewFinding(detect.KeyWrites, detect.Target{Table: ordersTable}, sample.KeyString(merchantKey)).Fingerprint
	productFinding  = detect.NewFinding(detect.KeyReads, detect.Target{Table: catalogTable}, sample.KeyString(productKey)).Fingerprint
	importFinding   = detect.NewFinding(detect.KeyWrites, detect.Target{Table: catalogTable}, sample.KeyString(feedKey)).Fingerprint
)

// Run goes on with the story as things happen, until ctx ends.
func (s *story) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := s.advance(ctx); err != nil && ctx.Err() == nil {
			s.log.Warn("the demo's story waits", "error", err)
		}
		daemon.Wait(ctx, lookEvery, nil)
	}
	return nil
}

// advance moves the traffic's plan forward when its condition is met.
func (s *story) advance(ctx context.Context) error {
	h, err := s.readEvents(ctx)
	if err != nil {
		return err
	}
	next := h.now.Truncate(time.Second).Add(time.Second) // the page announces what comes
	s.traffic.inspect(func(_ *simulation, p *plan, _ time.Time) {
		if h.resolved != nil && p.Views.IsZero() {
			p.Views = next.Add(breath)
		}
		if h.secondPage != nil && p.ViewsEnd.IsZero() {
			p.ViewsEnd = next.Add(s.views)
		}
	})
	return nil
}

// happened holds the events so far, as the parts know them. The times of missing events
// are zero.
type happened struct {
	now  time.Time
	plan plan
	// campaign and product are the findings, imported the backlog's finding; nil without
	// one.
	campaign, product, imported *detect.Finding
	// refused is when the campaign's first request was refused.
	refused time.Time
	// inbox is all notices, the newest first.
	inbox []*receiver.Notice
	// page and secondPage are the notices that on-call got, resolved and secondResolved
	// the notices of their ends; nil before.
	page, secondPage, resolved, secondResolved *receiver.Notice
}

func (s *story) readEvents(ctx context.Context) (h happened, err error) {
	h.now = s.traffic.now()
	s.traffic.inspect(func(s *simulation, p *plan, _ time.Time) {
		h.plan, h.refused = *p, s.watched[merchantKey].refused
	})
	for of, into := range map[string]**detect.Finding{campaignFinding: &h.campaign, productFinding: &h.product, importFinding: &h.imported} {
		if *into, err = s.finding(ctx, of); err != nil {
			return h, err
		}
	}
	h.inbox, err = s.inbox.notices(ctx)
	h.page = firstNotice(h.inbox, campaignFinding, detect.EventFiring, h.plan.Campaign)
	h.resolved = firstNotice(h.inbox, campaignFinding, detect.EventResolved, h.plan.Sharded)
	h.secondPage = firstNotice(h.inbox, productFinding, detect.EventFiring, h.plan.Views)
	h.secondResolved = firstNotice(h.inbox, productFinding, detect.EventResolved, h.plan.ViewsEnd)
	return h, err
}

// finding returns a finding; nil while there is none.
func (s *story) finding(ctx context.Context, fingerprint string) (*detect.Finding, error) {
	row, err := s.store.Finding(ctx, fingerprint)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	f, err := detect.ReadFinding(row.Document)
	return &f, err
}

// errNoShards is returned while no finding recommends key shards.
var errNoShards = errors.New("no shards are recommended yet: wait for the page in the inbox")

// adviseShards returns the shards that a finding's advice names; nil where it names none.
func adviseShards(f *detect.Finding) *detect.ShardNames {
	if f == nil {
		return nil
	}
	for i := range f.Advice {
		if f.Advice[i].Action == detect.ActionShard && f.Advice[i].Names != nil {
			return f.Advice[i].Names
		}
	}
	return nil
}

// shard has the application write the campaign's orders to the recommended shards from
// the next second on.
func (s *story) shard(ctx context.Context) error {
	f, err := s.finding(ctx, campaignFinding)
	if err != nil {
		return err
	}
	names := adviseShards(f)
	if names == nil {
		return errNoShards
	}
	s.traffic.inspect(func(_ *simulation, p *plan, next time.Time) { err = p.shard(next, names) })
	return err
}

// scene is one part of the story. The page has its text.
type scene struct {
	Title string
	// Begun reports that it has begun, At when; zero where that is not known any more.
	Begun bool
	At    time.Time
	Now   bool
}

// scenes returns the story, the scene that goes on among them.
func (h *happened) scenes() []scene {
	all := []scene{
		{Title: "Calm", Begun: true}, h.plannedScene("Campaign", h.plan.Campaign), h.plannedScene("Refused", h.refused),
		alertScene("Paged", h.page), {Title: "Shards", At: h.plan.Sharded, Begun: !h.plan.Sharded.IsZero()},
		alertScene("Resolved", h.resolved), h.plannedScene("One item", h.plan.Views),
		alertScene("Paged again", h.secondPage), alertScene("Quiet", h.secondResolved),
	}
	last := 0
	for i := range all {
		if all[i].Begun {
			last = i
		}
	}
	for i := range all { // one that is forgotten has been all the same
		all[i].Begun = i <= last
	}
	all[last].Now = true
	return all
}

// plannedScene returns a scene that begins at a time of the plan.
func (h *happened) plannedScene(title string, at time.Time) scene {
	return scene{Title: title, At: at, Begun: !at.IsZero() && !at.After(h.now)}
}

// alertScene returns a scene that begins with a notification.
func alertScene(title string, by *receiver.Notice) scene {
	if by == nil {
		return scene{Title: title}
	}
	return scene{Title: title, At: by.At, Begun: true}
}

// resolves gives the time at which an incident ends whose key was last hot at a time.
func resolves(cooled time.Time) string {
	over := cooled.Add(detect.ResolveSeconds * time.Second)
	return fmt.Sprintf("The incident is resolved when the key was below %.0f%% of the limit for %d seconds: at about %s UTC.",
		100*detect.DefaultWarning, detect.ResolveSeconds, over.UTC().Format(time.TimeOnly))
}
