package demo

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/alert/receiver"
	"github.com/keyheat/keyheat/internal/daemon/admin"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/internal/web"
	"github.com/keyheat/keyheat/sample"
)

//go:embed page/story.html
var storyHTML string

//go:embed page/story.css
var storyCSS string

const (
	storyPath  = "/demo"
	shardsPath = storyPath + "/shards"
	stylePath  = storyPath + "/story.css"
)

func (s *story) show(site *web.Site) error {
	site.Handle("GET "+stylePath, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/css; charset=utf-8")
		_, _ = w.Write([]byte(storyCSS)) // the client is gone
	}))
	site.Handle("POST "+shardsPath, http.HandlerFunc(s.applyShards))
	return site.Add(web.Page{Path: storyPath, Title: "Demo", Content: storyHTML, Load: s.page})
}

// applyShards carries out the button's request. The server checks the user's rights, and
// the site rejects requests from other sites.
func (s *story) applyShards(w http.ResponseWriter, r *http.Request) {
	switch err := s.shard(r.Context()); {
	case errors.Is(err, errNoShards):
		http.Error(w, err.Error(), http.StatusConflict)
	case err != nil:
		s.log.Error("request failed", "path", r.URL.Path, "error", err)
		http.Error(w, "the finding cannot be read: see the log", http.StatusInternalServerError)
	default:
		http.Redirect(w, r, storyPath, http.StatusSeeOther)
	}
}

type view struct {
	Scenes []scene
	Scene  scene
	// Number is the scene's, from 1.
	Number int
	Plan   plan
	// Merchant and Product are the keys of the story, FirstShard and LastShard names of the
	// merchant's.
	Merchant, Product, FirstShard, LastShard string
	// RushOver reports that nobody looks at the product any more, and Resolves when the
	// incident ends.
	RushOver bool
	Resolves string
	// Shards are the key shards that the button applies; nil for none. Operates reports
	// that the reader may apply them.
	Shards   *detect.ShardNames
	Operates bool
	// Links are pages to look at meanwhile.
	Links []link
	Load  load
	Inbox []*receiver.Notice
	// Healed is the finding of the backlog; empty while it is not over.
	Healed string
}

type link struct{ Path, Text string }

func (s *story) page(ctx context.Context, _ *http.Request) (any, error) {
	h, err := s.readEvents(ctx)
	if err != nil {
		return nil, err
	}
	v := view{
		Scenes: h.scenes(), Operates: admin.Operates(ctx), Inbox: h.inbox, Plan: h.plan, Merchant: merchantKey, Product: productKey,
		RushOver: h.plannedScene("", h.plan.ViewsEnd).Begun, Resolves: resolves(h.plan.Sharded),
	}
	if v.RushOver {
		v.Resolves = resolves(h.plan.ViewsEnd)
	}
	if n := h.plan.Shards; n != nil {
		v.FirstShard, _ = h.plan.sharding.Name(merchantKey, 0)
		v.LastShard, _ = h.plan.sharding.Name(merchantKey, n.Shards-1)
	}
	for i := range v.Scenes {
		if v.Scenes[i].Now {
			v.Scene, v.Number = v.Scenes[i], i+1
		}
	}
	if h.page != nil && h.plan.Sharded.IsZero() {
		v.Shards = adviseShards(h.campaign)
	}
	key, write := merchantKey, true
	if h.ofProduct() {
		key, write = productKey, false
	}
	var seconds []keySecond
	s.traffic.inspect(func(s *simulation, _ *plan, _ time.Time) { seconds = s.Seconds(key) })
	v.Load = newLoad(key, write, seconds)
	v.Links = h.links()
	if h.imported != nil && h.imported.State == detect.Resolved {
		v.Healed = importFinding
	}
	return v, nil
}

// ofProduct reports that the story is of the product now, and not of the merchant.
func (h *happened) ofProduct() bool {
	return h.plannedScene("", h.plan.Views).Begun && h.secondResolved == nil
}

// links are the pages about the present scene.
func (h *happened) links() []link {
	of, table := h.campaign, ordersTable
	if h.ofProduct() && h.product != nil {
		of, table = h.product, catalogTable
	}
	all := []link{{"/", "The findings"}, {"/heat?table=" + table + "&span=15m", "The heatmap of " + table}}
	if of != nil {
		all = append([]link{{"/findings/" + of.Fingerprint, fmt.Sprint("The page of ", of.Key)}}, all...)
	}
	return all
}

// load is the load on a key's partitions, as a picture.
type load struct {
	Key, Unit string
	// Limit is one partition's limit, in units a second.
	Limit string
	// Asked, Served and Fullest are units of the last whole second, Refused attempts and
	// Failed calls.
	Asked, Served, Fullest, Refused, Failed string
	// Sharded reports that the key has been stored under several names.
	Sharded bool
	// Seconds are the last minute. The picture is so many units high that the limit is in its
	// middle.
	Seconds      []keySecond
	Middle, High sample.Milli
}

func newLoad(key string, write bool, seconds []keySecond) load {
	limit, unit := detect.PartitionRead, "RCU"
	if write {
		limit, unit = detect.PartitionWrite, "WCU"
	}
	l := load{Key: key, Unit: unit, Limit: units(limit), Seconds: seconds, Middle: limit, High: 2 * limit}
	for _, s := range seconds {
		l.Sharded = l.Sharded || s.Fullest < s.Served
		l.Asked, l.Served, l.Fullest = units(s.Asked), units(s.Served), units(s.Fullest)
		l.Refused, l.Failed = wording.Count(int64(s.Refused)), wording.Count(int64(s.Failed))
	}
	return l
}

func units(of sample.Milli) string { return wording.About(detect.Units(of)) }

// Description describes the picture in words.
func (l load) Description() string {
	return fmt.Sprintf("%s in the last minute: %s %s requested in the last second, %s served; one partition serves %s.",
		l.Key, cmp.Or(l.Asked, "0"), l.Unit, cmp.Or(l.Served, "0"), l.Limit)
}
